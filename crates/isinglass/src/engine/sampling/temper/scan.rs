//! Thermodynamics from one run: levels from infinite temperature down to the lowest one.
//!
//! Every few sweeps the weight and the magnetisation of each state enter the sums of the temperatures
//! that are near its level (`reweight`). log Z joins the levels as in `solution`. Errors are those of
//! a jackknife over blocks, of each quantity as a whole.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::blocks::{Estimate, jackknife};
use super::super::by_rows::ByRows;
use super::super::kernel::{Couplings, Model};
use super::ladder::Ladder;
use super::reweight::{Gathered, Target, Weighted};
use super::run::{ENOUGH_SAMPLES, MOST_SEGMENTS, Schedule};
use super::solution::{LEAST_EFFECTIVE_SAMPLES, R_HAT_LIMIT, have_travelled};
use super::team::{LADDERS, SUMMED_EVERY, Seen, Sums, Team};
use super::tuned::Tuned;
use super::{FIRST_LEVELS, Temper};
use crate::engine::fields::Fields;
use crate::engine::scan::{Bins, Curves, Overlap, Point, Scan, ScanRequest, Scanner, Slopes};
use crate::engine::scan::{binder, bytes_of_overlaps, of_draws, point};
use crate::engine::{Diagnostics, Guarantee, Mixing};
use crate::{Evidence, Machine, Result, cancel};

/// Terms of the sums at a temperature: w, w W, w W², w M, w M².
const TERMS: usize = 5;

/// Terms before the bins of the overlap: w, w q², w q⁴.
const OVERLAP_TERMS: usize = 3;

/// A number that varies less than this, in units of k_B or of a spin, says nothing of mixing.
const LEAST_VARIANCE: f64 = 1e-3;

/// What a run records, and where.
struct Plan<'a> {
    model: &'a Model,
    ladder: &'a Ladder,
    centres: &'a [f64],
    schedule: Schedule,
    targets: Vec<Target>,
    bins: Option<Bins>,
}

/// The sums of a block of sweeps of a team.
struct Block {
    levels: Sums,
    /// For each target the sums from either level.
    thermal: Vec<[Weighted; 2]>,
    overlap: Vec<[Weighted; 2]>,
}

impl Plan<'_> {
    /// The sweeps of a segment of a team.
    fn record(&self, team: &mut Team) -> Vec<Block> {
        team.sums = Sums::zero(self.ladder.levels());
        (0..self.schedule.blocks()).map(|_| self.record_block(team)).collect()
    }

    fn record_block(&self, team: &mut Team) -> Block {
        let zero = |terms: usize| {
            let none = || [Weighted::zero(terms), Weighted::zero(terms)];
            self.targets.iter().map(|_| none()).collect::<Vec<_>>()
        };
        let mut thermal = zero(TERMS);
        let mut overlap = self.bins.map_or(Vec::new(), |bins| zero(OVERLAP_TERMS + bins.count()));
        let mut totals = Vec::new();
        for _ in 0..self.schedule.block_sweeps() {
            cancel::point();
            team.step_seen(self.model, self.ladder, self.centres, |seen| {
                if seen.sweeps.is_multiple_of(SUMMED_EVERY) {
                    self.add_thermal(seen, &mut totals, &mut thermal);
                    if let Some(bins) = self.bins {
                        self.add_overlap(seen, bins, &mut overlap);
                    }
                }
            });
        }
        let levels = std::mem::replace(&mut team.sums, Sums::zero(self.ladder.levels()));
        Block { levels, thermal, overlap }
    }

    fn add_thermal(&self, seen: &Seen<'_>, totals: &mut Vec<f64>, thermal: &mut [[Weighted; 2]]) {
        seen.chains.totals(totals);
        let machine = self.ladder.points[self.ladder.levels() - 1];
        for ladder in 0..LADDERS {
            for (target, sums) in self.targets.iter().zip(&mut *thermal) {
                for (side, sums) in target.sides(self.ladder).into_iter().zip(sums) {
                    let weight = machine * seen.weights[ladder][side.level];
                    let spins = totals[seen.chain_at[ladder][side.level]];
                    let w = sums.factor(side.change * weight);
                    let terms = [w, w * weight, w * weight * weight, w * spins, w * spins * spins];
                    sums.sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
                }
            }
        }
    }

    fn add_overlap(&self, seen: &Seen<'_>, bins: Bins, overlap: &mut [[Weighted; 2]]) {
        let machine = self.ladder.points[self.ladder.levels() - 1];
        let mut differ = vec![false; self.model.units()];
        // Neighbouring temperatures share their levels.
        let mut agree = vec![None; self.ladder.levels()];
        for (target, sums) in self.targets.iter().zip(overlap) {
            for (side, sums) in target.sides(self.ladder).into_iter().zip(sums) {
                let agree = *agree[side.level].get_or_insert_with(|| {
                    let pair = [0, 1].map(|ladder: usize| seen.chain_at[ladder][side.level]);
                    seen.chains.differences(pair, &mut differ);
                    differ.iter().filter(|differs| !**differs).count()
                });
                let weight: f64 = seen.weights.iter().map(|ladder| machine * ladder[side.level]).sum();
                let w = sums.factor(side.change * weight);
                let square = bins.overlap(agree).powi(2);
                sums.sums[0] += w;
                sums.sums[1] += w * square;
                sums.sums[2] += w * square * square;
                sums.sums[OVERLAP_TERMS + bins.of(agree)] += w;
            }
        }
    }
}

