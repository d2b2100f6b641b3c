//! Expectations of mixtures, for one evidence or a batch.

use super::super::Theory;
use super::super::couplings::{Couplings, NONE, Pair, places};
use super::super::panel::Panel;
use super::super::solver::{SCALE, Solver};
use super::search::{Found, Search, Start};
use super::{Mixture, MixtureComponents};
use crate::engine::parts::{Part, Piece, solve_in_parts, statistics_bytes};
use crate::engine::{
    Ask, BatchExpectations, Diagnostics, Engine, Expectations, Guarantee, PairMoments, Pairs,
};
use crate::settings::Settings;
use crate::table::{Batch, Group};
use crate::{Error, Evidence, Machine, Result};

/// Sweeps assumed for a search when work is distributed.
const USUAL_SWEEPS: f64 = 100.0;

/// More components than this are a mistake.
const MOST_COMPONENTS: usize = 1 << 20;

/// The mixture of one row.
struct Row {
    found: Found,
    /// The mean of every unit of the machine, and the constant to add to the bound.
    means: Vec<f64>,
    shift: f64,
    guarantee: Guarantee,
    free: Vec<usize>,
}

impl Engine for Mixture {
    identity!();

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        if let Some(solver) = self.as_mean_field() {
            check(self, machine)?;
            return solver.single(machine, evidence, pairs);
        }
        let count = PairMoments::count(pairs, machine.graph());
        let Row { found, means, shift, guarantee, free } =
            self.solve(machine, evidence, 8 * count as u128)?;
        let places = places(machine, &free);
        let correlations = PairMoments::collect(pairs, machine.graph(), |a, b| {
            let product = means[a] * means[b];
            if places[a] == NONE || places[b] == NONE {
                return product;
            }
            let (first, second) = (places[a] as usize, places[b] as usize);
            product + found.state.covariance(first, second, (means[a], means[b]))
        });
        Ok(Expectations {
            log_z: Some(found.bound + shift),
            means,
            correlations,
            guarantee,
            errors: None,
            diagnostics: Diagnostics::iterated(found.converged, found.iteration),
        })
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
        check(self, machine)?;
        if let Some(solver) = self.as_mean_field() {
            return solver.batch(machine, batch, ask);
        }
        let free = batch.groups().iter().map(|group| group.free.len()).max().unwrap_or(0);
        let at_once = Panel::rows_at_once(free).min(batch.row_count()).max(1);
        let each = self.row_bytes(machine, free, at_once) * rayon::current_num_threads() as u128;
        let sums = if ask.statistics { statistics_bytes(machine) } else { 0 };
        self.check_memory(each + sums + self.starts_bytes(machine), free)?;
        let starts = self.draw_starts(machine);
        let cost = |_: usize, group: &Group| {
            let (units, width) = (group.free.len() as f64, self.components as f64);
            let degrees: usize = group.free.iter().map(|&unit| machine.graph().degree(unit)).sum();
            let sweep = units * (8.0 * width * width + 40.0 * width) + 2.0 * width * degrees as f64;
            8.0 * USUAL_SWEEPS * self.settings.starts as f64 * sweep
        };
        solve_in_parts(machine, batch, ask, cost, |pieces, part| {
            for piece in pieces {
                let free = &batch.groups()[piece.group].free;
                let couplings = Couplings::new(machine, free, false);
                let search = self.search(machine, &couplings, free, &starts);
                solve_piece(machine, batch, ask, piece, &search, part);
            }
            Ok(())
        })
    }
}

impl Mixture {
    /// Returns the bytes of one row with some free units.
    pub(in crate::engine) fn bytes(&self, machine: &Machine, free: usize) -> u128 {
        self.row_bytes(machine, free, 1) + self.starts_bytes(machine)
    }

    fn row_bytes(&self, machine: &Machine, free: usize, at_once: usize) -> u128 {
        Couplings::bytes(free, machine.graph().edges().len(), false)
            + Panel::bytes(machine.unit_count(), free, at_once)
            + Search::bytes(self.components, free)
    }

    fn starts_bytes(&self, machine: &Machine) -> u128 {
        self.settings.starts as u128 * Start::bytes(self.components, machine.unit_count())
    }

