//! How often are groups without a difference rejected at 5 %, and how often is a difference found?
//!
//!     cargo run --release -p isinglass-benches --bin group_tests -- [SETS [PERMUTATIONS [WAY ...]]]
//!
//! Each data set has a machine of its own, of ten units with couplings on a random 4-regular graph
//! between 0.1 and 0.5 and of either sign, and 250 rows for each of two groups. For the power, one
//! coupling of the second group is less by 0.5. Ways: `ebic` (lasso, fitted again), `ridge`
//! (pseudo-likelihood with a small penalty), and with 10 % of the cells missing `ebic-filled` (five
//! draws for each from a machine of all rows) and `likelihood` (missing cells summed out exactly).
//! A test rejects where p ≤ 0.05; with N permutations and without ties that is exact if (N + 1)/20
//! is whole.

use std::process::ExitCode;
use std::time::Instant;

use isinglass::learn::{Compare, Groups, L1, Learner, Likelihood, PseudoLikelihood};
use isinglass::numeric::streams::{Purpose, seed_of};
use isinglass::topology::{self, Numbers};
use isinglass::{Enumerate, Evidence, Graph, Machine, Result, Sampler, Table};

const UNITS: usize = 10;
const ROWS: usize = 250;
const LEVEL: f64 = 0.05;

fn machine(seed: u64) -> Result<Machine> {
    let drawn = Numbers::Uniform { low: -0.4, high: 0.4 };
    let biases = Numbers::Normal { mean: 0.0, deviation: 0.3 };
    let machine = topology::regular(UNITS, 4, seed)?.with_numbers(&drawn, &biases, seed)?;
    let weights = machine.weights().iter().map(|w| w + 0.1f64.copysign(*w)).collect();
    let biases = machine.biases().to_vec();
    machine.with_parameters(weights, biases)
}

/// Rows of a machine, some of whose cells are missing.
fn rows(machine: &Machine, missing: f64, seed: u64) -> Result<Table> {
    let drawn = Enumerate::default().draw(machine, &Evidence::none(UNITS), ROWS, seed)?;
    let is_hidden = |k: usize| {
        let number = seed_of(seed, Purpose::Imputation, (1 << 40) + k as u64);
        missing > 0.0 && (number as f64) < missing * u64::MAX as f64
    };
    let cells: Vec<i8> =
        drawn.cells.iter().enumerate().map(|(k, &cell)| if is_hidden(k) { 0 } else { cell }).collect();
    Table::from_rows(machine.names().iter().cloned(), cells.chunks(UNITS))
}

/// Groups whose gaps are filled by draws from a machine of all rows.
fn filled(groups: &Groups, structure: &Machine, seed: u64) -> Result<Groups> {
    let engine = Enumerate::default();
    let machine = Likelihood::new(&engine).l2(0.01).fit(structure, &groups.pooled()?)?.machine;
    let mut row = 0;
    groups.completed(5, |cells, count| {
        row += 1;
        let evidence = Evidence::from_cells(cells.to_vec())?;
        Ok(engine.draw(&machine, &evidence, count, seed_of(seed, Purpose::Imputation, row))?.cells)
    })
}

/// The p-values of strength, structure, the first coupling and the first bias.
fn p_values(way: &str, difference: f64, permutations: usize, seed: u64) -> Result<[f64; 4]> {
    let first = machine(seed)?;
    let mut weights = first.weights().to_vec();
    weights[0] -= difference;
    let biases = first.biases().to_vec();
    let second = first.clone().with_parameters(weights, biases)?;
    let missing = if matches!(way, "ebic-filled" | "likelihood") { 0.1 } else { 0.0 };
    let tables =
        [rows(&first, missing, 2 * seed + 1_000_000)?, rows(&second, missing, 2 * seed + 1_000_001)?];
    let structure = Machine::from_graph(Graph::full(UNITS)).with_names(first.names().iter().cloned())?;
    let mut groups = Groups::new(["first", "second"], &tables)?;
    if way == "ebic-filled" {
        groups = filled(&groups, &structure, seed)?;
    }
    let engine = Enumerate::default();
    let lasso = PseudoLikelihood::new().l1(Some(L1::Ebic));
    let ridge = PseudoLikelihood::new().l2(0.01).tolerance(1e-6);
    let likelihood = Likelihood::new(&engine).l2(0.01).tolerance(1e-5);
    let learner: &(dyn Learner + Sync) = match way {
        "likelihood" => &likelihood,
        "ridge" => &ridge,
        _ => &lasso,
    };
    let compare = Compare::new().permutations(permutations).seed(seed);
    let found = compare.run(learner, &structure, &groups, &|_, _| ())?.overall;
    let (a, b) = first.graph().edges()[0];
    let place = structure.graph().edge_between(a, b).unwrap_or(0);
    Ok([found.strength.p, found.structure.p, found.couplings[place].p, found.biases[0].p])
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn run(sets: u64, permutations: usize, ways: &[String]) -> Result<()> {
    println!("{sets} data sets, {permutations} permutations each; share of p ≤ {LEVEL}");
    println!("way          difference  strength  structure  coupling  bias    seconds");
    for way in ways {
        for difference in [0.0, 0.5] {
            let began = Instant::now();
            let mut rejected = [0; 4];
            for seed in 0..sets {
                let p = p_values(way, difference, permutations, seed)?;
                rejected.iter_mut().zip(p).for_each(|(count, p)| *count += u64::from(p <= LEVEL + 1e-12));
            }
            let [strength, structure, coupling, bias] = rejected.map(|count| count as f64 / sets as f64);
            let seconds = began.elapsed().as_secs_f64();
            println!(
                "{way:<12} {difference:<11} {strength:<9.4} {structure:<10.4} {coupling:<9.4} {bias:<7.4} {seconds:.0}"
            );
        }
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a program for people")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, usual: u64| arguments.get(k).map_or(Some(usual), |text| text.parse().ok());
    let (Some(sets), Some(permutations)) = (number(0, 100), number(1, 19)) else {
        eprintln!("expected SETS and PERMUTATIONS as numbers");
        return ExitCode::FAILURE;
    };
    let all = ["ebic", "ridge", "ebic-filled", "likelihood"].map(str::to_owned);
    let ways = if arguments.len() > 2 { &arguments[2..] } else { &all[..] };
    if let Some(unknown) = ways.iter().find(|way| !all.contains(way)) {
        eprintln!("there is no way '{unknown}', expected one of {}", all.join(", "));
        return ExitCode::FAILURE;
    }
    match run(sets, permutations as usize, ways) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
