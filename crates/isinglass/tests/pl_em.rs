//! Pseudo-likelihood with hidden units: against pseudo-likelihood itself, against the exact
//! likelihood, and against itself when interrupted.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::ops::ControlFlow;

use isinglass::learn::{
    Checkpoint, Drawing, InformationGain, Learner, MStep, MeanFieldCd, NoObserver, Objective, Observer,
    PseudoLikelihood, PseudoLikelihoodEm, Step, start,
};
use isinglass::likelihood::Phases;
use isinglass::topology::{self, Numbers};
use isinglass::{Budget, Eliminate, Enumerate, Error, Evidence, Machine, Result, Role, Sampler, Table, Unit};

/// The source's machine: visible units fully connected, hidden ones in a chain, all joined across.
fn two_layers(visible: usize, hidden: usize, spread: f64, seed: u64) -> Machine {
    let unit = |k: usize| {
        let mut unit = Unit::new(format!("u{k}"), 0.0);
        unit.role = if k < visible { Role::Visible } else { Role::Hidden };
        unit
    };
    let count = visible + hidden;
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b, 0.0)));
    let edges: Vec<_> = pairs.filter(|&(a, b, _)| a < visible || b == a + 1).collect();
    let uniform = |size: f64| Numbers::Uniform { low: -size, high: size };
    Machine::new((0..count).map(unit).collect(), edges)
        .and_then(|machine| machine.with_numbers(&uniform(spread), &uniform(0.1), seed))
        .unwrap()
}

/// Rows of its visible units, drawn exactly.
fn drawn_rows(machine: &Machine, rows: usize, seed: u64) -> Table {
    let n = machine.unit_count();
    let visible: Vec<usize> = machine.with_role(Role::Visible).collect();
    let draws = Enumerate::default().draw(machine, &Evidence::none(n), rows, seed).unwrap();
    let row = |state: &[i8]| visible.iter().map(|&unit| state[unit]).collect::<Vec<i8>>();
    let names = visible.iter().map(|&unit| machine.name(unit).to_owned());
    Table::from_rows(names, draws.cells.chunks(n).map(row)).unwrap()
}

/// A table with gaps, weights and an input.
fn with_gaps() -> (Machine, Table) {
    let machine = two_layers(5, 3, 0.5, 4).with_temperature(1.4).unwrap();
    let mut roles = machine.roles().to_vec();
    roles[0] = Role::Input;
    let machine = machine.with_roles(roles).unwrap();
    let mut table = Table::new((0..5).map(|k| format!("u{k}"))).unwrap();
    for k in 0..90u32 {
        let bit = |shift: u32| k.wrapping_mul(2_654_435_761) >> (32 - shift) & 1;
        let cell = |unit: u32| if bit(unit + 1) == 1 { 1 } else { -1 };
        let row: Vec<i8> = (0..5).map(|unit| if (k + unit) % 7 == 0 { 0 } else { cell(unit) }).collect();
        table.push(&row, 0.5 + f64::from(k % 3)).unwrap();
    }
    (start(&machine, &table, 1, 0).unwrap(), table)
}

#[test]
fn without_free_units_it_finds_the_optimum_of_pseudo_likelihood() {
    let machine = two_layers(7, 0, 0.4, 1);
    let table = drawn_rows(&machine, 400, 1);
    let begin = start(&machine, &table, 0, 0).unwrap();
    let plain = PseudoLikelihood::new().l2(0.01);
    let plain = plain.fit(&begin, &table).unwrap();
    for m_step in [MStep::default(), MStep::Lbfgs] {
        let learner = PseudoLikelihoodEm::new().l2(0.01).m_step(m_step);
        let fit = learner.fit(&begin, &table).unwrap();
        assert!(fit.converged && fit.iterations() == 2, "{}", fit.stopped);
        let numbers = |machine: &Machine| [machine.weights(), machine.biases()].concat();
        for (found, expected) in numbers(&fit.machine).into_iter().zip(numbers(&plain.machine)) {
            assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
        }
        let (found, expected) = (fit.pseudo_log_likelihood.unwrap(), plain.pseudo_log_likelihood.unwrap());
        // Without the penalty it is not stationary at the optimum: parameters that differ by 1e-10 tell.
        assert!((found - expected).abs() < 1e-10, "{found}, not {expected}");
    }
}

/// Keeps every state, and stops on request.
struct Keeper {
    states: Vec<Checkpoint>,
    last: usize,
}

