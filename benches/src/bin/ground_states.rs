//! Ground states by the library, with the model in memory: what `benches/peers/ground_states.py` times.
//!
//!     cargo run --release -p isinglass-benches --bin ground_states -- EDGES SEARCHES [SWEEPS]
//!
//! EDGES has the number of units in its first line, then `a b weight` for each edge. Each search has a
//! seed of its own, from 0 on, and prints its energy, how many of its runs met it, and all of them.
//! No search is made where 0 are asked for: the time that everything else takes.

use std::process::ExitCode;

use isinglass::engine::ModeFinder;
use isinglass::{Evidence, Machine, Temper, Unit};

fn read(path: &str) -> Result<Machine, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut words = text.split_ascii_whitespace();
    let mut next = || words.next().ok_or("the file ends within an edge");
    let units: usize = next()?.parse()?;
    let mut edges = Vec::new();
    while let Ok(a) = next() {
        edges.push((a.parse()?, next()?.parse()?, next()?.parse()?));
    }
    Ok(Machine::new((0..units).map(|k| Unit::new(format!("x{k}"), 0.0)).collect(), edges)?)
}

#[expect(clippy::print_stdout, reason = "a program for scripts")]
fn run(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [path, searches, rest @ ..] = arguments else {
        return Err("expected: EDGES SEARCHES [SWEEPS]".into());
    };
    let sweeps = rest.first().map(|text| text.parse()).transpose()?;
    let machine = read(path)?;
    let none = Evidence::none(machine.unit_count());
    for seed in 0..searches.parse()? {
        let found = Temper::new().seed(seed).sweeps(sweeps).mode(&machine, &none)?;
        let (met, runs) = found.meetings.map_or((1, 1), |meetings| (meetings.met, meetings.runs));
        println!("{} {met} {runs}", found.energy);
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a program for scripts")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
