//! A fit that was interrupted and is resumed from a checkpoint ends as if it had never stopped, bit
//! for bit.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::ops::ControlFlow;

use isinglass::learn::{
    Checkpoint, ClosedForm, ContrastiveDivergence, Drawing, EbicPaths, Factorized, Fit, L1, Learner,
    Likelihood, MStep, MeanFieldCd, NoObserver, Observer, Optimizer, PseudoLikelihood, PseudoLikelihoodEm,
    Restarts, Rule, Singular, Step, start,
};
use isinglass::likelihood::Phases;
use isinglass::topology::{self, Links};
use isinglass::{
    Ais, Bethe, Budget, Eliminate, Engine, Enumerate, Evidence, Graph, LinearResponse, Machine, MeanField,
    Mixture, Sampler, Table,
};
use proptest::prelude::*;

const METHODS: [Optimizer; 4] = [Optimizer::Lbfgs, Optimizer::Cg, Optimizer::Momentum, Optimizer::Adaptive];

/// Rows drawn from a glass; some cells are taken out if so asked.
fn rows_of_a_glass(units: usize, rows: usize, missing: bool) -> Table {
    let glass = topology::sherrington_kirkpatrick(units, 0.8, 5).unwrap();
    let draws = Eliminate::default().draw(&glass, &Evidence::none(units), rows, 2).unwrap();
    let mut table = Table::new((0..units).map(|k| format!("v{k}"))).unwrap();
    for (k, row) in draws.cells.chunks(units).enumerate() {
        let mut row = row.to_vec();
        if missing && k % 7 == 0 {
            row[k % units] = 0;
        }
        table.push(&row, 1.0 + (k % 3) as f64).unwrap();
    }
    table
}

/// Takes the state after every step, as bytes; breaks off after so many steps.
#[derive(Default)]
struct Keeper {
    restart: usize,
    reported: Vec<(usize, Step)>,
    states: Vec<Vec<u8>>,
    stop_after: Option<usize>,
}

