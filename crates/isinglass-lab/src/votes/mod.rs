//! The study of votes in `isinglass demo`: what the votes of 1984 say about party, about each
//! other, and about missing cells.

mod coupled;
mod held_out;
mod network;

pub use held_out::{Imputation, Party};

use isinglass::learn::{Factorized, Fit, Learner};
use isinglass::likelihood::Phases;
use isinglass::score::{Score, score};
use isinglass::{Engine, Enumerate, Evidence, Machine, Result, Spin, Table};

use crate::Progress;
use crate::figure::dots::{Dots, Row};
use crate::report::{self, FitSummary, Origin, Report};

/// The unit whose probability the study computes.
pub const PARTY: &str = "democrat";

/// The results.
pub struct Study {
    /// Scores of independent units.
    pub baseline: Score,
    /// The fit with all pairs coupled, to every row, missing cells summed out.
    pub fit: Fit,
    /// Its scores.
    pub score: Score,
    /// P(democrat), unconditional.
    pub party: f64,
    /// P(democrat) given each single vote; the most informative first.
    pub votes: Vec<Vote>,
    /// All couplings, the strongest first: two units and their weight.
    pub couplings: Vec<(String, String, f64)>,
    /// The party of held-out members.
    pub held_out: Party,
    /// Cells hidden from a fit.
    pub imputation: Imputation,
}

/// A vote, and the party given it.
pub struct Vote {
    /// The name of the vote.
    pub name: String,
    /// P(democrat | yes).
    pub given_yes: f64,
    /// P(democrat | no).
    pub given_no: f64,
}

/// Fits, scores and queries. `seed` fixes which cells are hidden for [`Study::imputation`], and
/// nothing else.
///
/// # Errors
/// A table without the column [`PARTY`], or too wide to enumerate.
///
/// # Example
/// ```
/// use isinglass_lab::{NoProgress, data, votes};
/// let study = votes::study(&data::house_votes()?, 0, &NoProgress)?;
/// assert!(study.held_out.machine.share() > study.held_out.majority.share() + 0.3);
/// assert!(study.imputation.machine.share() > study.imputation.majority.share() + 0.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn study(table: &Table, seed: u64, progress: &dyn Progress) -> Result<Study> {
    progress.expect(2 + held_out::FOLDS);
    let engine = Enumerate::default();
    let phases = Phases::both(&engine);
    let independent = Factorized.fit(&coupled::start(table)?, table)?;
    let fit = coupled::fit(table)?;
    progress.done();
    let (held_out, imputation) =
        rayon::join(|| held_out::party(table, progress), || held_out::imputation(table, seed, progress));
    let machine = &fit.machine;

    let party = machine.position(PARTY)?;
    let mut votes = Vec::new();
    for unit in (0..machine.unit_count()).filter(|&unit| unit != party) {
        votes.push(Vote {
            name: machine.name(unit).to_owned(),
            given_yes: probability(&engine, machine, party, &[(unit, Spin::Up)])?,
            given_no: probability(&engine, machine, party, &[(unit, Spin::Down)])?,
        });
    }
    votes.sort_by(|a, b| b.effect().total_cmp(&a.effect()));

    let edges = machine.graph().edges().iter().zip(machine.weights());
    let mut couplings: Vec<_> =
        edges.map(|(&(a, b), &w)| (machine.name(a).to_owned(), machine.name(b).to_owned(), w)).collect();
    couplings.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));

    Ok(Study {
        baseline: score(&independent.machine, table, phases)?,
        score: score(machine, table, phases)?,
        party: probability(&engine, machine, party, &[])?,
        votes,
        couplings,
        held_out: held_out?,
        imputation: imputation?,
        fit,
    })
}

impl Vote {
    fn effect(&self) -> f64 {
        (self.given_yes - self.given_no).abs()
    }
}

impl Study {
    /// Draws P(democrat) given a yes and given a no, for each vote.
    pub fn picture(&self) -> String {
        let rows = self
            .votes
            .iter()
            .map(|vote| Row { label: spelled(&vote.name), values: [vote.given_yes, vote.given_no] });
        Dots {
            title: "What one vote says about party (US House, 1984)",
            axis: "probability that the member is a Democrat",
            series: ["voted yes", "voted no"],
            rows: rows.collect(),
            reference: (self.party, "all members"),
        }
        .to_svg()
    }

    /// Draws the strongest couplings as a network.
    pub fn network(&self) -> String {
        network::draw(&self.fit.machine)
    }

    /// Returns the page about the machine and its table; `seed` fixes the layout of its network.
    ///
    /// # Errors
    /// A table other than that of the study.
    pub fn page(&self, table: &Table, seed: u64) -> Result<Report> {
        let engine = Enumerate::default();
        let origin = Origin {
            title: "How the US House voted in 1984".into(),
            model: "votes.json".into(),
            table: Some("votes.csv".into()),
            fit: Some(FitSummary::of(&self.fit, "likelihood", Some(engine.name()), None)),
            history: self.fit.history.clone(),
            study: Some(isinglass::network::Study::of(&self.fit.machine, Some((table, &engine)))?),
        };
        let settings = report::Settings { seed, ..report::Settings::default() };
        Report::new(&self.fit.machine, Some(table), Phases::both(&engine), origin, &settings)
    }
}

/// Returns the name of a vote as it appears in a figure.
fn spelled(vote: &str) -> String {
    const PROPER: [(&str, &str); 5] = [
        ("anti satellite", "anti-satellite"),
        ("el salvador", "El Salvador"),
        ("nicaraguan", "Nicaraguan"),
        ("south africa", "South Africa"),
        ("mx", "MX"),
    ];
    PROPER.iter().fold(vote.replace('_', " "), |name, (plain, proper)| name.replace(plain, proper))
}

/// Returns P(unit = +1 | given).
pub fn probability(
    engine: &dyn Engine,
    machine: &Machine,
    unit: usize,
    given: &[(usize, Spin)],
) -> Result<f64> {
    let mut evidence = Evidence::none(machine.unit_count());
    for &(unit, spin) in given {
        evidence.clamp(unit, spin);
    }
    Ok(engine.joint(machine, &evidence, &[unit])?.probabilities[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;

    #[test]
    fn votes_predict_the_party() {
        let table = crate::data::house_votes().unwrap();
        let study = study(&table, 0, &NoProgress).unwrap();
        assert!(study.fit.converged, "{}", study.fit.stopped);
        let gained = study.score.log_likelihood.unwrap() - study.baseline.log_likelihood.unwrap();
        assert!(gained > 2.0, "couplings gain {gained} nats per row");
        // Known from the literature on these data: the fee freeze separates the parties best.
        assert_eq!(study.votes[0].name, "physician_fee_freeze");
        assert!(study.votes[0].given_no > 0.95 && study.votes[0].given_yes < 0.15);
        let svg = study.picture();
        assert!(svg.starts_with("<svg") && svg.contains("physician fee freeze"));
    }
}
