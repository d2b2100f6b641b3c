//! Writing a machine as a network of factors.
//!
//! The temperature goes into the numbers, the offset in equal parts into the factors of the single units. What is too large for
//! one factor's entries is cut into several factors over the same variables.

use std::io::Write;

use isinglass::{Machine, Role};

use crate::error::{Fault, Parsed, quoted};
use crate::model::Failure;

/// The largest logarithm of an entry: far from overflow even where a reader multiplies two of them.
const LARGEST: f64 = 300.0;

/// The most factors that one number is cut into.
const PIECES: f64 = 1000.0;

/// A factor as often as it is written: over one unit, a pair, or none, with the logarithms of its entries.
struct Factor {
    scope: Vec<usize>,
    logarithms: Vec<f64>,
    copies: usize,
}

impl Factor {
    /// Cut a factor into copies that are small enough to be written.
    fn new(scope: Vec<usize>, logarithms: Vec<f64>, place: impl Fn() -> String) -> Parsed<Self> {
        let largest = logarithms.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        // A sum or quotient may have overflowed: not a number is refused too.
        if logarithms.iter().any(|x| x.is_nan()) || largest > PIECES * LARGEST {
            let problem = format!(
                "found {largest:e} in the exponent, expected at most {:e}: a .uai file holds the exponentials",
                PIECES * LARGEST
            );
            return Err(Fault::new(place(), problem).with_hint("write the machine as .json or .npz"));
        }
        let copies = (largest / LARGEST).ceil().max(1.0);
        Ok(Self {
            scope,
            logarithms: logarithms.into_iter().map(|x| x / copies).collect(),
            copies: copies as usize,
        })
    }
}

/// Write a machine; log Z of the file is that of the machine.
pub(in crate::model) fn write(machine: &Machine, output: &mut impl Write) -> Result<(), Failure> {
    let factors = factors(machine)?;
    let count: usize = factors.iter().map(|factor| factor.copies).sum();
    writeln!(
        output,
        "MARKOV\n{}\n{}\n{count}",
        machine.unit_count(),
        vec!["2"; machine.unit_count()].join(" ")
    )?;
    for factor in &factors {
        let mut line = factor.scope.len().to_string().into_bytes();
        for unit in &factor.scope {
            write!(line, " {unit}")?;
        }
        line.push(b'\n');
        for _ in 0..factor.copies {
            output.write_all(&line)?;
        }
    }
    for factor in &factors {
        let mut lines = format!("\n{}\n", factor.logarithms.len()).into_bytes();
        for logarithm in &factor.logarithms {
            write!(lines, " {:.16e}", logarithm.exp())?;
        }
        lines.push(b'\n');
        for _ in 0..factor.copies {
            output.write_all(&lines)?;
        }
    }
    Ok(())
}

fn factors(machine: &Machine) -> Parsed<Vec<Factor>> {
    let (n, temperature) = (machine.unit_count(), machine.temperature());
    let mut factors = Vec::with_capacity(n + machine.weights().len());
    if n == 0 && machine.offset() != 0.0 {
        factors.push(Factor::new(Vec::new(), vec![machine.offset()], || "offset".into())?);
    }
    for (unit, bias) in machine.biases().iter().enumerate() {
        let (bias, share) = (bias / temperature, machine.offset() / n as f64);
        let place =
            || format!("bias of unit {} and its share of the offset", quoted(machine.name(unit).as_bytes()));
        factors.push(Factor::new(vec![unit], vec![share - bias, share + bias], place)?);
    }
    for (&(a, b), weight) in machine.graph().edges().iter().zip(machine.weights()) {
        let weight = weight / temperature;
        let place = || {
            let [a, b] = [a, b].map(|unit| quoted(machine.name(unit).as_bytes()));
            format!("weight of the edge between {a} and {b}")
        };
        factors.push(Factor::new(vec![a, b], vec![weight, -weight, -weight, weight], place)?);
    }
    Ok(factors)
}

/// What a file of this format does not say of the machine.
pub(in crate::model) fn not_kept(machine: &Machine) -> Vec<String> {
    let mut notes = Vec::new();
    if (0..machine.unit_count()).any(|unit| machine.name(unit) != format!("x{unit}")) {
        notes.push("the names of the units are not kept: they become x0, x1, …".to_owned());
    }
    if machine.roles().iter().any(|&role| role != Role::Visible) {
        notes.push("the roles of the units are not kept: all become visible".to_owned());
    }
    if machine.temperature() != 1.0 {
        let temperature = machine.temperature();
        notes
            .push(format!("the temperature {temperature} is not kept: weights and biases are divided by it"));
    }
    notes
}
