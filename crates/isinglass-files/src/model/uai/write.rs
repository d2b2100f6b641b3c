//! Writing a machine as a network of factors.
//!
//! Numbers are divided by the temperature, and the offset goes in equal parts into the factors of
//! the single units. What is too large for one factor's entries is split into several factors over
//! the same variables.

use std::io::Write;

use isinglass::{Machine, Role};

use super::UaiProblem;
use crate::error::{Fault, Hint, Parsed, Place, Quoted};
use crate::model::{Failure, ModelNote};

/// The largest logarithm of an entry: far from overflow even where a reader multiplies two of them.
pub(super) const LARGEST: f64 = 300.0;

/// The most factors that one number is split into.
pub(super) const PIECES: f64 = 1000.0;

/// A factor over one unit, a pair, or none, with the logarithms of its entries, and how often it is
/// written.
struct Factor {
    scope: Vec<usize>,
    logarithms: Vec<f64>,
    copies: usize,
}

impl Factor {
    /// What is read again of the number whose half the entries of one sign differ by: entries are
    /// exponentials, which lose what is small beside 1.
    fn read_again(&self) -> f64 {
        let [low, high] = [self.logarithms[0], self.logarithms[1]].map(|x| x.exp().ln());
        // A weight is on the diagonal of its table.
        let half = if self.scope.len() == 2 { low - high } else { high - low } / 2.0;
        half * self.copies as f64
    }

    /// Splits a factor into copies that are small enough to be written.
    fn new(scope: Vec<usize>, logarithms: Vec<f64>, place: impl Fn() -> Place) -> Parsed<Self> {
        let largest = logarithms.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        // A sum or quotient may have overflowed: NaN is refused too.
        if logarithms.iter().any(|x| x.is_nan()) || largest > PIECES * LARGEST {
            let fault = Fault::at(place(), UaiProblem::TooLarge(largest));
            return Err(fault.with_hint(Hint::WriteJsonOrNpz));
        }
        let copies = (largest / LARGEST).ceil().max(1.0);
        Ok(Self {
            scope,
            logarithms: logarithms.into_iter().map(|x| x / copies).collect(),
            copies: copies as usize,
        })
    }
}

/// Writes a machine; log Z of the file is that of the machine.
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
        factors.push(Factor::new(Vec::new(), vec![machine.offset()], || Place::Offset)?);
    }
    for (unit, bias) in machine.biases().iter().enumerate() {
        let (bias, share) = (bias / temperature, machine.offset() / n as f64);
        let place = || Place::Bias(Quoted::from(machine.name(unit)));
        factors.push(Factor::new(vec![unit], vec![share - bias, share + bias], place)?);
    }
    for (&(a, b), weight) in machine.graph().edges().iter().zip(machine.weights()) {
        let weight = weight / temperature;
        let place = || {
            let [a, b] = [a, b].map(|unit| Quoted::from(machine.name(unit)));
            Place::Weight(a, b)
        };
        factors.push(Factor::new(vec![a, b], vec![weight, -weight, -weight, weight], place)?);
    }
    Ok(factors)
}

/// The relative change of a number that is no more than rounding.
const ROUNDING: f64 = 1e-9;

/// The number of couplings and biases that are another when the file is read.
fn count_rounded(machine: &Machine) -> usize {
    // A machine that cannot be written was refused before.
    let Ok(factors) = factors(machine) else { return 0 };
    let temperature = machine.temperature();
    let of_units = factors.iter().filter(|factor| factor.scope.len() == 1).zip(machine.biases());
    let of_edges = factors.iter().filter(|factor| factor.scope.len() == 2).zip(machine.weights());
    let is_other = |(factor, number): &(&Factor, &f64)| {
        let number = **number / temperature;
        (factor.read_again() - number).abs() > ROUNDING * number.abs()
    };
    of_units.chain(of_edges).filter(is_other).count()
}

/// What a file of this format does not keep of the machine.
pub(in crate::model) fn not_kept(machine: &Machine) -> Vec<ModelNote> {
    let has_names = (0..machine.unit_count()).any(|unit| machine.name(unit) != format!("x{unit}"));
    let has_roles = machine.roles().iter().any(|&role| role != Role::Visible);
    let temperature = machine.temperature();
    let count = count_rounded(machine);
    [
        has_names.then_some(ModelNote::NamesNotKept),
        has_roles.then_some(ModelNote::RolesNotKept),
        (temperature != 1.0).then_some(ModelNote::TemperatureNotKept(temperature)),
        (count > 0).then_some(ModelNote::NumbersRounded { count }),
    ]
    .into_iter()
    .flatten()
    .collect()
}
