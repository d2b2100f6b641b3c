//! Approximate values of log Z against elementary bounds, by plain loops: within them, or refused.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{brute_force, clamped_machines, close, rows_of_evidence};
use isinglass::engine::Around;
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{Ask, Batch, Bethe, Engine, Error, Evidence, LinearResponse, Machine, Pairs, Tap};
use proptest::prelude::*;

/// The least and the most that log Z can be given the evidence.
fn limits(machine: &Machine, evidence: &Evidence) -> (f64, f64) {
    let free = machine.conditional(evidence).unwrap();
    let t = free.temperature();
    let fields: Vec<f64> = free.biases().iter().map(|bias| bias / t).collect();
    let ln_two_cosh = |h: &f64| h.abs() + (-2.0 * h.abs()).exp().ln_1p();
    let independent = fields.iter().map(ln_two_cosh).sum::<f64>() + free.offset();
    let edges = || free.graph().edges().iter().zip(free.weights());
    let mean: f64 = edges().map(|(&(a, b), w)| w / t * fields[a].tanh() * fields[b].tanh()).sum();
    let strength: f64 = edges().map(|(_, w)| (w / t).abs()).sum();
    (independent + mean, independent + strength)
}

fn engines() -> [Box<dyn Engine>; 4] {
    [
        Box::new(Tap::new()),
        Box::new(Bethe::new()),
        Box::new(LinearResponse::new().around(Around::Tap)),
        Box::new(LinearResponse::new().around(Around::Bethe)),
    ]
}

proptest! {
    #[test]
    fn log_z_is_within_its_limits((machine, evidence) in clamped_machines(9, 3.0)) {
        let (least, most) = limits(&machine, &evidence);
        let truth = brute_force(&machine, &evidence).log_z;
        let rounding = 1e-12 * (1.0 + least.abs().max(most.abs()));
        prop_assert!(least - rounding <= truth && truth <= most + rounding, "{least} {truth} {most}");
    }

    #[test]
    fn approximations_are_within_the_limits_or_refused((machine, evidence) in clamped_machines(9, 6.0)) {
        let (least, most) = limits(&machine, &evidence);
        let rounding = 1e-8 * (1.0 + least.abs() + most.abs());
        for engine in engines() {
            match engine.expectations(&machine, &evidence, Pairs::None) {
                Ok(answer) => {
                    let found = answer.log_z.unwrap();
                    prop_assert!(least - rounding <= found && found <= most + rounding, "{}", engine.name());
                }
                Err(Error::ImpossibleLogZ { engine: name, found, bound, is_above }) => {
                    prop_assert_eq!(name, engine.name());
                    // Alone, units with large fields count as clamped, which narrows the limits.
                    let limit = if is_above { most } else { least };
                    prop_assert_eq!(found > bound, is_above);
                    prop_assert!((bound - limit).abs() <= 1e-6 * (1.0 + limit.abs()), "{} {}", bound, limit);
                }
                // A fixed point without a linear response.
                Err(error) => prop_assert!(matches!(error, Error::Numerical { .. }), "{}", error),
            }
        }
    }

    #[test]
    fn a_batch_is_refused_where_one_of_its_rows_is(
        (machine, _) in clamped_machines(8, 6.0),
        rows in 1..30usize,
        seed in any::<u64>(),
    ) {
        let n = machine.unit_count();
        let cells = rows_of_evidence(n, rows, seed);
        let batch = Batch::new(n, &cells, &vec![1.0; rows]).unwrap();
        let is_refused = |result: Result<(), Error>| matches!(result, Err(Error::ImpossibleLogZ { .. }));
        let alone = cells.chunks(n).any(|row| {
            let evidence = Evidence::from_cells(row.to_vec()).unwrap();
            is_refused(Tap::new().expectations(&machine, &evidence, Pairs::None).map(drop))
        });
        prop_assert_eq!(is_refused(Tap::new().batch(&machine, &batch, Ask::default()).map(drop)), alone);
    }
}

#[test]
fn values_that_cannot_be_are_refused_with_the_value_and_the_bound() {
    let machine = topology::grid(16, 16, Neighbours::Four)
        .with_numbers(&Numbers::Signs(4.0), &Numbers::Normal { mean: 0.0, deviation: 0.4 }, 3)
        .unwrap();
    let nothing = Evidence::none(256);
    let (_, most) = limits(&machine, &nothing);
    let batch = Batch::new(256, &vec![0; 3 * 256], &[1.0; 3]).unwrap();
    for engine in [&Tap::new() as &dyn Engine, &LinearResponse::new().around(Around::Tap)] {
        let alone = engine.expectations(&machine, &nothing, Pairs::None).map(drop);
        for result in [alone, engine.batch(&machine, &batch, Ask::default()).map(drop)] {
            let error = result.unwrap_err();
            let Error::ImpossibleLogZ { found, bound, is_above: true, .. } = error else { panic!("{error}") };
            close(bound, most, 1e-9, "bound");
            assert!(found > most);
            let text = error.to_string();
            let start =
                format!("{}: found log Z = {found:.4}, but it is at most {bound:.4} (", engine.name());
            assert!(text.starts_with(&start), "{text}");
        }
    }
}