    /// Returns the components of the best mixture under one evidence, on which
    /// [`Engine::expectations`] is based.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Evidence, Machine, Mixture, topology};
    /// let magnet = topology::full(8).with_parameters(vec![0.3; 28], vec![0.0; 8])?;
    /// let found = Mixture::new().components(2).components_of(&magnet, &Evidence::none(8))?;
    /// assert!((found.weights[0] - 0.5).abs() < 1e-3);
    /// assert!(found.means[0][0] * found.means[1][0] < -0.8, "one mode up, the other down");
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn components_of(&self, machine: &Machine, evidence: &Evidence) -> Result<MixtureComponents> {
        if self.components == 1 {
            let Expectations { log_z, means, guarantee, diagnostics, .. } =
                self.expectations(machine, evidence, Pairs::None)?;
            // Mean field always has a bound.
            let log_z = log_z.expect("a bound");
            let means = vec![means];
            return Ok(MixtureComponents { weights: vec![1.0], means, log_z, guarantee, diagnostics });
        }
        let bytes = 8 * (self.components * machine.unit_count()) as u128;
        let Row { found, means, shift, guarantee, free } = self.solve(machine, evidence, bytes)?;
        let of_component = |component: usize| {
            // Clamped units have their values.
            let mut means = means.clone();
            for (place, &unit) in free.iter().enumerate() {
                means[unit] = found.state.means_of(place)[component];
            }
            means
        };
        Ok(MixtureComponents {
            weights: found.state.weights[..self.components].to_vec(),
            means: (0..self.components).map(of_component).collect(),
            log_z: found.bound + shift,
            guarantee,
            diagnostics: Diagnostics::iterated(found.converged, found.iteration),
        })
    }

    /// Finds the mixture under one evidence. *Arguments*: `more` bytes for the answer.
    fn solve(&self, machine: &Machine, evidence: &Evidence, more: u128) -> Result<Row> {
        machine.check_evidence(evidence)?;
        check(self, machine)?;
        let free: Vec<usize> = evidence.free().collect();
        self.check_memory(self.bytes(machine, free.len()) + more, free.len())?;
        let couplings = Couplings::new(machine, &free, false);
        let mut panel = Panel::new(machine, &free, &[evidence.cells()]);
        let found = self.search(machine, &couplings, &free, &self.draw_starts(machine)).run(&panel.fields);
        panel.insert(&free, &found.state.mixed_means());
        let guarantee = guarantee(&couplings);
        Ok(Row { found, means: panel.values, shift: panel.shifts[0], guarantee, free })
    }

    fn search<'a>(
        &'a self,
        machine: &Machine,
        couplings: &'a Couplings,
        free: &'a [usize],
        starts: &'a [Start],
    ) -> Search<'a> {
        let (components, settings) = (self.components, self.fixed_point());
        Search { couplings, free, components, starts, settings, temperature: machine.temperature() }
    }

    /// Draws the starts, the same for every row and set of free units.
    fn draw_starts(&self, machine: &Machine) -> Vec<Start> {
        let settings = &self.fixed_point();
        let start = |number| Start::new(settings, number, machine.unit_count(), self.components);
        (0..settings.starts).map(start).collect()
    }

    /// Returns the solver of mean field for one component, which is the same and faster.
    fn as_mean_field(&self) -> Option<Solver> {
        let settings = self.fixed_point();
        let solver = Solver { engine: Self::NAME, theory: Theory::MeanField, response: false, settings };
        (self.components == 1).then_some(solver)
    }

    fn check_memory(&self, bytes: u128, free: usize) -> Result<()> {
        let what = || format!("a mixture of {} components over {free} units", self.components);
        self.settings.budget.check(Self::NAME, bytes, what)
    }
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

fn solve_piece(
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
    piece: &Piece,
    search: &Search<'_>,
    part: &mut Part,
) {
    part.guarantee = part.guarantee.and(guarantee(search.couplings));
    for (mut panel, weights) in Panel::each(machine, search.free, batch, &piece.rows) {
        let mut means = vec![0.0; panel.fields.len()];
        for row in 0..panel.rows {
            let fields: Vec<f64> = panel.fields.iter().skip(row).step_by(panel.width).copied().collect();
            let found = search.run(&fields);
            let mixed = found.state.mixed_means();
            part.log_z.push(found.bound + panel.shifts[row]);
            part.diagnostics = part.diagnostics.and(Diagnostics::iterated(found.converged, found.iteration));
            if let Some(sums) = &mut part.statistics {
                // Moments of pairs of free units beyond the product of their means.
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
        panel.insert(search.free, &means);
        if ask.means {
            part.means.extend(panel.rows_of_values());
        }
        if let Some(sums) = &mut part.statistics {
            panel.add_statistics(machine, weights, sums);
        }
    }
}
