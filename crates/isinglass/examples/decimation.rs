//! A Boltzmann machine taken apart step by step, as in figure 3 of Rüger 1997, "Decimatable
//! Boltzmann machines: inference and learning".
//!
//! Five units and unit 0, to which the biases lead. The first step is the one the source describes:
//! unit 1 is joined to unit 0 and to unit 5, and taking it out replaces the weights v₀₁ and v₁₅ by
//! a correction of v₀₅. After five steps the machine is trivial, and the factors by which Z changed
//! multiply to Z. The weights are our own; the source gives none.
//!
//! ```text
//! cargo run -p isinglass --example decimation
//! ```

#![allow(clippy::print_stdout, reason = "an example that prints")]

use isinglass::engine::{UnitOrZero, explain_decimation};
use isinglass::{Decimate, Engine, Enumerate, Evidence, Machine, Pairs, Unit};

fn main() -> isinglass::Result<()> {
    let biases = [0.8, 0.0, -0.4, 0.3, 0.2];
    let units = biases.iter().enumerate().map(|(k, &bias)| Unit::new(format!("{}", k + 1), bias)).collect();
    // Edges by the source's numbers 1 to 5.
    let edges = [(1, 5, 0.9), (2, 3, -0.7), (2, 4, 0.5), (3, 5, 0.6), (4, 5, -1.1)];
    let machine = Machine::new(units, edges.map(|(a, b, w)| (a - 1, b - 1, w)))?;

    println!("The machine, T = 1");
    for (a, b, w) in edges {
        println!("  v{a}{b} = {w:+.3}");
    }
    for (unit, bias) in biases.iter().enumerate().filter(|(_, bias)| **bias != 0.0) {
        println!("  v0{} = {bias:+.3}", unit + 1);
    }

    let name = |unit: UnitOrZero| unit.map_or(0, |unit| unit + 1);
    let mut log_z = 0.0;
    for (letter, step) in ('a'..).zip(explain_decimation(&machine, &[0, 1, 2, 3, 4])?) {
        let unit = step.unit + 1;
        let joined: Vec<String> =
            step.neighbours.iter().map(|&(other, v)| format!("{} (v = {v:+.6})", name(other))).collect();
        let kind = ["alone", "a twig", "between two", "a star"][step.neighbours.len()];
        println!("\n{letter}) unit {unit} is {kind}: {}", joined.join(", "));
        for &(a, b, gain) in &step.corrections {
            let (a, b) = (name(a).min(name(b)), name(a).max(name(b)));
            println!("   v{a}{b} gains {gain:+.6}");
        }
        log_z += step.log_factor;
        println!("   ln factor = {:.6}, together {log_z:.6}", step.log_factor);
    }

    let nothing = Evidence::none(5);
    let decimated = Decimate::default().expectations(&machine, &nothing, Pairs::Edges)?;
    let enumerated = Enumerate::default().expectations(&machine, &nothing, Pairs::Edges)?;
    println!("\nln Z by the steps above       {log_z:.12}");
    println!("ln Z by the adjoint network   {:.12}", decimated.log_z.unwrap_or(f64::NAN));
    println!("ln Z by all 32 states         {:.12}", enumerated.log_z.unwrap_or(f64::NAN));
    println!("\nMoments from one pass backwards, and by all states");
    for (k, &(a, b)) in machine.graph().edges().iter().enumerate() {
        let (one, other) = (decimated.correlations.values[k], enumerated.correlations.values[k]);
        println!("  <s{} s{}> = {one:+.12}  {other:+.12}", a + 1, b + 1);
    }
    Ok(())
}
