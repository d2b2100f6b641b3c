//! The order in which an epoch goes through the rows of a table.

use rand::RngExt;

use super::job::Data;
use crate::numeric::streams::{Purpose, stream};

/// The rows of an epoch in random order, each as often as its weight tells.
///
/// Along the weights laid end to end, rows are taken at even distances from a random place on: a row of weight w is taken w times the count over the total weight, rounded up or
/// down at random so that it is right on average. Where all rows have the same weight, each is taken as often as it was given.
pub(super) fn rows_of_epoch(data: &Data, seed: u64, epoch: usize, out: &mut Vec<u32>) {
    let mut random = stream(seed, Purpose::RowOrder, epoch as u64);
    let count = data.given_rows;
    let from: f64 = random.random();
    out.clear();
    let mut end = 0.0;
    for (row, share) in data.shares.iter().enumerate() {
        end += share * count as f64;
        while out.len() < count && out.len() as f64 + from < end {
            out.push(row as u32);
        }
    }
    // Shares add up to 1 but for rounding.
    out.resize(count, data.shares.len() as u32 - 1);
    for place in (1..out.len()).rev() {
        out.swap(place, random.random_range(..=place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, Table, topology};

    #[test]
    fn rows_are_taken_as_often_as_they_weigh() {
        let machine = topology::full(2).with_names(["a", "b"]).unwrap();
        let mut table = Table::new(["a", "b"]).unwrap();
        for (row, weight) in [([1, 1], 2.0), ([1, -1], 1.0), ([1, 1], 1.0), ([-1, 1], 0.0), ([-1, -1], 0.4)] {
            table.push(&row, weight).unwrap();
        }
        let data = Data::new(&machine, &table).unwrap();
        let mut rows = Vec::new();
        let mut counts = [0usize; 3];
        let epochs = 4000;
        for epoch in 0..epochs {
            rows_of_epoch(&data, 3, epoch, &mut rows);
            assert_eq!(rows.len(), 4);
            for &row in &rows {
                counts[row as usize] += 1;
            }
            let often = rows.iter().filter(|&&row| row == 0).count();
            assert!(often == 2 || often == 3, "3 of 4.4, for four rows");
        }
        for (count, weight) in counts.into_iter().zip([3.0, 1.0, 0.4]) {
            let expected = 4.0 * weight / 4.4;
            let found = count as f64 / epochs as f64;
            // Each epoch takes a row one of two neighbouring numbers of times: a deviation of at most 1/2.
            assert!((found - expected).abs() < 4.0 * 0.5 / (epochs as f64).sqrt(), "{found}, not {expected}");
        }
        let before = rows.clone();
        rows_of_epoch(&data, 3, epochs - 1, &mut rows);
        assert_eq!(rows, before);
    }

    #[test]
    fn equal_weights_take_every_row_once() {
        let names: Vec<String> = (0..10).map(|k| format!("x{k}")).collect();
        let machine = topology::full(10);
        let cells = |number: i32| (0..10).map(move |k| if number >> k & 1 == 1 { 1 } else { -1 });
        let table = Table::from_rows(names, (0..1000).map(|row| cells(row).collect::<Vec<i8>>())).unwrap();
        let data = Data::new(&machine, &table).unwrap();
        let mut rows = Vec::new();
        for epoch in 0..20 {
            rows_of_epoch(&data, 0, epoch, &mut rows);
            assert!(!rows.is_sorted());
            rows.sort_unstable();
            assert!(rows.iter().copied().eq(0..1000));
        }
    }
}
