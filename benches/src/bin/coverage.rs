//! Do bootstrap intervals after `--l1 ebic` with refit cover the true couplings that were selected?
//!
//!     cargo run --release -p isinglass-benches --bin coverage -- [DATA SETS [RESAMPLES [ROWS [LEARNERS]]]]
//!
//! Machines of eight units of three kinds: random 3-regular graphs with couplings ±0.4; the same
//! with couplings of either sign between 0.1 and 0.6, of which the weak ones are often missed; all
//! pairs with couplings N(0, 0.15²). Every data set has a machine of its own. Counted are the true
//! couplings other than 0 that were selected, and how many of their 95 % intervals contain them;
//! for the first so many of three learners.

use std::ops::ControlFlow;
use std::process::ExitCode;

use isinglass::learn::{Bootstrap, L1, Learner, PseudoLikelihood};
use isinglass::topology::{self, Numbers};
use isinglass::{Enumerate, Evidence, Graph, Machine, Result, Sampler, Table};

const UNITS: usize = 8;

fn machine(kind: &str, seed: u64) -> Result<Machine> {
    let biases = Numbers::Normal { mean: 0.0, deviation: 0.2 };
    match kind {
        "equal" => topology::regular(UNITS, 3, seed)?.with_numbers(&Numbers::Signs(0.4), &biases, seed),
        "mixed" => {
            let drawn = Numbers::Uniform { low: -0.5, high: 0.5 };
            let machine = topology::regular(UNITS, 3, seed)?.with_numbers(&drawn, &biases, seed)?;
            let weights = machine.weights().iter().map(|w| w + 0.1f64.copysign(*w)).collect();
            let biases = machine.biases().to_vec();
            machine.with_parameters(weights, biases)
        }
        _ => {
            let drawn = Numbers::Normal { mean: 0.0, deviation: 0.15 };
            topology::full(UNITS).with_numbers(&drawn, &biases, seed)
        }
    }
}

/// Couplings counted: all that are not 0, those selected, and those whose intervals cover, lie
/// above and lie below.
#[derive(Default)]
struct Counts {
    all: usize,
    selected: usize,
    covered: usize,
    above: usize,
    below: usize,
}

impl Counts {
    fn add(
        &mut self,
        kind: &str,
        learner: &(dyn Learner + Sync),
        rows: usize,
        resamples: usize,
        seed: u64,
    ) -> Result<()> {
        let truth = machine(kind, seed)?;
        let drawn = Enumerate::default().draw(&truth, &Evidence::none(UNITS), rows, seed + 1)?;
        let table = Table::from_rows(truth.names().iter().cloned(), drawn.cells.chunks(UNITS))?;
        let start = Machine::from_graph(Graph::full(UNITS)).with_names(truth.names().iter().cloned())?;
        let fitted = learner.fit(&start, &table)?.machine;
        let bootstrap = Bootstrap { resamples, seed, ..Bootstrap::default() };
        let found = bootstrap.run(learner, &start, &fitted, &table, &|_, _| ControlFlow::Continue(()))?;
        self.all += truth.weights().iter().filter(|weight| **weight != 0.0).count();
        for (&(a, b), interval) in fitted.graph().edges().iter().zip(&found.couplings) {
            let weight = truth.graph().edge_between(a, b).map_or(0.0, |edge| truth.weights()[edge]);
            if weight == 0.0 || interval.fitted == 0.0 {
                continue;
            }
            self.selected += 1;
            if weight < interval.low {
                self.above += 1;
            } else if weight > interval.high {
                self.below += 1;
            } else {
                self.covered += 1;
            }
        }
        Ok(())
    }
}

fn run(sets: u64, resamples: usize, rows: usize, learners: usize) -> Result<()> {
    let ebic = PseudoLikelihood::new().l1(Some(L1::Ebic));
    let all: [(&str, PseudoLikelihood); 3] = [
        ("--l1 ebic", ebic),
        ("--l1 ebic --no-refit", ebic.refit(Some(false))),
        ("pseudo-likelihood", PseudoLikelihood::new()),
    ];
    #[expect(clippy::print_stdout, reason = "a program for people")]
    for kind in ["equal", "mixed", "full"] {
        println!("\n{kind} couplings, {rows} rows, {sets} data sets, {resamples} resamples\n");
        println!("| learner | true couplings | selected | covered | interval above | interval below |");
        println!("|---|---|---|---|---|---|");
        for (name, learner) in all.iter().take(learners) {
            let mut counts = Counts::default();
            for seed in 0..sets {
                counts.add(kind, learner, rows, resamples, seed)?;
            }
            let Counts { all, selected, covered, above, below } = counts;
            let share = |count: usize| 100.0 * count as f64 / selected.max(1) as f64;
            println!(
                "| `{name}` | {all} | {selected} | {:.1} % | {:.1} % | {:.1} % |",
                share(covered),
                share(above),
                share(below)
            );
        }
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a program for people")]
fn main() -> ExitCode {
    let mut given = std::env::args().skip(1).map(|text| text.parse::<usize>().ok());
    let mut next = |usual: usize| given.next().flatten().unwrap_or(usual);
    let (sets, resamples, rows, learners) = (next(200), next(200), next(500), next(3));
    match run(sets as u64, resamples, rows, learners) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
