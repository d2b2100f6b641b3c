//! From machine and evidence to mixtures, and to expectations.

use super::super::Theory;
use super::super::couplings::{Couplings, Pair};
use super::super::panel::Panel;
use super::super::solver::{SCALE, Solver};
use super::search::{Found, Search};
use super::start::Start;
use super::{Mixture, MixtureComponents};
use crate::engine::parts::{Part, Piece, solve_in_parts, statistics_bytes};
use crate::engine::{Ask, BatchExpectations, Diagnostics, Expectations, Guarantee, PairMoments, Pairs};
use crate::table::{Batch, Group};
use crate::{Error, Evidence, Machine, Result};

/// Sweeps that a search is taken to need when work is shared out.
const USUAL_SWEEPS: f64 = 100.0;

/// More components than this are a slip of the pen.
const MOST_COMPONENTS: usize = 1 << 20;

/// The bytes for some free units of a machine, in one row.
pub(super) fn bytes(engine: &Mixture, machine: &Machine, free: usize) -> u128 {
    Couplings::bytes(free, machine.graph().edges().len(), false)
        + Panel::bytes(machine.unit_count(), free, 1)
        + Search::bytes(engine.components, free)
        + starts_bytes(machine, engine)
}

fn starts_bytes(machine: &Machine, engine: &Mixture) -> u128 {
    engine.starts as u128 * Start::bytes(engine.components, machine.unit_count())
}

/// The mixture of one row.
struct Row {
    found: Found,
    /// The mean of every unit of the machine, and what is to be added to the bound.
    means: Vec<f64>,
    shift: f64,
    guarantee: Guarantee,
    free: Vec<usize>,
}

/// Expectations under one evidence.
pub(super) fn single(
    engine: &Mixture,
    machine: &Machine,
    evidence: &Evidence,
    pairs: Pairs,
) -> Result<Expectations> {
    if let Some(solver) = as_mean_field(engine) {
        check(engine, machine)?;
        return solver.single(machine, evidence, pairs);
    }
    let count = PairMoments::count(pairs, machine.graph());
    let row = solve(engine, machine, evidence, 8 * count as u128)?;
    let state = &row.found.state;
    let mut places = vec![None; machine.unit_count()];
    for (place, &unit) in row.free.iter().enumerate() {
        places[unit] = Some(place);
    }
    let correlations = PairMoments::collect(pairs, machine.graph(), |a, b| {
        let product = row.means[a] * row.means[b];
        match (places[a], places[b]) {
            (Some(first), Some(second)) => {
                product + state.covariance(first, second, (row.means[a], row.means[b]))
            }
            _ => product,
        }
    });
    Ok(Expectations {
        log_z: Some(row.found.bound + row.shift),
        correlations,
        guarantee: row.guarantee,
        errors: None,
        diagnostics: Diagnostics::iterated(row.found.converged, row.found.iteration),
        means: row.means,
    })
}

/// The components under one evidence.
pub(super) fn components(
    engine: &Mixture,
    machine: &Machine,
    evidence: &Evidence,
) -> Result<MixtureComponents> {
    if engine.components == 1 {
        let Expectations { log_z, means, guarantee, diagnostics, .. } =
            single(engine, machine, evidence, Pairs::None)?;
        // Mean field always has a bound.
        let log_z = log_z.expect("a bound");
        let means = vec![means];
        return Ok(MixtureComponents { weights: vec![1.0], means, log_z, guarantee, diagnostics });
    }
    let Row { found, means, shift, guarantee, free } =
        solve(engine, machine, evidence, 8 * (engine.components * machine.unit_count()) as u128)?;
    let of_component = |component: usize| {
        // Clamped units have their values.
        let mut means = means.clone();
        for (place, &unit) in free.iter().enumerate() {
            means[unit] = found.state.means_of(place)[component];
        }
        means
    };
    Ok(MixtureComponents {
        weights: found.state.weights[..engine.components].to_vec(),
        means: (0..engine.components).map(of_component).collect(),
        log_z: found.bound + shift,
        guarantee,
        diagnostics: Diagnostics::iterated(found.converged, found.iteration),
    })
}

/// *Arguments*: `more` bytes for the answer.
fn solve(engine: &Mixture, machine: &Machine, evidence: &Evidence, more: u128) -> Result<Row> {
    machine.check_evidence(evidence)?;
    check(engine, machine)?;
    let free: Vec<usize> = evidence.free().collect();
    check_memory(engine, engine.bytes(machine, free.len()) + more, free.len())?;
    let couplings = Couplings::new(machine, &free, false);
    let mut panel = Panel::new(machine, &free, &[evidence.cells()]);
    let starts = starts(engine, machine);
    let found = search(engine, machine, &couplings, &free, &starts).run(&panel.fields);
    panel.insert(&free, &found.state.mixed_means());
    let guarantee = guarantee(&couplings);
    Ok(Row { found, means: panel.values, shift: panel.shifts[0], guarantee, free })
}