/// What all temperatures have in common.
struct Constants {
    /// The lowest temperature, at which weights are.
    lowest: f64,
    /// log Z of the hottest level.
    hottest: f64,
    /// The constant of −E at the lowest temperature, divided by it.
    shift: f64,
    /// Σ s of the clamped units.
    clamped: f64,
}

/// The blocks of a run, and what is estimated from them.
struct Record<'a> {
    plan: &'a Plan<'a>,
    constants: Constants,
    /// Team after team.
    blocks: Vec<&'a Block>,
    teams: usize,
    levels: Sums,
}

/// What is estimated at a temperature, with the variance of each quantity.
type Found = [Estimate; Curves::NAMES.len()];

impl<'a> Record<'a> {
    fn new(plan: &'a Plan<'a>, constants: Constants, teams: &'a [Vec<Block>]) -> Self {
        let mut levels = Sums::zero(plan.ladder.levels());
        let blocks: Vec<&Block> = teams.iter().flatten().collect();
        for block in &blocks {
            levels.add(&block.levels);
        }
        Self { plan, constants, blocks, teams: teams.len(), levels }
    }

    /// log Z of a level over the free units, from all blocks but one.
    fn log_z(&self, level: usize, left_out: Option<usize>) -> f64 {
        let left_out = left_out.map(|block| &self.blocks[block].levels);
        let pair = |k: usize| self.levels.log_ratio(left_out, k, self.plan.centres[k]);
        self.constants.hottest + (0..level).map(pair).sum::<f64>()
    }

    fn thermal(&self, number: usize) -> Found {
        let target = &self.plan.targets[number];
        let Constants { lowest, shift, clamped, .. } = self.constants;
        let sides = [0, 1]
            .map(|side: usize| Gathered::new(self.blocks.iter().map(|block| &block.thermal[number][side])));
        jackknife(self.blocks.len(), self.teams, |left_out| -> Point {
            let entries = self.levels.count - left_out.map_or(0.0, |block| self.blocks[block].levels.count);
            let from = |side: usize| -> [f64; 5] {
                let sums = &sides[side];
                let w = sums.without(left_out, 0);
                let [weight, square, spins, spins_square] =
                    [1, 2, 3, 4].map(|k| sums.without(left_out, k) / w);
                let log_z = self.log_z(target.level + side, left_out) + sums.reference + (w / entries).ln();
                [log_z, weight, square - weight * weight, spins, spins_square - spins * spins]
            };
            let two = [from(0), from(1)];
            let mixed = |k: usize| target.mixed([two[0][k], two[1][k]]);
            let energy = [-lowest * (mixed(1) + shift), lowest * lowest * mixed(2)];
            point(
                lowest / target.scale,
                mixed(0) + target.scale * shift,
                energy,
                [mixed(3) + clamped, mixed(4)],
            )
        })
    }

