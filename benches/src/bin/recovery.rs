//! From how many rows do estimators recover a network without a single error?
//!
//! Machines with couplings ±β and no biases on 7 × 7 lattices and on random 3-regular graphs of 64
//! units; rows are exact draws. For each estimator and each number of rows, in how many machines the
//! edges found are exactly those of the machine; an estimator is done once all are right.
//!
//! Where an estimator has none of the first nine machines right, the others are not tried (`0*`).
//!
//!     cargo run --release -p isinglass-benches --bin recovery -- [MACHINES [β [FIRST ROWS [LAST ROWS]]]]

use std::process::ExitCode;

use isinglass::learn::{L1, Learner, PseudoLikelihood, Rise};
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{Eliminate, Evidence, Graph, Machine, Sampler, Table};

/// Each about √2 times the one before.
const ROWS: [usize; 15] =
    [250, 350, 500, 700, 1000, 1400, 2000, 2800, 4000, 5600, 8000, 11_000, 16_000, 22_000, 32_000];

/// So many machines are tried in any case.
const TRIED: usize = 9;

type Estimators = Vec<(&'static str, Box<dyn Learner>)>;

fn estimators(beta: f64) -> Estimators {
    let ebic = PseudoLikelihood::new().l1(Some(L1::Ebic));
    let least = Some(0.5 * beta);
    vec![
        ("rise", Box::new(Rise::new())),
        ("rise --log", Box::new(Rise::new().log(true))),
        ("rise --least β/2", Box::new(Rise::new().least(least))),
        ("rise --log --least β/2", Box::new(Rise::new().log(true).least(least))),
        ("pseudo-likelihood --l1 ebic", Box::new(ebic)),
        ("pseudo-likelihood --l1 ebic --no-refit", Box::new(ebic.refit(Some(false)))),
        ("pseudo-likelihood --least β/2", Box::new(PseudoLikelihood::new().l2(1e-4).least(least))),
    ]
}

/// Whether the edges found are exactly those of the truth, and F1.
fn compare(found: &Machine, truth: &Machine) -> (bool, f64) {
    let (found, truth) = (found.graph().edges(), truth.graph().edges());
    let right = found.iter().filter(|edge| truth.contains(edge)).count();
    (found == truth, 2.0 * right as f64 / (found.len() + truth.len()) as f64)
}

fn run(kind: &str, machines: &[Machine], beta: f64, rows: &[usize]) -> isinglass::Result<String> {
    let mut estimators = estimators(beta).into_iter().map(|one| (one, Vec::new())).collect::<Vec<_>>();
    for &rows in rows {
        if estimators.iter().all(|(_, counts)| counts.last() == Some(&machines.len())) {
            break;
        }
        let tables: Vec<Table> = machines
            .iter()
            .enumerate()
            .map(|(k, machine)| {
                let units = machine.unit_count();
                let drawn = Eliminate::default().draw(machine, &Evidence::none(units), rows, k as u64 + 1)?;
                Table::from_rows(machine.names().iter().cloned(), drawn.cells.chunks(units))
            })
            .collect::<isinglass::Result<_>>()?;
        for ((name, learner), counts) in &mut estimators {
            if counts.last() == Some(&machines.len()) {
                continue;
            }
            let (mut perfect, mut score, mut tried) = (0, 0.0, 0);
            for (machine, table) in machines.iter().zip(&tables) {
                if tried == TRIED && perfect == 0 {
                    break;
                }
                let full = Machine::from_graph(Graph::full(machine.unit_count()));
                let full = full.with_names(machine.names().iter().cloned())?;
                let (is_perfect, f1) = compare(&learner.fit(&full, table)?.machine, machine);
                perfect += usize::from(is_perfect);
                score += f1;
                tried += 1;
            }
            #[expect(clippy::print_stderr, reason = "progress of a long measurement")]
            {
                eprintln!(
                    "{kind}, {rows} rows, {name}: {perfect} of {tried}, F1 {:.3}",
                    score / tried as f64
                );
            }
            counts.push(perfect);
        }
    }
    let longest = estimators.iter().map(|(_, counts)| counts.len()).max().unwrap_or(0);
    let head: Vec<String> = rows[..longest].iter().map(ToString::to_string).collect();
    let mut text = format!("\n| {kind} | {} |\n|---|{}\n", head.join(" | "), "---|".repeat(longest));
    let shown = |count: &usize| if *count == 0 { "0*".to_owned() } else { count.to_string() };
    for ((name, _), counts) in &estimators {
        let cells: Vec<String> =
            (0..longest).map(|k| counts.get(k).map_or_else(|| "✓".into(), &shown)).collect();
        text += &format!("| `{name}` | {} |\n", cells.join(" | "));
    }
    Ok(text)
}

fn measure(count: usize, beta: f64, (first, last): (usize, usize)) -> isinglass::Result<String> {
    let signs = Numbers::Signs(beta);
    let none = Numbers::Constant(0.0);
    let lattices: Vec<Machine> = (0..count as u64)
        .map(|seed| topology::grid(7, 7, Neighbours::Four).with_numbers(&signs, &none, seed))
        .collect::<isinglass::Result<_>>()?;
    let regular: Vec<Machine> = (0..count as u64)
        .map(|seed| topology::regular(64, 3, seed)?.with_numbers(&signs, &none, seed))
        .collect::<isinglass::Result<_>>()?;
    let rows: Vec<usize> = ROWS.into_iter().filter(|rows| (first..=last).contains(rows)).collect();
    let text = run("7 × 7 lattices", &lattices, beta, &rows)?;
    Ok(text + &run("3-regular graphs of 64 units", &regular, beta, &rows)?)
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]
fn main() -> ExitCode {
    let mut given = std::env::args().skip(1);
    let count = given.next().and_then(|text| text.parse().ok()).unwrap_or(45);
    let beta = given.next().and_then(|text| text.parse().ok()).unwrap_or(1.2);
    let mut rows = |usual| given.next().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let range = (rows(0), rows(usize::MAX));
    match measure(count, beta, range) {
        Ok(tables) => {
            println!("machines of {count} with every edge right, β = {beta}\n{tables}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