impl Observer for Keeper {
    fn step(&mut self, step: &Step, _machine: &Machine) -> Result<ControlFlow<()>> {
        Ok(if step.iteration < self.last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn checkpoint(&mut self, _step: &Step, take: &dyn Fn() -> Result<Checkpoint>) -> Result<()> {
        self.states.push(take()?);
        Ok(())
    }
}

#[test]
fn a_fit_goes_on_from_any_state_bit_for_bit() {
    let (begin, table) = with_gaps();
    for draws in [Drawing::Exact, Drawing::Gibbs] {
        for m_step in [MStep::Gradient, MStep::default()] {
            let learner = PseudoLikelihoodEm::new().draws(draws).m_step(m_step).iterations(75);
            let mut keeper = Keeper { states: Vec::new(), last: usize::MAX };
            let whole = learner.fit_with(&begin, &table, &mut keeper).unwrap();
            assert_eq!(keeper.states.len(), whole.history.len());
            for state in keeper.states.iter().step_by(19).chain(keeper.states.last()) {
                let rest = learner.fit_from(&begin, &table, Some(state), &mut NoObserver).unwrap();
                assert_eq!(rest, whole);
            }
            // One that was stopped can be resumed, too.
            let mut stopped = Keeper { states: Vec::new(), last: 20 };
            let part = learner.fit_with(&begin, &table, &mut stopped).unwrap();
            assert_eq!((part.iterations(), part.stopped.to_string().as_str()), (20, "stopped on request"));
            let rest = learner.fit_from(&begin, &table, stopped.states.last(), &mut NoObserver).unwrap();
            assert_eq!(rest, whole);
        }
    }
    let learner = PseudoLikelihoodEm::new().iterations(2);
    let mut keeper = Keeper { states: Vec::new(), last: usize::MAX };
    learner.fit_with(&begin, &table, &mut keeper).unwrap();
    let other = two_layers(5, 2, 0.1, 0);
    let error = learner.fit_from(&other, &table, keeper.states.last(), &mut NoObserver).unwrap_err();
    assert!(error.to_string().contains("other units, couplings"), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_one_thread_and_on_two() {
    let machine = two_layers(10, 4, 0.5, 2);
    let table = drawn_rows(&machine, 500, 2);
    let begin = start(&machine, &table, 3, 0).unwrap();
    for draws in [Drawing::Exact, Drawing::Gibbs] {
        let learner = PseudoLikelihoodEm::new().draws(draws).iterations(8).seed(5);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| learner.fit(&begin, &table).unwrap())
        };
        assert_eq!(on(1), on(2));
        let other = learner.seed(6);
        assert_ne!(other.fit(&begin, &table).unwrap().machine, on(1).machine);
    }
}

/// The log-likelihood of a row at some iterations.
struct Heights<'a> {
    gain: &'a InformationGain<'a>,
    at: &'a [usize],
    found: Vec<f64>,
}

impl Observer for Heights<'_> {
    fn step(&mut self, step: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        if self.at.contains(&step.iteration) {
            self.found.push(self.gain.value(&self.gain.parameters_of(machine))?);
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Figure 3 of the source: 17 visible and 3 hidden units, 100 rows, K = 3, λ = 2.
#[test]
fn the_log_likelihood_rises_and_settles_by_a_hundred_steps() {
    let (clamped, free) = (Eliminate::default(), Enumerate::default());
    for (seed, draws) in [(0, Drawing::Gibbs), (1, Drawing::Auto)] {
        let machine = two_layers(17, 3, 0.3, seed);
        let table = drawn_rows(&machine, 100, seed);
        let begin = start(&machine, &table, seed, 0).unwrap();
        let phases = Phases { clamped: &clamped, free: &free };
        let gain = InformationGain::new(phases, &begin, &table, 0.0).unwrap();
        let learner = PseudoLikelihoodEm::new().draws(draws).iterations(150).tolerance(0.0);
        let mut heights = Heights { gain: &gain, at: &[0, 10, 100, 125, 150], found: Vec::new() };
        let fit = learner.fit_with(&begin, &table, &mut heights).unwrap();
        let per_unit: Vec<f64> = heights.found.iter().map(|x| x / 17.0).collect();
        let truth = gain.value(&gain.parameters_of(&machine)).unwrap() / 17.0;
        let kept = gain.value(&gain.parameters_of(&fit.machine)).unwrap() / 17.0;
        assert!(per_unit[1] > per_unit[0] + 0.05, "it rises: {per_unit:?}");
        // A machine fitted to 100 rows describes them better than the one they were drawn from.
        assert!(per_unit[2] > truth && kept > truth, "{per_unit:?}, {kept}; the truth has {truth}");
        assert!((per_unit[4] - per_unit[2]).abs() < 0.01, "it has settled: {per_unit:?}");
        assert!((per_unit[3] - per_unit[2]).abs() < 0.01, "it has settled: {per_unit:?}");
    }
}

/// Figure 6 of the source: the same machines with stronger couplings, at most 500 iterations. The
/// baseline is that of Welling and Hinton, without damping.
#[test]
fn it_describes_rows_of_strong_couplings_better_than_mean_field_contrastive_divergence() {
    let (clamped, free) = (Eliminate::default(), Enumerate::default());
    let mut gaps = Vec::new();
    for spread in [0.4, 0.7, 1.0] {
        let mut gap = 0.0;
        for seed in 0..3 {
            let machine = two_layers(17, 3, spread, seed);
            let table = drawn_rows(&machine, 100, seed);
            let begin = start(&machine, &table, seed, 0).unwrap();
            let phases = Phases { clamped: &clamped, free: &free };
            let gain = InformationGain::new(phases, &begin, &table, 0.0).unwrap();
            let height = |learner: &dyn Learner| {
                let fit = learner.fit(&begin, &table).unwrap();
                gain.value(&gain.parameters_of(&fit.machine)).unwrap() / 17.0
            };
            let drawn = height(&PseudoLikelihoodEm::default());
            let baseline = height(&MeanFieldCd::new().damping(0.0).iterations(500));
            gap += (drawn - baseline) / 3.0;
        }
        assert!(gap > 0.0, "{spread}: {gap}");
        gaps.push(gap);
    }
    assert!(gaps[2] > gaps[0], "{gaps:?}");
}

#[test]
fn how_units_were_drawn_is_told() {
    let (begin, table) = with_gaps();
    let learner = PseudoLikelihoodEm::new().iterations(1);
    let note = |learner: &PseudoLikelihoodEm, begin: &Machine, table: &Table| {
        let fit = learner.fit(begin, table).unwrap();
        (fit.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "), fit.pseudo_log_likelihood)
    };
    let (exact, height) = note(&learner, &begin, &table);
    assert!(exact.contains("drawn exactly") && height.is_some(), "{exact}");
    // Twelve hidden units, all joined: too wide for exact draws by choice of the program.
    let unit = |k: usize| {
        let mut unit = Unit::new(format!("u{k}"), 0.0);
        unit.role = if k < 2 { Role::Visible } else { Role::Hidden };
        unit
    };
    let pairs = (0..14).flat_map(|a| (a + 1..14).map(move |b| (a, b, 0.1)));
    let wide = Machine::new((0..14).map(unit).collect(), pairs).unwrap();
    let rows = Table::from_rows(["u0", "u1"], [[1, 1], [-1, 1], [1, 0]]).unwrap();
    let (chains, height) = note(&learner, &wide, &rows);
    assert!(chains.contains("Gibbs") && chains.contains("tables of"), "{chains}");
    assert_eq!(height, None);
    let (asked, _) = note(&learner.draws(Drawing::Exact), &wide, &rows);
    assert!(asked.contains("drawn exactly"), "{asked}");
}

#[test]
fn bad_settings_and_tables_are_refused() {
    let (begin, table) = with_gaps();
    let fine = PseudoLikelihoodEm::new().iterations(1);
    for bad in [
        fine.samples(0),
        fine.draws(Drawing::Gibbs).sweeps(Some(0)),
        fine.m_step(MStep::Gradient).gradient_steps(0).rate(Some(0.01)),
        fine.m_step(MStep::Gradient).gradient_steps(20).rate(Some(f64::NAN)),
        fine.reach(0.0),
        fine.m_step(MStep::Lbfgs).lbfgs_steps(0).lbfgs_tolerance(1e-6),
        fine.m_step(MStep::Lbfgs).lbfgs_steps(9).lbfgs_tolerance(-1.0),
        fine.l2(f64::INFINITY),
        fine.tolerance(f64::NAN),
    ] {
        let error = bad.fit(&begin, &table).unwrap_err();
        assert!(matches!(error, Error::Setting { .. }), "{bad:?}: {error}");
    }
    let error = fine.iterations(usize::MAX).fit(&begin, &table).unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    let many = fine.samples(1 << 40);
    let error = many.fit(&begin, &table).unwrap_err();
    assert!(matches!(error, Error::OverBudget { .. }), "{error}");
    let small = fine.budget(Budget(1000));
    assert!(matches!(small.fit(&begin, &table), Err(Error::OverBudget { .. })));
    let empty = Table::new(table.columns().iter().cloned()).unwrap();
    assert!(fine.fit(&begin, &empty).is_err());
    let runs = fine.m_step(MStep::Gradient).gradient_steps(50).rate(Some(1e300));
    let error = runs.fit(&begin, &table).unwrap_err();
    assert!(matches!(error, Error::Numerical { .. }), "{error}");
    assert!(error.to_string().contains("in iteration 1; a rate below 1e300 is needed"), "{error}");
    let huge = begin.clone().with_parameters(vec![1e30; begin.weights().len()], vec![0.0; 8]).unwrap();
    assert!(matches!(fine.fit(&huge, &table), Err(Error::Numerical { .. })));
}

#[test]
fn a_fit_that_runs_away_keeps_what_was_found_before() {
    let (begin, table) = with_gaps();
    // A penalty whose steps overshoot makes couplings ten times as large at every one.
    for draws in [Drawing::Exact, Drawing::Gibbs] {
        let runs = PseudoLikelihoodEm::new()
            .draws(draws)
            .m_step(MStep::Gradient)
            .gradient_steps(1)
            .rate(Some(0.1))
            .l2(110.0);
        let fit = runs.fit(&begin, &table).unwrap();
        let last = fit.iterations();
        assert!(last > 10 && !fit.converged && fit.kept == last, "{last} iterations");
        let expected = format!(
            "diverged: parameters run away in iteration {}, and the machine of the one before is kept; a rate below 0.1 is needed",
            last + 1
        );
        assert_eq!(fit.stopped.to_string(), expected);
        let shorter = runs.iterations(last);
        let shorter = shorter.fit(&begin, &table).unwrap();
        assert_eq!((fit.machine, fit.history), (shorter.machine, shorter.history));
    }
}

#[test]
fn a_height_on_some_rows_is_told_as_such() {
    let machine = two_layers(9, 1, 0.1, 3);
    let begin = start(&machine, &drawn_rows(&machine, 10, 1), 0, 0).unwrap();
    let learner = PseudoLikelihoodEm::new().iterations(2);
    for (rows, is_told) in [(60, false), (300, true)] {
        let table = drawn_rows(&machine, rows, 1);
        assert_eq!(table.distinct_count() > 100, is_told);
        let fit = learner.fit(&begin, &table).unwrap();
        let note = format!(" of {} distinct rows", table.distinct_count());
        let found = fit.notes.iter().any(|known| {
            let known = known.to_string();
            known.starts_with("the pseudo-log-likelihood is that on ") && known.ends_with(&note)
        });
        assert_eq!(found, is_told, "{:?}", fit.notes);
    }
}

#[test]
fn structures_at_the_edge_work() {
    let fine = PseudoLikelihoodEm::new().iterations(30).l2(0.01);
    // No edges; a hidden unit by itself; a row of which nothing is known.
    let mut lonely = Unit::new("h", 0.0);
    lonely.role = Role::Hidden;
    let machine = Machine::new(vec![Unit::new("a", 0.3), Unit::new("b", 0.0), lonely], []).unwrap();
    let table = Table::from_rows(["a", "b"], [[1, 1], [1, -1], [-1, 0], [0, 0]]).unwrap();
    for draws in [Drawing::Auto, Drawing::Gibbs] {
        let fit = fine.draws(draws).fit(&machine, &table).unwrap();
        assert!(fit.machine.biases().iter().all(|bias| bias.is_finite()));
    }
    // Hidden units alone among themselves, with couplings of 0.
    let grid = topology::chain(4);
    let mut roles = vec![Role::Hidden; 4];
    roles[0] = Role::Visible;
    let grid = grid.with_roles(roles).unwrap();
    let name = grid.name(0).to_owned();
    let one = Table::from_rows([name], [[1], [1], [-1]]).unwrap();
    let fit = fine.fit(&grid, &one).unwrap();
    assert!(fit.pseudo_log_likelihood.unwrap() > -0.8);
}
