//! Draws of free units against enumeration.

use super::e_step::Completed;
use super::*;
use crate::engine::{Engine, Enumerate, Pairs};
use crate::topology::{self, Numbers};
use crate::{Evidence, Role};

/// Five visible units and four hidden ones in a cycle, all joined across, at a temperature.
fn machine(temperature: f64, seed: u64) -> Machine {
    let mut edges = Vec::new();
    for visible in 0..5 {
        edges.extend((visible + 1..9).map(|other| (visible, other, 0.0)));
    }
    edges.extend([(5, 6, 0.0), (6, 7, 0.0), (7, 8, 0.0), (5, 8, 0.0)]);
    let unit = |k: usize| {
        let mut unit = crate::Unit::new(format!("u{k}"), 0.0);
        unit.role = if k < 5 { Role::Visible } else { Role::Hidden };
        unit
    };
    let numbers = Numbers::Uniform { low: -0.9, high: 0.9 };
    Machine::new((0..9).map(unit).collect(), edges)
        .and_then(|machine| machine.with_numbers(&numbers, &numbers, seed))
        .and_then(|machine| machine.with_temperature(temperature))
        .unwrap()
}

fn table() -> Table {
    let mut table = Table::new((0..5).map(|k| format!("u{k}"))).unwrap();
    for (row, weight) in [
        ([1, 1, -1, 1, -1], 2.0),
        ([-1, 1, -1, -1, 1], 0.5),
        ([1, 0, 0, 1, 1], 1.0),
        ([-1, -1, 0, 1, 1], 3.0),
        ([0, 1, 1, 0, 0], 1.0),
        ([1, 1, 1, 1, 1], 0.0),
    ] {
        table.push(&row, weight).unwrap();
    }
    table
}

/// Every mean and pair moment of every row, within 4.8 standard errors: once in 600 000 by chance, and there are about 200.
fn check_moments(sweeps: Option<usize>, draws: usize, temperature: f64, seed: u64) {
    let machine = machine(temperature, seed);
    let how = if sweeps.is_some() { Drawing::Gibbs } else { Drawing::Exact };
    let learner = PseudoLikelihoodEm::new().draws(how).sweeps(sweeps).samples(draws).seed(seed);
    let mut completed = Completed::new(&learner, &machine, &table()).unwrap();
    completed.draw(&machine, 7).unwrap();
    let (batch, cells) = completed.rows();
    assert_eq!(batch.row_count(), 5, "a row without weight is no row");
    for (place, states) in cells.chunks_exact(draws * 9).enumerate() {
        let evidence = Evidence::from_cells(batch.row(place).to_vec()).unwrap();
        let exact = Enumerate::default().expectations(&machine, &evidence, Pairs::All).unwrap();
        let moment = |a: usize, b: Option<usize>| {
            let product = |s: &[i8]| f64::from(s[a]) * b.map_or(1.0, |b| f64::from(s[b]));
            states.chunks_exact(9).map(product).sum::<f64>() / draws as f64
        };
        let within = |found: f64, exact: f64, what: &str| {
            let error = ((1.0 - exact * exact).max(0.0) / draws as f64).sqrt();
            assert!(
                (found - exact).abs() <= 4.8 * error + 1e-9,
                "{what} of row {place}: {found}, not {exact}"
            );
        };
        let mut pairs = exact.correlations.values.iter();
        for a in 0..9 {
            within(moment(a, None), exact.means[a], &format!("mean {a}"));
            for b in a + 1..9 {
                within(moment(a, Some(b)), *pairs.next().unwrap(), &format!("pair {a}, {b}"));
            }
        }
    }
}

#[test]
fn exact_draws_have_the_moments_of_the_conditionals() {
    for (temperature, seed) in [(1.0, 1), (2.3, 2), (0.4, 3)] {
        check_moments(None, 4000, temperature, seed);
    }
}

#[test]
fn gibbs_draws_far_apart_have_the_moments_of_the_conditionals() {
    for (temperature, seed) in [(1.0, 1), (2.3, 2)] {
        check_moments(Some(40), 4000, temperature, seed);
    }
}

#[test]
fn units_without_couplings_among_them_are_drawn_by_their_fields() {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let rbm = topology::rbm(6, 11).unwrap().with_numbers(&numbers, &numbers, 5).unwrap();
    let rows: Vec<Vec<i8>> =
        (0..70u32).map(|r| (0..6).map(|k| if r >> k & 1 == 1 { 1 } else { -1 }).collect()).collect();
    let table = Table::from_rows((0..6).map(|k| format!("v{k}")), rows).unwrap();
    let learner = PseudoLikelihoodEm::new().samples(2000);
    let mut completed = Completed::new(&learner, &rbm, &table).unwrap();
    assert!(completed.is_exact());
    completed.draw(&rbm, 1).unwrap();
    let (batch, cells) = completed.rows();
    for (place, states) in cells.chunks_exact(2000 * 17).enumerate() {
        for unit in 6..17 {
            let around = rbm.graph().neighbours(unit);
            let pull: f64 = around.map(|(v, e)| rbm.weights()[e] * f64::from(batch.row(place)[v])).sum();
            let mean = (rbm.biases()[unit] + pull).tanh();
            let found = states.chunks_exact(17).map(|s| f64::from(s[unit])).sum::<f64>() / 2000.0;
            let error = ((1.0 - mean * mean) / 2000.0).sqrt();
            assert!((found - mean).abs() < 5.0 * error + 1e-6, "{found}, not {mean}");
        }
    }
}