    fn overlap(&self, number: usize, bins: Bins) -> Overlap {
        let target = &self.plan.targets[number];
        let sides = [0, 1]
            .map(|side: usize| Gathered::new(self.blocks.iter().map(|block| &block.overlap[number][side])));
        let average = |left_out: Option<usize>, term: usize| {
            let from = |side: usize| sides[side].without(left_out, term) / sides[side].without(left_out, 0);
            target.mixed([from(0), from(1)])
        };
        let [ratio] = jackknife(self.blocks.len(), self.teams, |left_out| {
            [binder(average(left_out, 1), average(left_out, 2))]
        });
        let share = |bin: usize| {
            let [found] =
                jackknife(self.blocks.len(), self.teams, |left_out| [average(left_out, OVERLAP_TERMS + bin)]);
            (found.mean.clamp(0.0, 1.0), found.variance.sqrt())
        };
        let (p, p_error) = (0..bins.count()).map(share).unzip();
        Overlap {
            temperature: self.constants.lowest / target.scale,
            q: bins.middles(),
            p,
            p_error,
            binder: ratio.mean,
            binder_error: ratio.variance.sqrt(),
        }
    }

    /// How well the energies and magnetisations of all temperatures mixed.
    fn mixing(&self, found: &[Found], round_trips: usize) -> Mixing {
        let states = self.levels.count;
        let (mut r_hat, mut samples): (f64, f64) = (1.0, states);
        for (found, target) in found.iter().zip(&self.plan.targets) {
            let t = self.constants.lowest / target.scale;
            let [_, energy, capacity, spins, susceptibility, _] = found;
            for (number, unit, variance) in
                [(energy, t, capacity.mean * t * t), (spins, 1.0, susceptibility.mean * t)]
            {
                if variance > LEAST_VARIANCE * unit * unit {
                    r_hat = r_hat.max((1.0 + number.between / variance).sqrt());
                    samples = samples.min(variance / number.variance.max(1e-300));
                }
            }
        }
        Mixing {
            chains: self.teams * LADDERS,
            samples: (states / (self.teams * LADDERS) as f64) as usize,
            r_hat,
            effective_samples: samples,
            round_trips: Some(round_trips),
            swap_rates: self.levels.swap_rates(),
        }
    }
}

impl Temper {
    /// The bytes of the sums of a scan.
    fn scan_bytes(&self, free: usize, request: &ScanRequest) -> u128 {
        let bins = if request.overlap { OVERLAP_TERMS + Bins::new(free).count() } else { 0 };
        let schedule = self.schedule();
        let blocks = (self.settings.replicas * schedule.blocks() * MOST_SEGMENTS) as u128;
        // Once as they are, and those of a thread's temperature once more.
        let sums = request.temperatures().len() as u128 * 2 * (8 * (TERMS + bins) as u128 + 64);
        2 * blocks * sums + bytes_of_overlaps(0, request)
    }

    /// The exact quantities of independent units.
    fn scan_apart(&self, machine: &Machine, evidence: &Evidence, request: &ScanRequest) -> Result<Scan> {
        let free: Vec<usize> = evidence.free().collect();
        let at = |&temperature: &f64| {
            let machine = machine.clone().with_temperature(temperature)?;
            let fields = Fields::<1>::new(&machine, &free, &[evidence.cells()]);
            let mut all = Slopes::of_independent(fields.free.iter().map(|field| field[0]));
            all.grow(fields.shifts[0]);
            all.add_spins(evidence.cells().iter().map(|&s| f64::from(s)).sum());
            Ok(all.point(temperature))
        };
        let points: Vec<Point> = request.temperatures().iter().map(at).collect::<Result<_>>()?;
        Ok(Scan {
            temperatures: request.temperatures().to_vec(),
            values: Curves::new(&points),
            errors: None,
            overlaps: of_draws(self, machine, evidence, request)?,
            guarantee: Guarantee::Exact,
            diagnostics: Diagnostics::direct(),
        })
    }
}