/// Expectations under each row of evidence.
pub(super) fn batch(
    engine: &Mixture,
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
) -> Result<BatchExpectations> {
    Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
    check(engine, machine)?;
    if let Some(solver) = as_mean_field(engine) {
        return solver.batch(machine, batch, ask);
    }
    let free = batch.groups().iter().map(|group| group.free.len()).max().unwrap_or(0);
    let edges = machine.graph().edges().len();
    let at_once = Panel::rows_at_once(free).min(batch.row_count()).max(1);
    let each = Couplings::bytes(free, edges, false)
        + Panel::bytes(machine.unit_count(), free, at_once)
        + Search::bytes(engine.components, free);
    let sums = if ask.statistics { statistics_bytes(machine) } else { 0 };
    let threads = rayon::current_num_threads() as u128;
    check_memory(engine, each * threads + sums + starts_bytes(machine, engine), free)?;
    let starts = starts(engine, machine);
    let cost = |_: usize, group: &Group| {
        let (units, width) = (group.free.len() as f64, engine.components as f64);
        let degrees: usize = group.free.iter().map(|&unit| machine.graph().degree(unit)).sum();
        let sweep = units * (8.0 * width * width + 40.0 * width) + 2.0 * width * degrees as f64;
        8.0 * USUAL_SWEEPS * engine.starts as f64 * sweep
    };
    solve_in_parts(machine, batch, ask, cost, |pieces, part| {
        for piece in pieces {
            let group = &batch.groups()[piece.group];
            let couplings = Couplings::new(machine, &group.free, false);
            let search = search(engine, machine, &couplings, &group.free, &starts);
            solve_piece(machine, batch, ask, piece, &search, part);
        }
        Ok(())
    })
}

fn solve_piece(
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
    piece: &Piece,
    search: &Search<'_>,
    part: &mut Part,
) {
    let free = search.free;
    let at_once = Panel::rows_at_once(free.len());
    part.guarantee = part.guarantee.and(guarantee(search.couplings));
    for start in piece.rows.clone().step_by(at_once) {
        let places = start..piece.rows.end.min(start + at_once);
        let rows: Vec<&[i8]> = places.clone().map(|place| batch.row(place)).collect();
        let mut panel = Panel::new(machine, free, &rows);
        let weights = &batch.weights()[places];
        let mut means = vec![0.0; panel.fields.len()];
        for row in 0..panel.rows {
            let fields: Vec<f64> = panel.fields.iter().skip(row).step_by(panel.width).copied().collect();
            let found = search.run(&fields);
            let mixed = found.state.mixed_means();
            part.log_z.push(found.bound + panel.shifts[row]);
            part.diagnostics = part.diagnostics.and(Diagnostics::iterated(found.converged, found.iteration));
            if let Some(sums) = &mut part.statistics {
                // What pairs of free units have beyond the product of their means.
                for &Pair { a, b, edge, .. } in &search.couplings.pairs {
                    let (a, b) = (a as usize, b as usize);
                    sums.edges[edge as usize] +=
                        weights[row] * found.state.covariance(a, b, (mixed[a], mixed[b]));
                }
            }
            for (place, mean) in mixed.into_iter().enumerate() {
                means[place * panel.width + row] = mean;
            }
        }
        panel.insert(free, &means);
        if ask.means {
            for row in 0..panel.rows {
                part.means.extend(panel.values.iter().skip(row).step_by(panel.width));
            }
        }
        if let Some(sums) = &mut part.statistics {
            panel.add_statistics(machine, weights, sums);
        }
    }
}

fn search<'a>(
    engine: &'a Mixture,
    machine: &Machine,
    couplings: &'a Couplings,
    free: &'a [usize],
    starts: &'a [Start],
) -> Search<'a> {
    let (components, settings) = (engine.components, engine.fixed_point());
    Search { couplings, free, components, starts, settings, temperature: machine.temperature() }
}

/// The starts, the same for every row and set of free units.
fn starts(engine: &Mixture, machine: &Machine) -> Vec<Start> {
    let settings = &engine.fixed_point();
    let start = |number| Start::new(settings, number, machine.unit_count(), engine.components);
    (0..settings.starts).map(start).collect()
}

/// One component is mean field, and its solver is faster.
fn as_mean_field(engine: &Mixture) -> Option<Solver> {
    let settings = engine.fixed_point();
    let solver = Solver { engine: Mixture::NAME, theory: Theory::MeanField, response: false, settings };
    (engine.components == 1).then_some(solver)
}

fn guarantee(couplings: &Couplings) -> Guarantee {
    if couplings.are_none() { Guarantee::Exact } else { Guarantee::LowerBound }
}

fn check(engine: &Mixture, machine: &Machine) -> Result<()> {
    if !(1..=MOST_COMPONENTS).contains(&engine.components) {
        let problem =
            format!("found {}, expected at least 1 and at most {MOST_COMPONENTS}", engine.components);
        return Err(Error::setting("components", problem));
    }
    engine.fixed_point().check(machine.temperature())?;
    machine.check_scale(Mixture::NAME, SCALE)
}

fn check_memory(engine: &Mixture, bytes: u128, free: usize) -> Result<()> {
    let what = || format!("a mixture of {} components over {free} units", engine.components);
    engine.budget.check(Mixture::NAME, bytes, what)
}
