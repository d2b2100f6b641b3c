//! The reference at the hot end of a ladder: independent units with the machine's own means.
//!
//! Fields far from what the couplings leave of them, as in machines of rare events, put independent
//! units in their own fields far from the machine. Of all products, that with the machine's means is
//! nearest to it (in the Kullback–Leibler sense), so burn-in estimates these means from the coldest
//! states, round by round (Surjanovic, Syed, Bouchard-Côté & Campbell 2022).
//!
//! Where units change together, as clusters of a strongly coupled lattice do, such a reference is a
//! trap: it pins each unit to its mean, and states with a cluster turned round are met nowhere on
//! the ladder. This shows in the variance of `Σ f_i s_i`, and the units' own fields are kept there.

use serde::{Deserialize, Serialize};

use super::team::{LADDERS, Team};

/// Means less than so many of their standard errors away from 0 are taken as 0; others move towards 0.
const DOUBT: f64 = 2.0;

/// The most that the variance of `Σ f_i s_i` in the machine may be, in that of the candidate. Found were
/// 0.6 to 1.3 for machines fitted to tables, and 5 to 30 for lattices with couplings ±2.
const MOST_SPREAD: f64 = 2.0;

/// The coldest states of a team, counted.
pub(super) struct Counts {
    /// For each place, how often its unit was up in each ladder.
    ups: Vec<[u32; LADDERS]>,
    states: u32,
    /// Σ f_i s_i with the fields of the candidate, and its square, summed.
    sums: [f64; 2],
}

impl Counts {
    pub(super) fn new(units: usize) -> Self {
        Self { ups: vec![[0; LADDERS]; units], states: 0, sums: [0.0; 2] }
    }

    /// Counts the coldest states of a team.
    pub(super) fn add(&mut self, team: &Team, candidate: &Candidate) {
        self.states += 1;
        for ladder in 0..LADDERS {
            let mut sum = 0.0;
            team.coldest(ladder, |place, up| {
                self.ups[place][ladder] += u32::from(up);
                sum += if up { candidate.fields[place] } else { -candidate.fields[place] };
            });
            self.sums[0] += sum;
            self.sums[1] += sum * sum;
        }
    }
}

/// Independent units with the means that were counted last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Candidate {
    fields: Vec<f64>,
    /// Whether any states have been counted.
    is_known: bool,
}

impl Candidate {
    pub(super) fn new(units: usize) -> Self {
        Self { fields: vec![0.0; units], is_known: false }
    }

    /// Follows what a round counted. Returns the fields f/T of the reference, if it is better than the
    /// units' own.
    pub(super) fn follow(&mut self, counts: &[Counts]) -> Option<&[f64]> {
        let is_safe = self.is_known && self.spread(counts) <= MOST_SPREAD;
        let states = counts.first().map_or(0, |count| count.states);
        if states > 0 {
            let ladders = |place: usize| counts.iter().flat_map(move |count| count.ups[place]);
            let units = 0..self.fields.len();
            self.fields = units.map(|place| field(ladders(place), f64::from(states))).collect();
            self.is_known = true;
        }
        is_safe.then_some(&self.fields)
    }

    /// How many times the variance of `Σ f_i s_i` among the states counted is the candidate's own.
    fn spread(&self, counts: &[Counts]) -> f64 {
        let number: f64 = counts.iter().map(|count| f64::from(count.states) * LADDERS as f64).sum();
        let [sum, squares] = [0, 1].map(|k| counts.iter().map(|count| count.sums[k]).sum::<f64>());
        let found = squares / number - (sum / number).powi(2);
        let expected: f64 = self.fields.iter().map(|f| (f / f.cosh()).powi(2)).sum();
        if expected > 0.0 { found / expected } else { 1.0 }
    }
}

/// The field of a unit that was up in some of the states of each ladder.
///
/// The mean is known from the spread of the ladders; what that leaves in doubt is taken off, so that a
/// symmetric machine whose ladders fell to one side or the other keeps a symmetric reference.
fn field(ups: impl Iterator<Item = u32>, states: f64) -> f64 {
    let means: Vec<f64> = ups.map(|ups| 2.0 * f64::from(ups) / states - 1.0).collect();
    let ladders = means.len() as f64;
    let mean = means.iter().sum::<f64>() / ladders;
    let spread = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (ladders - 1.0);
    let doubt = DOUBT * DOUBT * spread / ladders;
    if mean * mean <= doubt {
        return 0.0;
    }
    // One more state on each side: what was never seen is not impossible.
    let all = ladders * states;
    (mean * (1.0 - doubt / (mean * mean)) * all / (all + 2.0)).atanh()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_give_back_the_means_unless_ladders_disagree() {
        assert!((field([10; 6].into_iter(), 1000.0).tanh() + 0.98).abs() < 1e-3);
        assert_eq!(field([0, 1000, 1000, 0, 1000, 300].into_iter(), 1000.0), 0.0);
        let certain = field([1000; 6].into_iter(), 1000.0);
        assert!(certain > 4.0 && certain.is_finite());
    }

    #[test]
    fn units_that_change_together_keep_their_own_fields() {
        // Two units, up in half of the states, with f = 1: Σ f_i s_i is ±2 together, or 0 half the time.
        let counts =
            |square: f64| vec![Counts { ups: vec![[50, 50]; 2], states: 100, sums: [0.0, 200.0 * square] }];
        let follow = |square: f64| {
            let mut candidate = Candidate { fields: vec![1.0; 2], is_known: true };
            candidate.follow(&counts(square)).is_some()
        };
        let apart = 2.0 / 1f64.cosh().powi(2);
        assert!(follow(apart) && !follow(4.0));
        assert!(Candidate::new(2).follow(&counts(apart)).is_none());
    }
}
