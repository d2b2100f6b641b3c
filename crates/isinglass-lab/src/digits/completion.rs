//! Pictures of which a half is covered.

use std::iter::repeat;

use isinglass::{Engine, Guarantee, Machine, Result, Table};

use super::{PIXELS, SIDE};
use crate::accuracy::Accuracy;
use crate::filling::{Filled, rows};

/// The half of a picture that is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Below the middle.
    Lower,
    /// To the right of it.
    Right,
}

impl Half {
    /// As in "the lower half".
    pub fn word(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Right => "right",
        }
    }

    /// Whether a pixel, counted row after row, is covered.
    pub(super) fn covers(self, pixel: usize) -> bool {
        match self {
            Self::Lower => pixel / SIDE >= SIDE / 2,
            Self::Right => pixel % SIDE >= SIDE / 2,
        }
    }
}

/// Pictures that the machine was not fitted to, completed from a half of them.
pub struct Completion {
    /// The half that was covered.
    pub covered: Half,
    /// The more probable value of each covered pixel, given the half that is seen.
    pub machine: Accuracy,
    /// What the most similar of the pictures fitted to has there; similar in the half that is seen.
    pub nearest: Accuracy,
    /// The more frequent value of each pixel.
    pub majority: Accuracy,
    /// P(ink) of every pixel of every picture; of those that are seen, 0 or 1.
    pub probabilities: Vec<Vec<f64>>,
    /// The most similar picture for each.
    pub nearest_pictures: Vec<Vec<i8>>,
    /// What kind of answer the probabilities are.
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
        let (asked, seen): (Vec<usize>, Vec<usize>) = (0..PIXELS).partition(|&pixel| covered.covers(pixel));
        let mut shown = Table::new(held_out.columns().iter().cloned())?;
        for row in rows(held_out) {
            let mut row = row.to_vec();
            for &pixel in &asked {
                row[pixel] = 0;
            }
            shown.push(&row, 1.0)?;
        }
        let filled = Filled::of(machine, &shown, engine)?;
        let nearest: Vec<Vec<i8>> = rows(held_out).map(|row| nearest_to(row, trained, &seen)).collect();
        let frequent: Vec<i8> =
            trained.means().iter().map(|mean| if mean.unwrap_or(0.0) < 0.0 { -1 } else { 1 }).collect();
        let count = |guesses: &[Vec<i8>]| {
            Accuracy::compare(rows(held_out), guesses.iter().map(Vec::as_slice), repeat(asked.as_slice()))
        };
        Ok(Self {
            covered,
            machine: count(&filled.cells),
            nearest: count(&nearest),
            majority: count(&vec![frequent; held_out.row_count()]),
            guarantee: filled.guarantee,
            probabilities: filled.probabilities,
            nearest_pictures: nearest,
        })
    }
}

/// The row of a table that differs least in some cells; the first of several.
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
    fn the_nearest_is_judged_by_what_is_seen() {
        let table = Table::from_rows(["a", "b", "c"], [[1, 1, 1], [-1, 1, -1], [1, -1, -1]]).unwrap();
        assert_eq!(nearest_to(&[1, -1, 1], &table, &[0, 1]), [1, -1, -1]);
        assert_eq!(nearest_to(&[1, -1, 1], &table, &[0]), [1, 1, 1]);
    }
}
