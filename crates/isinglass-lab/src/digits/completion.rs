//! Completion of half-covered pictures.

use std::iter::repeat;

use isinglass::{Engine, Guarantee, Machine, Result, Table};

use super::{PIXELS, SIDE};
use crate::accuracy::Accuracy;
use crate::filling::{Filled, rows};

/// The half of a picture that is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// The rows below the middle.
    Lower,
    /// The columns right of the middle.
    Right,
}

impl Half {
    /// Returns its name, as in "the lower half".
    pub fn word(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Right => "right",
        }
    }

    /// Returns whether a pixel, counted row by row, is covered.
    pub(super) fn covers(self, pixel: usize) -> bool {
        match self {
            Self::Lower => pixel / SIDE >= SIDE / 2,
            Self::Right => pixel % SIDE >= SIDE / 2,
        }
    }
}

/// Held-out pictures, completed from one half.
pub struct Completion {
    /// The half that was covered.
    pub covered: Half,
    /// Accuracy of the more probable value of each covered pixel, given the visible half.
    pub machine: Accuracy,
    /// Accuracy of the training picture that is most similar in the visible half.
    pub nearest: Accuracy,
    /// Accuracy of the more frequent value of each pixel.
    pub majority: Accuracy,
    /// P(ink) of every pixel of every picture; 0 or 1 for visible ones.
    pub probabilities: Vec<Vec<f64>>,
    /// The most similar training picture for each.
    pub nearest_pictures: Vec<Vec<i8>>,
    /// The guarantee of the probabilities.
    pub guarantee: Guarantee,
}

impl Completion {
    pub(super) fn of(
        machine: &Machine,
        trained: &Table,
        held_out: &Table,
        covered: Half,
        engine: &dyn Engine,
    ) -> Result<Self> {
        let (hidden, visible): (Vec<usize>, Vec<usize>) =
            (0..PIXELS).partition(|&pixel| covered.covers(pixel));
        let mut shown = Table::new(held_out.columns().iter().cloned())?;
        for row in rows(held_out) {
            let mut row = row.to_vec();
            for &pixel in &hidden {
                row[pixel] = 0;
            }
            shown.push(&row, 1.0)?;
        }
        let filled = Filled::of(machine, &shown, engine)?;
        let nearest: Vec<Vec<i8>> = rows(held_out).map(|row| nearest_to(row, trained, &visible)).collect();
        let frequent: Vec<i8> =
            trained.means().iter().map(|mean| if mean.unwrap_or(0.0) < 0.0 { -1 } else { 1 }).collect();
        let accuracy = |predictions: &[Vec<i8>]| {
            let predictions = predictions.iter().map(Vec::as_slice);
            Accuracy::compare(rows(held_out), predictions, repeat(hidden.as_slice()))
        };
        Ok(Self {
            covered,
            machine: accuracy(&filled.cells),
            nearest: accuracy(&nearest),
            majority: accuracy(&vec![frequent; held_out.row_count()]),
            guarantee: filled.guarantee,
            probabilities: filled.probabilities,
            nearest_pictures: nearest,
        })
    }
}

/// Returns the row of a table that differs least in some cells; the first of equals.
fn nearest_to(row: &[i8], table: &Table, cells: &[usize]) -> Vec<i8> {
    let distance = |other: &[i8]| cells.iter().filter(|&&k| row[k] != other[k]).count();
    rows(table).min_by_key(|other| distance(other)).map(<[i8]>::to_vec).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_cover_half_of_the_pixels() {
        for half in [Half::Lower, Half::Right] {
            assert_eq!((0..PIXELS).filter(|&pixel| half.covers(pixel)).count(), PIXELS / 2);
        }
        assert!(Half::Lower.covers(63) && Half::Right.covers(63));
        assert!(!Half::Lower.covers(7) && Half::Right.covers(7));
        assert!(Half::Lower.covers(56) && !Half::Right.covers(56));
    }

    #[test]
    fn the_nearest_row_is_found_by_the_given_cells() {
        let table = Table::from_rows(["a", "b", "c"], [[1, 1, 1], [-1, 1, -1], [1, -1, -1]]).unwrap();
        assert_eq!(nearest_to(&[1, -1, 1], &table, &[0, 1]), [1, -1, -1]);
        assert_eq!(nearest_to(&[1, -1, 1], &table, &[0]), [1, 1, 1]);
    }
}