impl Observer for Keeper {
    fn step(&mut self, step: &Step, _: &Machine) -> isinglass::Result<ControlFlow<()>> {
        self.reported.push((self.restart, *step));
        let stop = self.stop_after == Some(self.reported.len());
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn checkpoint(
        &mut self,
        step: &Step,
        take: &dyn Fn() -> isinglass::Result<Checkpoint>,
    ) -> isinglass::Result<()> {
        assert_eq!(self.reported.last().unwrap().1, *step, "a state is offered after each step");
        self.states.push(postcard::to_stdvec(&take()?).unwrap());
        Ok(())
    }

    fn restart(&mut self, restart: usize, _: usize) {
        self.restart = restart;
    }
}

fn state(bytes: &[u8]) -> Checkpoint {
    postcard::from_bytes(bytes).unwrap()
}

/// Some of the places 0..count: the first ones, the last one, and one between.
fn some(count: usize) -> Vec<usize> {
    let mut places = vec![0, 1, count / 2, count - 1];
    places.retain(|&place| place < count);
    places.sort_unstable();
    places.dedup();
    places
}

/// All of a fit. Numbers are written so that they can be read back bit for bit.
fn words(fit: &Fit) -> String {
    let Fit { machine, history, kept, converged, stopped, .. } = fit;
    let Fit { log_likelihood, guarantee, pseudo_log_likelihood, diagnostics, notes, .. } = fit;
    let structure = (machine.graph().edges(), machine.names(), machine.roles());
    let numbers = (machine.weights(), machine.biases(), machine.temperature(), machine.offset());
    let ending = (history, kept, converged, stopped, notes);
    let values = (log_likelihood, guarantee, pseudo_log_likelihood, diagnostics);
    format!("{structure:?} {numbers:?} {ending:?} {values:?}")
}

/// Runs the fit whole, resumes it from several places, and compares every bit.
fn check(what: &str, fit: &dyn Fn(Option<&Checkpoint>, &mut dyn Observer) -> String) {
    let mut whole = Keeper::default();
    let expected = fit(None, &mut whole);
    assert_eq!(expected, fit(None, &mut NoObserver), "{what}: watched or not");
    assert_eq!(whole.reported.len(), whole.states.len());
    for place in some(whole.reported.len()) {
        let mut rest = Keeper::default();
        assert_eq!(
            expected,
            fit(Some(&state(&whole.states[place])), &mut rest),
            "{what}: after step {place}"
        );
        assert_eq!(rest.reported, whole.reported[place + 1..], "{what}: reported after step {place}");
        assert_eq!(rest.states, whole.states[place + 1..], "{what}: states after step {place}");
        let mut broken_off = Keeper { stop_after: Some(place + 1), ..Keeper::default() };
        fit(None, &mut broken_off);
        assert_eq!(broken_off.states, whole.states[..broken_off.states.len()], "{what}: broken off");
        let last = state(broken_off.states.last().unwrap());
        assert_eq!(expected, fit(Some(&last), &mut NoObserver), "{what}: broken off after step {place}");
    }
}

fn check_learner(what: &str, learner: &dyn Learner, start: &Machine, table: &Table) {
    check(what, &|from, observer| words(&learner.fit_from(start, table, from, observer).unwrap()));
}

fn columns(units: usize) -> Machine {
    topology::two_layer(units, &Links::Full, 0, &Links::None).unwrap()
}

#[test]
fn likelihood_with_every_method_and_kind_of_engine() {
    let exact = Enumerate::default();
    let response = LinearResponse::default();
    let mean_field = MeanField::default();
    let sampled = Ais::new().chains(16).temperatures(8.into());
    let table = rows_of_a_glass(5, 60, true);
    let structure = topology::rbm(5, 2).unwrap();
    let begin = start(&structure, &table, 3, 0).unwrap();
    let engines: [(&dyn Engine, &dyn Engine); 4] =
        [(&exact, &exact), (&mean_field, &mean_field), (&exact, &response), (&exact, &sampled)];
    for (clamped, free) in engines {
        for method in METHODS {
            let compares = matches!(method, Optimizer::Cg | Optimizer::Adaptive);
            if compares && !free.moments_are_derivatives() {
                continue;
            }
            let learner =
                Likelihood::with_phases(Phases { clamped, free }).l2(0.01).optimizer(method).iterations(15);
            check_learner(&format!("{} with {}", method.word(), free.name()), &learner, &begin, &table);
        }
    }
}

#[test]
fn likelihood_up_to_its_end_whatever_that_is() {
    let table = rows_of_a_glass(5, 200, false);
    let begin = start(&columns(5), &table, 0, 0).unwrap();
    let exact = Eliminate::default();
    for method in METHODS {
        let learner = Likelihood::new(&exact).l2(0.01).optimizer(method).iterations(300);
        check_learner(method.word(), &learner, &begin, &table);
    }
    // No more gain, divergence, stalled.
    check_learner("stuck", &Likelihood::new(&exact).tolerance(0.0), &begin, &table);
    let wild = Likelihood::new(&exact)
        .l2(5.0)
        .optimizer(Optimizer::Momentum)
        .rate(Some(1.0))
        .momentum(Some(0.0))
        .iterations(10_000);
    check_learner("diverges", &wild, &begin, &table);
    let naive = MeanField::default();
    let hopeless = Likelihood::new(&naive).fit(&begin, &table).unwrap();
    assert!(!hopeless.converged, "{}", hopeless.stopped);
    check_learner("mean field", &Likelihood::new(&naive), &begin, &table);
    let bethe = Bethe::default();
    check_learner("bethe", &Likelihood::new(&bethe).l2(0.01), &begin, &table);
    let mixture = Mixture::new().components(2);
    check_learner("mixture", &Likelihood::new(&mixture).l2(0.01).iterations(10), &begin, &table);
}

#[test]
fn pseudo_likelihood_with_every_method() {
    let table = rows_of_a_glass(6, 100, false);
    let begin = start(&columns(6), &table, 0, 0).unwrap();
    for method in METHODS {
        for iterations in [12, 300] {
            let learner =
                PseudoLikelihood::new().optimizer(method).iterations(iterations).tolerance(5e-7).l2(0.01);
            check_learner(method.word(), &learner, &begin, &table);
        }
    }
    let sparse = PseudoLikelihood::new().l1(Some(L1::Weight(0.05)));
    check_learner("l1", &sparse, &begin, &table);
}

#[test]
fn paths_by_units() {
    let mut table = Table::new((0..70).map(|k| format!("v{k}"))).unwrap();
    let few = rows_of_a_glass(10, 150, false);
    for (k, &row) in few.distinct_of().iter().enumerate() {
        let drawn = few.row(row as usize);
        // A column of one value, and six more sets of columns that follow the first with delay.
        let cells: Vec<i8> =
            (0..70).map(|j| if j == 69 { 1 } else { drawn[(j * (1 + k % 5)) % 10] }).collect();
        table.push(&cells, 1.0).unwrap();
    }
    let chain = topology::chain(70).with_names(table.columns().iter().cloned()).unwrap();
    for (learner, start) in
        [(EbicPaths::default(), &chain), (EbicPaths::new().gamma(0.0).rule(Rule::Or), &chain)]
    {
        let whole = learner.fit(start, &table).unwrap();
        assert_eq!(whole.history.len(), 3, "32 units, 32 and 6");
        assert!(whole.converged && whole.history.windows(2).all(|two| two[1].objective >= two[0].objective));
        check_learner("paths", &learner, start, &table);
        let mut stopped = Keeper { stop_after: Some(1), ..Keeper::default() };
        let part = learner.fit_with(start, &table, &mut stopped).unwrap();
        assert_eq!((part.converged, part.stopped.to_string().as_str()), (false, "stopped on request"));
        assert!(part.machine.weights()[32..].iter().all(|w| *w == 0.0), "units still to come are alone");
        assert_eq!(part.pseudo_log_likelihood, Some(part.best().unwrap().objective));
    }
}

#[test]
fn closed_form_by_every_way() {
    let regular = rows_of_a_glass(6, 200, false);
    let full = columns(6);
    let chain = topology::two_layer(6, &Links::Chain, 0, &Links::None).unwrap();
    check_learner("formula", &ClosedForm::default(), &full, &regular);
    check_learner("selection", &ClosedForm::default(), &chain, &regular);
    let without = ClosedForm::new().no_self_coupling(true);
    check_learner("without self-couplings", &without, &full, &regular);
    // Four rows, of which the last column repeats the first.
    let rows = [[1, 1, -1, 1, 1, 1], [-1, 1, 1, -1, 1, -1], [1, -1, 1, 1, -1, 1], [-1, -1, -1, 1, 1, -1]];
    let singular = Table::from_rows((0..6).map(|k| format!("v{k}")), rows).unwrap();
    for how in [Singular::Better, Singular::LevenbergMarquardt, Singular::Shrinkage] {
        let learner = ClosedForm::new().singular(how);
        check_learner(&format!("{how:?}"), &learner, &full, &singular);
    }
    let edges = [(0, 1), (0, 5), (1, 5), (2, 3)];
    let loops = columns(6);
    let joined =
        Machine::from_graph(Graph::new(6, edges).unwrap()).with_names(loops.names().iter().cloned()).unwrap();
    let learner = ClosedForm::default();
    let found = learner.fit(&joined, &singular).unwrap();
    assert_eq!(found.remedy().word(), "shrink", "the first way has no solution");
    check_learner("two ways by Newton", &learner, &joined, &singular);
}

#[test]
fn factorized_is_made_again() {
    let table = rows_of_a_glass(4, 30, true);
    check_learner("factorized", &Factorized, &columns(4), &table);
}

#[test]
fn restarts_are_resumed_in_any_of_them() {
    let table = rows_of_a_glass(4, 40, true);
    let structure = topology::rbm(4, 2).unwrap();
    let (exact, naive) = (Enumerate::default(), MeanField::default());
    let restarts = Restarts { count: 3, seed: 1 };
    let learners: [(&str, &dyn Learner); 3] = [
        ("exact", &Likelihood::new(&exact).l2(0.003).iterations(8)),
        ("mean field", &Likelihood::new(&naive).iterations(8)),
        ("factorized", &Factorized),
    ];
    for (what, learner) in learners {
        check(what, &|from, observer| {
            let (fit, qualities) = restarts.fit_from(learner, &structure, &table, from, observer).unwrap();
            format!("{} {qualities:?}", words(&fit))
        });
    }
    // More restarts may be requested, but not fewer than were begun.
    let learner = Likelihood::new(&exact).l2(0.003).iterations(8);
    let mut keeper = Keeper::default();
    restarts.fit_with(&learner, &structure, &table, &mut keeper).unwrap();
    let five = Restarts { count: 5, ..restarts };
    let whole = five.fit(&learner, &structure, &table).unwrap();
    let last = state(keeper.states.last().unwrap());
    assert_eq!(five.fit_from(&learner, &structure, &table, Some(&last), &mut NoObserver).unwrap(), whole);
    let message = |restarts: Restarts| {
        let found = restarts.fit_from(&learner, &structure, &table, Some(&last), &mut NoObserver);
        found.unwrap_err().to_string()
    };
    assert_eq!(
        message(Restarts { count: 2, seed: 1 }),
        "checkpoint: it is of restart 3, beyond the 2 that are to be made"
    );
    assert_eq!(
        message(Restarts { count: 3, seed: 2 }),
        "checkpoint: it is of a fit with seed 1, and this one has 2"
    );
}

#[test]
fn a_resumed_fit_may_have_larger_limits() {
    let table = rows_of_a_glass(5, 100, true);
    let begin = start(&topology::rbm(5, 2).unwrap(), &table, 0, 0).unwrap();
    let (exact, naive) = (Enumerate::default(), MeanField::default());
    for method in METHODS {
        for engine in [&exact as &dyn Engine, &naive] {
            let with = |iterations, tolerance| {
                Likelihood::new(engine).l2(0.01).optimizer(method).iterations(iterations).tolerance(tolerance)
            };
            let whole = with(40, 1e-6).fit(&begin, &table).unwrap();
            for shorter in [with(5, 1e-6), with(40, 0.03)] {
                let mut keeper = Keeper::default();
                shorter.fit_with(&begin, &table, &mut keeper).unwrap();
                let last = state(keeper.states.last().unwrap());
                let found = with(40, 1e-6).fit_from(&begin, &table, Some(&last), &mut NoObserver).unwrap();
                assert_eq!(words(&found), words(&whole), "{}", method.word());
                let message = |learner: Likelihood<'_>| {
                    learner.fit_from(&begin, &table, Some(&last), &mut NoObserver).unwrap_err().to_string()
                };
                assert!(message(with(2, 1e-9)).contains("beyond the limit of 2 iterations"));
                assert!(message(with(40, 1.0)).contains("that might have ended before"));
            }
        }
    }
}