/// One run for all temperatures: those that are asked for need not be levels of its ladder.
///
/// *Accuracy*: standard errors from a jackknife over blocks of independent runs. `converged` is false
/// where chains did not travel between the ends of the ladder, or where energies or magnetisations of
/// a temperature differ between runs.
impl Scanner for Temper {
    fn scan(&self, machine: &Machine, evidence: &Evidence, request: &ScanRequest) -> Result<Scan> {
        machine.check_evidence(evidence)?;
        let free: Vec<usize> = evidence.free().collect();
        let lowest = request.lowest();
        let cold = machine.clone().with_temperature(lowest)?;
        self.check(&cold, free.len(), self.scan_bytes(free.len(), request))?;
        let couplings = Arc::new(Couplings::new(&cold, &free));
        if couplings.are_none() {
            return self.scan_apart(machine, evidence, request);
        }
        let model = Model::new(&cold, evidence.cells(), &couplings);
        let start = match self.settings.temperatures {
            Some(_) => self.ladder(&cold),
            None => Ladder::of_scales(self.settings.levels.unwrap_or(FIRST_LEVELS), 1.0),
        };
        let Tuned { model, mut teams, ladder, centres, .. } = Tuned::new(&model, start, &self.settings, 0);
        let targets = request.temperatures().iter().map(|t| Target::new(&ladder, lowest / t)).collect();
        let plan = Plan {
            model: &model,
            ladder: &ladder,
            centres: &centres,
            schedule: self.schedule(),
            targets,
            bins: request.overlap.then(|| Bins::new(free.len())),
        };
        let fields = Fields::<1>::new(&cold, &couplings.order, &[evidence.cells()]);
        let constants = || Constants {
            lowest,
            hottest: ladder.hottest_log_z(&model),
            shift: fields.shifts[0],
            clamped: evidence.cells().iter().map(|&s| f64::from(s)).sum(),
        };
        let mut recorded: Vec<Vec<Block>> = teams.iter().map(|_| Vec::new()).collect();
        let before: Vec<usize> = teams.iter().map(|team| team.round_trips).collect();
        let mut segments = plan.schedule.segments();
        let (found, diagnostics) = loop {
            segments -= 1;
            let parts: Vec<Vec<Block>> = teams.par_iter_mut().map(|team| plan.record(team)).collect();
            recorded.iter_mut().zip(parts).for_each(|(all, part)| all.extend(part));
            let record = Record::new(&plan, constants(), &recorded);
            let found: Vec<Found> =
                (0..plan.targets.len()).into_par_iter().map(|target| record.thermal(target)).collect();
            let trips: Vec<usize> =
                teams.iter().zip(&before).map(|(team, before)| team.round_trips - before).collect();
            let mixing = record.mixing(&found, trips.iter().sum());
            let converged = have_travelled(&trips)
                && mixing.r_hat <= R_HAT_LIMIT
                && mixing.effective_samples >= LEAST_EFFECTIVE_SAMPLES.min(record.levels.count);
            if segments == 0 || (converged && mixing.effective_samples >= ENOUGH_SAMPLES) {
                break (found, Diagnostics { converged, mixing: Some(mixing), ..Diagnostics::direct() });
            }
        };
        let record = Record::new(&plan, constants(), &recorded);
        let overlap = |bins: Bins| -> Vec<Overlap> {
            (0..plan.targets.len()).into_par_iter().map(|target| record.overlap(target, bins)).collect()
        };
        let overlaps = plan.bins.map(overlap);
        let values: Vec<Point> = found.iter().map(|found| found.map(|number| number.mean)).collect();
        let errors: Vec<Point> = found.iter().map(with_rounding).collect();
        Ok(Scan {
            temperatures: request.temperatures().to_vec(),
            values: Curves::new(&values),
            errors: Some(Curves::new(&errors)),
            overlaps,
            guarantee: Guarantee::Estimate,
            diagnostics,
        })
    }
}

/// Standard errors; fields and weights are in single precision.
fn with_rounding(found: &Found) -> Point {
    let mut errors = found.map(|number| number.variance.sqrt());
    for k in [0, 1, 5] {
        errors[k] = errors[k].hypot(f64::from(f32::EPSILON) * found[k].mean.abs());
    }
    errors
}
