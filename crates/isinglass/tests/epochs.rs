//! Epochs of contrastive divergence that continue with other rows.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::contrastive::{Keeper, PLAIN, bits, chance_rows, two_layers};
use isinglass::Table;
use isinglass::learn::{Checkpoint, Learner, NoObserver};
use isinglass::topology::Links;

#[test]
fn epochs_apart_are_epochs_at_once() {
    let layers = two_layers((6, &Links::None), (3, &Links::None), true, 2);
    let linked = two_layers((6, &Links::Chain), (3, &Links::Chain), false, 2);
    let table = chance_rows(6, 70, true, 4);
    let sampled = PLAIN.iterations(1).momentum(0.7).rate_decay(0.1).l2(0.01);
    for learner in [sampled, sampled.persistent(true)] {
        for machine in [&layers, &linked] {
            let at_once = learner.iterations(4).fit(machine, &table);
            let mut made = learner.run_epochs(machine, &table, None, &mut NoObserver).unwrap();
            for _ in 1..4 {
                let before = made.fit.machine;
                made = learner.run_epochs(&before, &table, made.state.as_ref(), &mut NoObserver).unwrap();
                assert!(made.is_complete);
            }
            assert_eq!(bits(&made.fit), bits(&at_once.unwrap()));
        }
    }
}

/// Tables of other sizes, other settings, and chains that come or go; but no other structure.
#[test]
fn epochs_resume_with_other_rows() {
    let machine = two_layers((6, &Links::None), (3, &Links::None), false, 2);
    let persistent = PLAIN.persistent(true).iterations(1).momentum(0.7);
    let mut made =
        persistent.run_epochs(&machine, &chance_rows(6, 70, false, 4), None, &mut NoObserver).unwrap();
    let (fewer, more) = (chance_rows(6, 4, false, 5), chance_rows(6, 90, false, 6));
    let plain = persistent.persistent(false).rate(0.01);
    let wide = persistent.chains(Some(37));
    for (learner, table) in [(persistent, &fewer), (wide, &more), (plain, &fewer), (wide, &more)] {
        let before = made.fit.machine;
        let again = learner.run_epochs(&before, table, made.state.as_ref(), &mut NoObserver).unwrap();
        let same = learner.run_epochs(&before, table, made.state.as_ref(), &mut NoObserver).unwrap();
        assert_eq!(again, same);
        assert_eq!(again.fit.iterations(), made.fit.history.len());
        made = again;
    }
    let mut stopper = Keeper { states: Vec::new(), reported: Vec::new(), last: 5 };
    let stopped =
        plain.iterations(9).run_epochs(&made.fit.machine, &more, made.state.as_ref(), &mut stopper).unwrap();
    assert_eq!((stopped.is_complete, stopped.fit.iterations()), (false, 6));
    let without_end = plain.iterations(usize::MAX);
    let mut stopper = Keeper { states: Vec::new(), reported: Vec::new(), last: 7 };
    let stopped =
        without_end.run_epochs(&stopped.fit.machine, &more, stopped.state.as_ref(), &mut stopper).unwrap();
    assert_eq!((stopped.is_complete, stopped.fit.iterations()), (false, 7));
    let other = two_layers((6, &Links::Chain), (3, &Links::None), false, 2);
    let refused =
        plain.run_epochs(&other, &more, made.state.as_ref(), &mut NoObserver).unwrap_err().to_string();
    assert!(refused.contains("couplings"), "{refused}");
}

/// Two fits of one structure leave different momentum and chains; a machine continues either, on
/// the same rows with the same random numbers.
#[test]
fn what_epochs_leave_is_momentum_and_chains() {
    let machine = two_layers((6, &Links::None), (3, &Links::None), false, 2);
    let rows = chance_rows(6, 70, false, 4);
    let both = PLAIN.persistent(true).iterations(1).momentum(0.7);
    let left = |seed: u64| {
        let learner = both.seed(seed);
        learner.run_epochs(&machine, &chance_rows(6, 50, false, seed), None, &mut NoObserver).unwrap().state
    };
    let (one, other) = (left(1), left(2));
    let differs = |momentum: f64, persistent: bool, rows: &Table| {
        let learner = both.momentum(momentum).persistent(persistent);
        let from = |state: &Option<Checkpoint>| {
            learner.run_epochs(&machine, rows, state.as_ref(), &mut NoObserver).unwrap().fit.machine
        };
        from(&one) != from(&other)
    };
    // A single row has fewer chains than there were, and they continue all the same.
    for rows in [&rows, &chance_rows(6, 1, false, 8)] {
        assert!(differs(0.7, false, rows), "momentum");
        assert!(differs(0.0, true, rows), "chains");
        assert!(!differs(0.0, false, rows), "nothing else");
    }
}
