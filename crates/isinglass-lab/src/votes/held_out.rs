//! Predictions of held-out cells: the party of held-out members, and hidden cells.

use isinglass::{Enumerate, Guarantee, Result, Table};
use rand::RngExt;
use rayon::prelude::*;

use super::{PARTY, coupled};
use crate::Progress;
use crate::accuracy::Accuracy;
use crate::filling::{Filled, rows};
use crate::streams::{Purpose, stream};

/// Folds of the cross-validation.
pub(super) const FOLDS: usize = 5;

/// The share of the known cells that is hidden.
const HIDDEN: f64 = 0.1;

/// The party of held-out members, predicted from their votes.
#[derive(Debug, Clone)]
pub struct Party {
    /// Folds; the k-th member is in fold `k % folds`, predicted by a machine fitted to the other
    /// folds.
    pub folds: usize,
    /// Accuracy of P(democrat | known votes) above or below ½.
    pub machine: Accuracy,
    /// Accuracy of the single vote that predicts the party best on the training members.
    pub single_vote: Accuracy,
    /// Accuracy of always predicting the larger party.
    pub majority: Accuracy,
    /// Whether all fits converged.
    pub converged: bool,
}

/// Cells hidden from the fit and predicted by the machine.
#[derive(Debug, Clone)]
pub struct Imputation {
    /// Accuracy of the more probable value given the other cells of the member.
    pub machine: Accuracy,
    /// Accuracy of the more frequent value of the column: what independent units predict.
    pub majority: Accuracy,
    /// The guarantee of the machine's probabilities.
    pub guarantee: Guarantee,
    /// Whether the fit converged.
    pub converged: bool,
}

/// Cross-validates the prediction of the party. Reports one part of progress per fold.
pub(super) fn party(table: &Table, progress: &dyn Progress) -> Result<Party> {
    let names = table.columns();
    let place = coupled::start(table)?.position(PARTY)?;
    let folds: Vec<Fold> = (0..FOLDS)
        .into_par_iter()
        .map(|fold| {
            let split = |wanted: bool| {
                rows(table)
                    .enumerate()
                    .filter(move |(k, _)| (k % FOLDS == fold) == wanted)
                    .map(|(_, row)| row)
            };
            let trained = Table::from_rows(names.iter().cloned(), split(false))?;
            let held_out: Vec<&[i8]> = split(true).collect();
            let result = Fold::of(&trained, &held_out, place);
            progress.done();
            result
        })
        .collect::<Result<_>>()?;
    let accuracy = |of: fn(&Fold) -> &Vec<bool>| {
        Accuracy::of(folds.iter().flat_map(|fold| of(fold).iter().map(|&correct| (usize::from(correct), 1))))
    };
    Ok(Party {
        folds: FOLDS,
        machine: accuracy(|fold| &fold.machine),
        single_vote: accuracy(|fold| &fold.single_vote),
        majority: accuracy(|fold| &fold.majority),
        converged: folds.iter().all(|fold| fold.converged),
    })
}

/// Which predictions of a fold are correct, member by member.
struct Fold {
    machine: Vec<bool>,
    single_vote: Vec<bool>,
    majority: Vec<bool>,
    converged: bool,
}

impl Fold {
    /// Fits to the training members and predicts the party, in column `place`, of the held-out
    /// ones.
    fn of(trained: &Table, held_out: &[&[i8]], place: usize) -> Result<Self> {
        let fit = coupled::fit(trained)?;
        let mut without_party = Table::new(trained.columns().iter().cloned())?;
        for row in held_out {
            let mut row = row.to_vec();
            row[place] = 0;
            without_party.push(&row, 1.0)?;
        }
        let filled = Filled::of(&fit.machine, &without_party, &Enumerate::default())?.cells;
        let votes = (0..trained.columns().len()).filter(|&column| column != place);
        let rules = votes.map(|vote| SingleVote::learn(trained, place, vote));
        // The first of equally good votes.
        let best = rules.reduce(|best, other| if other.correct > best.correct { other } else { best });
        let majority = majority_of(rows(trained).map(|row| row[place]));
        let compare = |predict: &dyn Fn(usize, &[i8]) -> i8| {
            held_out.iter().enumerate().map(|(k, row)| predict(k, row) == row[place]).collect()
        };
        Ok(Self {
            machine: compare(&|k, _| filled[k][place]),
            single_vote: compare(&|_, row| best.as_ref().map_or(majority, |rule| rule.predict(row))),
            majority: compare(&|_, _| majority),
            converged: fit.converged,
        })
    }
}

/// Predicts the party of most members with the same answer to one vote.
struct SingleVote {
    vote: usize,
    /// Predictions for no, missing and yes.
    predictions: [i8; 3],
    /// Correct predictions on the training members.
    correct: usize,
}

impl SingleVote {
    fn learn(trained: &Table, place: usize, vote: usize) -> Self {
        let with =
            |answer: i8| majority_of(rows(trained).filter(|row| row[vote] == answer).map(|row| row[place]));
        let mut rule = Self { vote, predictions: [-1, 0, 1].map(with), correct: 0 };
        rule.correct = rows(trained).filter(|row| rule.predict(row) == row[place]).count();
        rule
    }

    fn predict(&self, row: &[i8]) -> i8 {
        self.predictions[(row[self.vote] + 1) as usize]
    }
}

/// Returns the more frequent of −1 and +1; +1 in a tie.
fn majority_of(cells: impl Iterator<Item = i8>) -> i8 {
    if cells.map(i64::from).sum::<i64>() < 0 { -1 } else { 1 }
}

/// Hides cells, fits to the rest, and predicts the hidden cells. Reports one part of progress.
pub(super) fn imputation(table: &Table, seed: u64, progress: &dyn Progress) -> Result<Imputation> {
    let mut random = stream(seed, Purpose::HiddenCells, 0);
    let mut shown = Table::new(table.columns().iter().cloned())?;
    let mut hidden: Vec<Vec<usize>> = Vec::new();
    for row in rows(table) {
        let places: Vec<usize> =
            (0..row.len()).filter(|&k| row[k] != 0 && random.random::<f64>() < HIDDEN).collect();
        let mut row = row.to_vec();
        for &place in &places {
            row[place] = 0;
        }
        shown.push(&row, 1.0)?;
        hidden.push(places);
    }
    let fit = coupled::fit(&shown)?;
    let filled = Filled::of(&fit.machine, &shown, &Enumerate::default())?;
    let frequent: Vec<i8> =
        (0..table.columns().len()).map(|column| majority_of(rows(&shown).map(|row| row[column]))).collect();
    let accuracy = |predictions: &[Vec<i8>]| {
        let hidden = hidden.iter().map(Vec::as_slice);
        Accuracy::compare(rows(table), predictions.iter().map(Vec::as_slice), hidden)
    };
    let found = Imputation {
        machine: accuracy(&filled.cells),
        majority: accuracy(&vec![frequent; table.row_count()]),
        guarantee: filled.guarantee,
        converged: fit.converged,
    };
    progress.done();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_vote_predicts_the_majority_party_of_its_answer() {
        let table = Table::from_rows(
            ["party", "vote"],
            [[1, 1], [1, 1], [-1, 1], [-1, -1], [-1, -1], [1, -1], [-1, 0], [-1, 0]],
        );
        let rule = SingleVote::learn(&table.unwrap(), 0, 1);
        assert_eq!((rule.predictions, rule.correct), ([-1, -1, 1], 6));
        assert_eq!((rule.predict(&[0, 1]), rule.predict(&[0, 0])), (1, -1));
    }
}