#[test]
fn a_state_of_something_else_is_refused() {
    let table = rows_of_a_glass(4, 40, false);
    let begin = start(&columns(4), &table, 0, 0).unwrap();
    let mut keeper = Keeper::default();
    let (engine, loose) = (MeanField::default(), LinearResponse::default());
    let learner = || Likelihood::new(&engine).iterations(5);
    learner().fit_with(&begin, &table, &mut keeper).unwrap();
    let kept = state(&keeper.states[2]);
    assert_eq!(kept.learner(), "likelihood");
    let refused = |learner: &dyn Learner, begin: &Machine, table: &Table, words: &str| {
        let message = learner.fit_from(begin, table, Some(&kept), &mut NoObserver).unwrap_err().to_string();
        assert!(message.starts_with("checkpoint: ") && message.contains(words), "{message}");
    };
    let other = rows_of_a_glass(4, 41, false);
    refused(&learner(), &begin, &other, "another table");
    let moved = start(&columns(4), &other, 0, 0).unwrap();
    refused(&learner(), &moved, &table, "other numbers");
    let chain = topology::two_layer(4, &Links::Chain, 0, &Links::None).unwrap();
    refused(&learner(), &chain, &table, "couplings");
    refused(&learner().l2(0.5), &begin, &table, "l2 0.0, and this one has 0.5");
    refused(&learner().optimizer(Optimizer::Cg).iterations(5), &begin, &table, "optimizer Lbfgs");
    refused(&Likelihood::new(&loose), &begin, &table, "engine mean-field");
    let eager = MeanField::new().tolerance(10.0 * MeanField::new().tolerance);
    refused(&Likelihood::new(&eager), &begin, &table, "engine mean-field");
    for learner in [
        &Factorized as &dyn Learner,
        &ClosedForm::default(),
        &PseudoLikelihood::default(),
        &EbicPaths::default(),
    ] {
        refused(learner, &begin, &table, "the learner likelihood");
    }
}

