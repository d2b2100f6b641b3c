//! The entries of the inverse of a sparse symmetric positive definite matrix where the matrix has
//! entries.
//!
//! Takahashi's recurrence (Takahashi, Fagan and Chen 1973; Erisman and Tinney 1975): from
//! `M = L D Lᵀ` follows `M⁻¹ = D⁻¹ L⁻¹ + (1 − Lᵀ) M⁻¹`, which gives the entries of a column from
//! those of later columns within the pattern of L. `N` matrices are inverted side by side.

/// The pattern of a factor: for each column, in the order of elimination, its rows below the
/// diagonal, rising.
pub(crate) struct SelectedInverse {
    /// The place of each row or column in the order of elimination.
    place: Vec<u32>,
    offsets: Vec<usize>,
    rows: Vec<u32>,
    /// The slot of each requested entry off the diagonal among the rows of all columns.
    slots: Vec<u32>,
}

/// The entries of the inverses.
pub(crate) struct Inverse<const N: usize> {
    /// On the diagonal, in the matrix's own order.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the tests compare the diagonal"))]
    pub(crate) diagonal: Vec<[f64; N]>,
    /// Off the diagonal, in the order of the requested entries.
    pub(crate) entries: Vec<[f64; N]>,
}

impl SelectedInverse {
    /// *Arguments*: the order of elimination; the rows below the diagonal of each column of the
    /// factor, by their places in that order; the entries off the diagonal, each once.
    pub(crate) fn new<'a>(
        order: &[usize],
        pattern: impl Iterator<Item = &'a [u32]>,
        entries: impl Iterator<Item = (usize, usize)>,
    ) -> Self {
        let mut place = vec![0u32; order.len()];
        for (k, &unit) in order.iter().enumerate() {
            place[unit] = k as u32;
        }
        let mut offsets = vec![0];
        let mut rows = Vec::new();
        for column in pattern {
            rows.extend_from_slice(column);
            offsets.push(rows.len());
        }
        let slot = |(a, b): (usize, usize)| {
            let (column, row) = (place[a].min(place[b]), place[a].max(place[b]));
            let (start, end) = (offsets[column as usize], offsets[column as usize + 1]);
            // The pattern of the factor includes that of the matrix.
            let found = rows[start..end].binary_search(&row);
            (start + found.expect("an entry of the matrix is in its factor")) as u32
        };
        let slots = entries.map(slot).collect();
        Self { place, offsets, rows, slots }
    }

    /// The numbers in the factor, diagonal included.
    pub(crate) fn numbers(&self) -> usize {
        self.place.len() + self.rows.len()
    }

    /// Multiplications that a factor and its inverse take.
    pub(crate) fn work(&self) -> f64 {
        self.offsets.windows(2).map(|pair| 1.5 * ((pair[1] - pair[0]) as f64).powi(2)).sum()
    }

    /// Inverts `N` matrices, given by their diagonals and entries. `Err` is the number of one that
    /// is not positive definite.
    ///
    /// *Complexity*: the sum of the squares of the columns' lengths.
    #[inline(always)]
    pub(crate) fn invert<const N: usize>(
        &self,
        diagonal: &[[f64; N]],
        entries: &[[f64; N]],
    ) -> Result<Inverse<N>, usize> {
        let columns = self.place.len();
        let mut pivots = vec![[0.0; N]; columns];
        for (number, &place) in diagonal.iter().zip(&self.place) {
            pivots[place as usize] = *number;
        }
        let mut factor = vec![[0.0; N]; self.rows.len()];
        for (&slot, entry) in self.slots.iter().zip(entries) {
            factor[slot as usize] = *entry;
        }
        self.factorize(&mut pivots, &mut factor)?;
        self.invert_factor(&mut pivots, &mut factor);
        Ok(Inverse {
            diagonal: self.place.iter().map(|&place| pivots[place as usize]).collect(),
            entries: self.slots.iter().map(|&slot| factor[slot as usize]).collect(),
        })
    }

    fn column(&self, k: usize) -> std::ops::Range<usize> {
        self.offsets[k]..self.offsets[k + 1]
    }

    /// `M = L D Lᵀ`, column by column; each is subtracted from later ones at once.
    #[inline(always)]
    fn factorize<const N: usize>(
        &self,
        pivots: &mut [[f64; N]],
        factor: &mut [[f64; N]],
    ) -> Result<(), usize> {
        for k in 0..pivots.len() {
            if let Some(bad) = pivots[k].iter().position(|pivot| !(*pivot > 0.0 && pivot.is_finite())) {
                return Err(bad);
            }
            let range = self.column(k);
            let inverse = pivots[k].map(|pivot| 1.0 / pivot);
            for at in range.clone() {
                let column = self.rows[at] as usize;
                let scaled: [f64; N] = std::array::from_fn(|lane| factor[at][lane] * inverse[lane]);
                for lane in 0..N {
                    pivots[column][lane] -= scaled[lane] * factor[at][lane];
                }
                // The later rows are rows of that column as well, in the same order.
                let mut target = self.offsets[column];
                for other in at + 1..range.end {
                    while self.rows[target] != self.rows[other] {
                        target += 1;
                    }
                    for lane in 0..N {
                        factor[target][lane] -= scaled[lane] * factor[other][lane];
                    }
                }
                // The unscaled entry is not needed any more.
                factor[at] = scaled;
            }
        }
        Ok(())
    }

    /// The inverse within the pattern, in place, the last column first.
    #[inline(always)]
    fn invert_factor<const N: usize>(&self, pivots: &mut [[f64; N]], factor: &mut [[f64; N]]) {
        let mut column = Vec::new();
        let mut sums = Vec::new();
        for k in (0..pivots.len()).rev() {
            let range = self.column(k);
            column.clear();
            column.extend_from_slice(&factor[range.clone()]);
            sums.clear();
            sums.resize(column.len(), [0.0; N]);
            for (p, at) in range.clone().enumerate() {
                let a = self.rows[at] as usize;
                for lane in 0..N {
                    sums[p][lane] -= pivots[a][lane] * column[p][lane];
                }
                let mut source = self.offsets[a];
                for q in p + 1..column.len() {
                    while self.rows[source] != self.rows[range.start + q] {
                        source += 1;
                    }
                    for lane in 0..N {
                        sums[p][lane] -= factor[source][lane] * column[q][lane];
                        sums[q][lane] -= factor[source][lane] * column[p][lane];
                    }
                }
            }
            let mut pivot = pivots[k].map(|pivot| 1.0 / pivot);
            for (number, sum) in column.iter().zip(&sums) {
                for lane in 0..N {
                    pivot[lane] -= number[lane] * sum[lane];
                }
            }
            pivots[k] = pivot;
            factor[range].copy_from_slice(&sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::numeric::dense::Matrix;
    use crate::topology::Neighbours;

    #[test]
    fn entries_are_those_of_the_dense_inverse() {
        let number = |k: usize| ((k * 7919 + 13) % 101) as f64 / 101.0 - 0.5;
        for graph in
            [Graph::grid(4, 5, Neighbours::Eight), Graph::tree(17, 2), Graph::full(9), Graph::chain(1)]
        {
            let n = graph.unit_count();
            let order = graph.elimination_order(n).unwrap().order;
            let symbolic = graph.symbolic(&order, n).unwrap();
            let plan = SelectedInverse::new(
                &order,
                (0..n).map(|step| symbolic.neighbours(step)),
                graph.edges().iter().copied(),
            );
            let diagonal: Vec<[f64; 2]> =
                (0..n).map(|k| [graph.degree(k) as f64 + 0.1, graph.degree(k) as f64 + 1.0]).collect();
            let entries: Vec<[f64; 2]> =
                (0..graph.edges().len()).map(|k| [number(k), 2.0 * number(k + 5)]).collect();
            let found = plan.invert(&diagonal, &entries).unwrap();
            for lane in 0..2 {
                let mut matrix = Matrix::zeros(n);
                for k in 0..n {
                    matrix[(k, k)] = diagonal[k][lane];
                }
                for (&(a, b), x) in graph.edges().iter().zip(&entries) {
                    matrix.set_both(a, b, x[lane]);
                }
                let dense = matrix.cholesky().unwrap().inverse();
                for k in 0..n {
                    assert!((dense[(k, k)] - found.diagonal[k][lane]).abs() < 1e-12);
                }
                for (&(a, b), x) in graph.edges().iter().zip(&found.entries) {
                    assert!((dense[(a, b)] - x[lane]).abs() < 1e-12, "({a}, {b})");
                }
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_named() {
        let plan = SelectedInverse::new(&[0, 1], [&[1u32][..], &[]].into_iter(), [(0, 1)].into_iter());
        let diagonal = [[1.0, 1.0], [1.0, 1.0]];
        assert!(plan.invert(&diagonal, &[[0.5, -0.5]]).is_ok());
        assert_eq!(plan.invert(&diagonal, &[[0.5, 2.0]]).err(), Some(1));
    }
}
