//! Matrix products, through the linear-algebra crate.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// `out ← a b` (or `out ← out + a b`): `out` is rows × columns, `a` rows × inner, `b` inner × columns, all column after column.
///
/// On the calling thread alone: callers cut the work, the same way on any number of threads.
pub(crate) fn multiply(out: &mut [f64], a: &[f64], b: &[f64], rows: usize, inner: usize, add: bool) {
    if rows == 0 || out.is_empty() {
        return;
    }
    let columns = out.len() / rows;
    debug_assert_eq!((out.len(), a.len(), b.len()), (rows * columns, rows * inner, inner * columns));
    matmul(
        MatMut::from_column_major_slice_mut(out, rows, columns),
        if add { Accum::Add } else { Accum::Replace },
        MatRef::from_column_major_slice(a, rows, inner),
        MatRef::from_column_major_slice(b, inner, columns),
        1.0,
        Par::Seq,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_plain_loops() {
        let number = |k: usize| ((k * 7919 + 13) % 101) as f64 / 50.0 - 1.0;
        for (rows, inner, columns) in [(1, 1, 1), (1, 5, 3), (7, 3, 2), (96, 40, 32), (5, 0, 2)] {
            let a: Vec<f64> = (0..rows * inner).map(number).collect();
            let b: Vec<f64> = (0..inner * columns).map(|k| number(k + 31)).collect();
            let mut out = vec![1.0; rows * columns];
            multiply(&mut out, &a, &b, rows, inner, true);
            for r in 0..rows {
                for c in 0..columns {
                    let plain: f64 = (0..inner).map(|k| a[k * rows + r] * b[c * inner + k]).sum();
                    assert!((out[c * rows + r] - 1.0 - plain).abs() < 1e-13);
                }
            }
            multiply(&mut out, &a, &b, rows, inner, false);
            let plain: f64 = (0..inner).map(|k| a[k * rows] * b[k]).sum();
            assert!((out[0] - plain).abs() < 1e-13);
        }
    }
}