/// A learner that makes its iterations itself, and what may be changed about it.
struct Case {
    what: &'static str,
    learner: Box<dyn Learner>,
    /// Learners that differ in one setting, and what a refusal of their states says of it.
    others: Vec<(Box<dyn Learner>, &'static str)>,
    /// With limits of iterations (or epochs) and a tolerance.
    limited: Box<dyn Fn(usize, f64) -> Box<dyn Learner>>,
    /// Hidden units with which it converges.
    hidden: usize,
    /// A tolerance that ends the fit early, and a smaller one; the same where there is none.
    tolerances: [f64; 2],
}

fn pl_em(what: &'static str, base: PseudoLikelihoodEm, exact: bool) -> Case {
    type Em = PseudoLikelihoodEm;
    let drawn = base.draws(Drawing::Gibbs);
    let other_step = if exact { drawn } else { drawn.sweeps(Some(3)) };
    let others: Vec<(Em, &str)> = vec![
        (other_step, "with E-step"),
        (base.samples(2), "draws a row 3, and this one has 2"),
        (base.m_step(MStep::Gradient), "M-step Damped { reach: 0.2 }"),
        (base.l2(0.5), "l2 0.01, and this one has 0.5"),
        (base.seed(7), "seed 0, and this one has 7"),
    ];
    Case {
        what,
        learner: Box::new(base),
        others: others
            .into_iter()
            .map(|(other, words)| (Box::new(other) as Box<dyn Learner>, words))
            .collect(),
        limited: Box::new(move |iterations, tolerance| {
            Box::new(base.iterations(iterations).tolerance(tolerance))
        }),
        hidden: 2,
        tolerances: [0.02, 0.002],
    }
}

fn divergence(what: &'static str, base: ContrastiveDivergence) -> Case {
    type Cd = ContrastiveDivergence;
    // Without persistent chains their number is not accepted.
    let chains = if base.persistent {
        (base.chains(Some(11)), "chains as many as a mini-batch has rows, and this one has 11")
    } else {
        (base.persistent(true).chains(Some(11)), "with persistent")
    };
    let others: Vec<(Cd, &str)> = vec![
        (base.steps(2), "steps 1, and this one has 2"),
        (base.persistent(!base.persistent), "with persistent"),
        chains,
        (base.clamped_sweeps(4), "clamped sweeps 5, and this one has 4"),
        (base.batch(9), "batch 10, and this one has 9"),
        (base.rate(0.03), "rate 0.02, and this one has 0.03"),
        (base.rate_decay(0.0), "rate decay 0.5, and this one has 0.0"),
        (base.momentum(0.0), "momentum 0.5, and this one has 0.0"),
        (base.l2(0.5), "l2 0.0, and this one has 0.5"),
        (base.seed(7), "seed 0, and this one has 7"),
    ];
    Case {
        what,
        learner: Box::new(base),
        others: others
            .into_iter()
            .map(|(other, words)| (Box::new(other) as Box<dyn Learner>, words))
            .collect(),
        limited: Box::new(move |epochs, _| Box::new(base.iterations(epochs))),
        hidden: 2,
        tolerances: [0.0; 2],
    }
}

fn mean_field_cd(what: &'static str, base: MeanFieldCd) -> Case {
    type Mf = MeanFieldCd;
    let others: Vec<(Mf, &str)> = vec![
        (base.steps(2), "steps 1, and this one has 2"),
        (base.damping(0.5), "damping 0.9, and this one has 0.5"),
        (base.rate(0.03), "rate 0.02, and this one has 0.03"),
        (base.momentum(0.5), "momentum 0.0, and this one has 0.5"),
        (base.l2(0.5), "l2 0.0, and this one has 0.5"),
        (base.batch(Some(9)), "batch of all rows, and this one has 9"),
    ];
    Case {
        what,
        learner: Box::new(base),
        others: others
            .into_iter()
            .map(|(other, words)| (Box::new(other) as Box<dyn Learner>, words))
            .collect(),
        limited: Box::new(move |iterations, tolerance| {
            Box::new(base.iterations(iterations).tolerance(tolerance))
        }),
        hidden: 0,
        tolerances: [0.1, 0.05],
    }
}

fn cases() -> [Case; 5] {
    let em = PseudoLikelihoodEm::new().l2(0.01).iterations(40);
    let sampled = ContrastiveDivergence::new().iterations(8);
    let means = MeanFieldCd::new().iterations(60);
    [
        pl_em("pl-em, exact", em.draws(Drawing::Exact), true),
        pl_em("pl-em, gibbs", em.draws(Drawing::Gibbs), false),
        divergence("contrastive divergence", sampled),
        divergence("persistent", sampled.persistent(true)),
        mean_field_cd("mean-field-cd", means),
    ]
}

/// The state after the last iteration of a fit, and the fit.
fn ended(learner: &dyn Learner, start: &Machine, table: &Table) -> (Checkpoint, Fit) {
    let mut keeper = Keeper::default();
    let fit = learner.fit_with(start, table, &mut keeper).unwrap();
    (state(keeper.states.last().unwrap()), fit)
}

#[test]
fn learners_without_an_optimiser_resume_with_the_same_bits() {
    let table = rows_of_a_glass(5, 60, true);
    let begin = start(&topology::rbm(5, 2).unwrap(), &table, 3, 0).unwrap();
    for case in cases() {
        check_learner(case.what, &*case.learner, &begin, &table);
    }
}

#[test]
fn learners_without_an_optimiser_refuse_states_of_other_fits() {
    let structure = topology::rbm(5, 2).unwrap();
    let (table, other) = (rows_of_a_glass(5, 60, true), rows_of_a_glass(5, 61, true));
    let begin = start(&structure, &table, 3, 0).unwrap();
    let moved = start(&structure, &table, 4, 0).unwrap();
    for Case { what, learner, others, .. } in cases() {
        let (kept, _) = ended(&*learner, &begin, &table);
        let refused = |learner: &dyn Learner, begin: &Machine, table: &Table, words: &str| {
            let found = learner.fit_from(begin, table, Some(&kept), &mut NoObserver);
            let message = found.unwrap_err().to_string();
            assert!(message.starts_with("checkpoint: ") && message.contains(words), "{what}: {message}");
        };
        refused(&*learner, &begin, &other, "another table");
        refused(&*learner, &moved, &table, "other numbers");
        for (other, words) in others {
            refused(&*other, &begin, &table, words);
        }
        refused(&Factorized, &begin, &table, learner.name());
    }
}

#[test]
fn learners_without_an_optimiser_resume_for_longer_but_not_for_less() {
    let table = rows_of_a_glass(5, 60, true);
    for Case { what, limited, hidden, tolerances: [loose, tight], .. } in cases() {
        let structure = topology::two_layer(5, &Links::Full, hidden, &Links::None).unwrap();
        let begin = start(&structure, &table, 3, 0).unwrap();
        let most = if loose > 0.0 { 5000 } else { 9 };
        let whole = limited(most, tight).fit(&begin, &table).unwrap();
        assert_eq!(whole.converged, loose > 0.0, "{what}: {}", whole.stopped);
        let mut shorter = vec![limited(4, tight)];
        if loose > tight {
            shorter.push(limited(most, loose));
        }
        for shorter in shorter {
            let (last, part) = ended(&*shorter, &begin, &table);
            assert!(part.iterations() < whole.iterations(), "{what}: {}", part.stopped);
            let found = limited(most, tight).fit_from(&begin, &table, Some(&last), &mut NoObserver).unwrap();
            assert_eq!(words(&found), words(&whole), "{what}");
            let message = |learner: Box<dyn Learner>| {
                learner.fit_from(&begin, &table, Some(&last), &mut NoObserver).unwrap_err().to_string()
            };
            let least = message(limited(2, tight));
            assert!(least.contains("beyond the limit of 2 "), "{what}: {least}");
            if loose > tight {
                let eager = message(limited(most, 1.0));
                assert!(eager.contains("and with 1e0 that might have ended before"), "{what}: {eager}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// No bytes make a learner panic, or search for ever: what it makes of them is a machine or an
    /// error.
    #[test]
    fn damaged_states_do_no_harm(
        place in any::<prop::sample::Index>(),
        flip in 1..=255u8,
        cut in prop::bool::weighted(0.1),
        method in prop::sample::select(METHODS.to_vec()),
    ) {
        let table = rows_of_a_glass(3, 20, false);
        let begin = start(&columns(3), &table, 0, 0).unwrap();
        let singular = Table::from_rows(["v0", "v1", "v2"], [[1, 1, 1], [-1, 1, -1], [1, -1, 1]]).unwrap();
        let (engine, response) = (Enumerate::default(), LinearResponse::default());
        let likelihood = Likelihood::new(&engine).optimizer(method).iterations(6);
        let roots = Likelihood::new(&response).iterations(6);
        let pseudo = PseudoLikelihood::new().optimizer(method).iterations(6).tolerance(5e-7);
        let paths = EbicPaths::default();
        let squares = ClosedForm::new().singular(Singular::LevenbergMarquardt);
        let newton = ClosedForm::new().no_self_coupling(true);
        let em = PseudoLikelihoodEm::new().iterations(6);
        let sampled = ContrastiveDivergence::new().iterations(6).persistent(true);
        let means = MeanFieldCd::new().iterations(6);
        let learners: [(&dyn Learner, &Table); 9] = [
            (&likelihood, &table), (&roots, &table), (&pseudo, &table), (&paths, &table), (&squares, &singular), (&newton, &table),
            (&em, &table), (&sampled, &table), (&means, &table),
        ];
        for (learner, table) in learners {
            let mut keeper = Keeper::default();
            learner.fit_with(&begin, table, &mut keeper).unwrap();
            let mut bytes = keeper.states[keeper.states.len() / 2].clone();
            let place = place.index(bytes.len());
            if cut { bytes.truncate(place) } else { bytes[place] ^= flip }
            if let Ok(state) = postcard::from_bytes::<Checkpoint>(&bytes) {
                let found = learner.fit_from(&begin, table, Some(&state), &mut NoObserver);
                prop_assert!(found.is_err() || found.is_ok_and(|fit| fit.machine.weights().iter().all(|w| w.is_finite())));
            }
        }
    }
}

#[test]
fn a_fit_is_resumed_with_a_larger_budget_to_the_same_bits() {
    let table = rows_of_a_glass(8, 120, true);
    let structure = topology::rbm(8, 3).unwrap();
    let begin = start(&structure, &table, 1, 0).unwrap();
    let budgets = [200 << 10, 1 << 30, 4 << 30].map(Budget);
    let [small, ..] = budgets.map(|budget| Eliminate::new().budget(budget));
    let mut keeper = Keeper { stop_after: Some(4), ..Keeper::default() };
    Likelihood::new(&small).l2(0.01).iterations(12).fit_with(&begin, &table, &mut keeper).unwrap();
    let whole = words(&Likelihood::new(&small).l2(0.01).iterations(12).fit(&begin, &table).unwrap());
    let last = state(keeper.states.last().unwrap());
    for budget in budgets {
        let engine = Eliminate::new().budget(budget);
        let learner = Likelihood::new(&engine).l2(0.01).iterations(12);
        let resumed = learner.fit_from(&begin, &table, Some(&last), &mut NoObserver).unwrap();
        assert_eq!(whole, words(&resumed), "likelihood with {budget}");
    }

    let table = rows_of_a_glass(8, 120, false);
    let begin = start(&columns(8), &table, 1, 0).unwrap();
    let learner = |budget| PseudoLikelihood::new().l2(0.01).iterations(12).budget(budget);
    let mut keeper = Keeper { stop_after: Some(3), ..Keeper::default() };
    learner(Budget(1 << 20)).fit_with(&begin, &table, &mut keeper).unwrap();
    let whole = words(&learner(Budget(1 << 20)).fit(&begin, &table).unwrap());
    let last = state(keeper.states.last().unwrap());
    for budget in budgets.into_iter().skip(1) {
        let resumed = learner(budget).fit_from(&begin, &table, Some(&last), &mut NoObserver).unwrap();
        assert_eq!(whole, words(&resumed), "pseudo-likelihood with {budget}");
    }
}
