//! What a machine tells of cells that it was not shown: the party of other members, and hidden cells.

use isinglass::{Enumerate, Guarantee, Result, Table};
use rand::RngExt;
use rayon::prelude::*;

use super::{PARTY, coupled};
use crate::accuracy::Accuracy;
use crate::filling::{Filled, rows};
use crate::reproduce::Watch;
use crate::reproduce::chance::{Purpose, stream};

/// Parts into which members are dealt; each is judged by a machine fitted to the others.
pub(super) const FOLDS: usize = 5;

/// The share of the known cells that are hidden.
const HIDDEN: f64 = 0.1;

/// The party of members that the machine was not fitted to, from their votes.
#[derive(Debug, Clone)]
pub struct Party {
    /// Parts into which the members were dealt, one after another; each part is judged by a machine fitted to the others.
    pub folds: usize,
    /// P(democrat | the votes that are known) above or below ½.
    pub machine: Accuracy,
    /// The one vote that tells most about the party among the members fitted to.
    pub single_vote: Accuracy,
    /// The larger party.
    pub majority: Accuracy,
    /// Whether all fits converged.
    pub converged: bool,
}

/// Cells that were hidden from the fit and filled in by the machine.
#[derive(Debug, Clone)]
pub struct Imputation {
    /// The more probable value given what else is known of the member.
    pub machine: Accuracy,
    /// The more frequent value of the column, which is what units alone know.
    pub majority: Accuracy,
    /// What kind of answer the machine's probabilities are.
    pub guarantee: Guarantee,
    /// Whether the fit converged.
    pub converged: bool,
}

/// Cross-validation; members are dealt in the order of the table. Tells the watch of as many parts as there are folds.
pub(super) fn party(table: &Table, watch: &dyn Watch) -> Result<Party> {
    let names = table.columns();
    let place = coupled::start(table)?.position(PARTY)?;
    let folds: Vec<Fold> = (0..FOLDS)
        .into_par_iter()
        .map(|fold| {
            let deal = |wanted: bool| {
                rows(table)
                    .enumerate()
                    .filter(move |(k, _)| (k % FOLDS == fold) == wanted)
                    .map(|(_, row)| row)
            };
            let seen = Table::from_rows(names.iter().cloned(), deal(false))?;
            let unseen: Vec<&[i8]> = deal(true).collect();
            let judged = Fold::of(&seen, &unseen, place);
            watch.done();
            judged
        })
        .collect::<Result<_>>()?;
    let accuracy = |guesses: fn(&Fold) -> &Vec<bool>| {
        Accuracy::of(folds.iter().flat_map(|fold| guesses(fold).iter().map(|&right| (usize::from(right), 1))))
    };
    Ok(Party {
        folds: FOLDS,
        machine: accuracy(|fold| &fold.machine),
        single_vote: accuracy(|fold| &fold.single_vote),
        majority: accuracy(|fold| &fold.majority),
        converged: folds.iter().all(|fold| fold.converged),
    })
}

/// Which guesses of a fold are right, member by member.
struct Fold {
    machine: Vec<bool>,
    single_vote: Vec<bool>,
    majority: Vec<bool>,
    converged: bool,
}

impl Fold {
    fn of(seen: &Table, unseen: &[&[i8]], place: usize) -> Result<Self> {
        let fit = coupled::fit(seen)?;
        let mut asked = Table::new(seen.columns().iter().cloned())?;
        for row in unseen {
            let mut row = row.to_vec();
            row[place] = 0;
            asked.push(&row, 1.0)?;
        }
        let guesses = Filled::of(&fit.machine, &asked, &Enumerate::default())?.cells;
        let votes = (0..seen.columns().len()).filter(|&column| column != place);
        let rules = votes.map(|vote| SingleVote::learn(seen, place, vote));
        // The first of equally good votes.
        let best = rules.reduce(|best, other| if other.right > best.right { other } else { best });
        let majority = majority_of(rows(seen).map(|row| row[place]));
        let judge = |guess: &dyn Fn(usize, &[i8]) -> i8| {
            unseen.iter().enumerate().map(|(k, row)| guess(k, row) == row[place]).collect()
        };
        Ok(Self {
            machine: judge(&|k, _| guesses[k][place]),
            single_vote: judge(&|_, row| best.as_ref().map_or(majority, |rule| rule.guess(row))),
            majority: judge(&|_, _| majority),
            converged: fit.converged,
        })
    }
}

/// The party that most members with the same answer to one vote have.
struct SingleVote {
    vote: usize,
    /// For no, unknown and yes.
    guesses: [i8; 3],
    /// Members fitted to that it is right about.
    right: usize,
}

impl SingleVote {
    fn learn(seen: &Table, place: usize, vote: usize) -> Self {
        let with =
            |answer: i8| majority_of(rows(seen).filter(|row| row[vote] == answer).map(|row| row[place]));
        let mut rule = Self { vote, guesses: [-1, 0, 1].map(with), right: 0 };
        rule.right = rows(seen).filter(|row| rule.guess(row) == row[place]).count();
        rule
    }

    fn guess(&self, row: &[i8]) -> i8 {
        self.guesses[(row[self.vote] + 1) as usize]
    }
}

/// The more frequent of −1 and +1; +1 if neither is.
fn majority_of(cells: impl Iterator<Item = i8>) -> i8 {
    if cells.map(i64::from).sum::<i64>() < 0 { -1 } else { 1 }
}

/// Hide cells, fit to the rest, fill in, and count. Tells the watch of one part.
pub(super) fn imputation(table: &Table, seed: u64, watch: &dyn Watch) -> Result<Imputation> {
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
    let guesses = Filled::of(&fit.machine, &shown, &Enumerate::default())?;
    let frequent: Vec<i8> =
        (0..table.columns().len()).map(|column| majority_of(rows(&shown).map(|row| row[column]))).collect();
    let count = |guesses: &[Vec<i8>]| {
        let hidden = hidden.iter().map(Vec::as_slice);
        Accuracy::compare(rows(table), guesses.iter().map(Vec::as_slice), hidden)
    };
    let found = Imputation {
        machine: count(&guesses.cells),
        majority: count(&vec![frequent; table.row_count()]),
        guarantee: guesses.guarantee,
        converged: fit.converged,
    };
    watch.done();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_vote_guesses_the_party_of_most_with_its_answer() {
        let table = Table::from_rows(
            ["party", "vote"],
            [[1, 1], [1, 1], [-1, 1], [-1, -1], [-1, -1], [1, -1], [-1, 0], [-1, 0]],
        );
        let rule = SingleVote::learn(&table.unwrap(), 0, 1);
        assert_eq!((rule.guesses, rule.right), ([-1, -1, 1], 6));
        assert_eq!((rule.guess(&[0, 1]), rule.guess(&[0, 0])), (1, -1));
    }
}
