//! Thermodynamics: the energy of every state once, its weight at each temperature.
//!
//! The states of up to [`LOW`] units make a table; the others are looped over. A table holds the
//! energies that the low units have among themselves; to it the fields of the high units are added.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};
use rayon::prelude::*;

use super::Enumerate;
use super::single::parts;
use crate::engine::Diagnostics;
use crate::engine::fields::Fields;
use crate::engine::scan::{Curves, Point, Scan, ScanRequest, Scanner, bytes_of_overlaps, of_draws, point};
use crate::numeric::lanes::exp_nonpositive;
use crate::{Evidence, Machine, Result, cancel};

/// Units whose states are in the table.
const LOW: usize = 10;

/// States side by side.
const LANES: usize = 8;

/// Sums over states: of w, w d, w d², w m, w m², with d the energy above the lowest and m = Σ s.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Sums([f64; 5]);

impl Sums {
    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a += b);
    }

    /// The same sums with energies above a level that is lower by some amount.
    fn above(&self, lower: f64, temperature: f64) -> Self {
        let Self([w, d, dd, m, mm]) = *self;
        let scale = (-lower / temperature).exp();
        Self([w, d + lower * w, dd + lower * (2.0 * d + lower * w), m, mm].map(|sum| scale * sum))
    }
}

/// Sums of some states at each temperature.
struct Part {
    /// The lowest energy.
    lowest: f64,
    sums: Vec<Sums>,
}

impl Part {
    fn merge(&mut self, other: &Self, temperatures: &[f64]) {
        let lowest = self.lowest.min(other.lowest);
        let (here, there) = (self.lowest - lowest, other.lowest - lowest);
        for ((sums, more), &t) in self.sums.iter_mut().zip(&other.sums).zip(temperatures) {
            *sums = sums.above(here, t);
            sums.add(&more.above(there, t));
        }
        self.lowest = lowest;
    }
}

/// The free units of a machine under evidence, at a temperature of 1.
struct Problem {
    fields: Vec<f64>,
    /// Couplings among the free units, by place.
    couplings: Vec<Vec<(usize, f64)>>,
    /// How many of them are in the table.
    low: usize,
    /// −Σ w s s over the low units, for each of their states: bit k is unit k.
    energies: Vec<f64>,
    /// Σ s over the low units.
    spins: Vec<f64>,
}

fn sign(state: usize, bit: usize) -> f64 {
    if state >> bit & 1 == 1 { 1.0 } else { -1.0 }
}

impl Problem {
    fn new(machine: &Machine, free: &[usize], fields: &Fields<1>) -> Self {
        let mut place = vec![usize::MAX; machine.unit_count()];
        free.iter().enumerate().for_each(|(k, &unit)| place[unit] = k);
        let mut couplings = vec![Vec::new(); free.len()];
        for (&(a, b), &w) in machine.graph().edges().iter().zip(machine.weights()) {
            if let (Some(a), Some(b)) = (free.get(place[a]), free.get(place[b])) {
                couplings[place[*a]].push((place[*b], w));
                couplings[place[*b]].push((place[*a], w));
            }
        }
        let temperature = machine.temperature();
        let low = free.len().min(LOW);
        let mut energies = vec![0.0];
        let mut spins = vec![0.0];
        for k in 0..low {
            let pull = |state: usize| -> f64 {
                couplings[k].iter().filter(|&&(j, _)| j < k).map(|&(j, w)| w * sign(state, j)).sum()
            };
            let pulls: Vec<f64> = (0..energies.len()).map(pull).collect();
            let both =
                [1.0, -1.0].iter().flat_map(|s| energies.iter().zip(&pulls).map(move |(e, p)| e + s * p));
            energies = both.collect();
            spins = [-1.0, 1.0].iter().flat_map(|s| spins.iter().map(move |sum| sum + s)).collect();
        }
        let fields = fields.free.iter().map(|field| temperature * field[0]).collect();
        Self { fields, couplings, low, energies, spins }
    }

    /// The tables to loop over.
    fn blocks(&self) -> usize {
        1 << (self.fields.len() - self.low)
    }

    /// The energies of the states of a table, and Σ s over its high units.
    fn table(&self, block: usize, out: &mut Vec<f64>) -> f64 {
        let high = self.low..self.fields.len();
        let spin = |unit: usize| sign(block, unit - self.low);
        let pull = |unit: usize, others: &dyn Fn(usize) -> bool| -> f64 {
            let around = self.couplings[unit].iter().filter(|&&(other, _)| others(other));
            self.fields[unit] + around.map(|&(other, w)| w * spin(other)).sum::<f64>()
        };
        let own: f64 = high.clone().map(|k| spin(k) * pull(k, &|other| self.low <= other && other < k)).sum();
        out.clear();
        out.push(-own);
        for k in 0..self.low {
            let field = pull(k, &|other| other >= self.low);
            out.extend_from_within(..);
            let (down, up) = out.split_at_mut(1 << k);
            for (down, up) in down.iter_mut().zip(up) {
                *down += field;
                *up -= field;
            }
        }
        out.iter_mut().zip(&self.energies).for_each(|(e, pairs)| *e += pairs);
        high.map(spin).sum()
    }

    /// The sums over some tables.
    fn sums(&self, blocks: std::ops::Range<usize>, temperatures: &[f64]) -> Part {
        let level = Level::new();
        let mut energies = Vec::new();
        let mut spins = vec![0.0; self.spins.len()];
        let mut all = Part { lowest: f64::INFINITY, sums: vec![Sums::default(); temperatures.len()] };
        for block in blocks {
            cancel::point();
            let high = self.table(block, &mut energies);
            let lowest = energies.iter().copied().fold(f64::INFINITY, f64::min);
            for energy in &mut energies {
                *energy -= lowest;
            }
            spins.iter_mut().zip(&self.spins).for_each(|(m, low)| *m = low + high);
            let at = |t: &f64| dispatch!(level, simd => weigh(simd, &energies, &spins, -1.0 / t));
            let part = Part { lowest, sums: temperatures.iter().map(at).collect() };
            if all.lowest == f64::INFINITY {
                all = part;
            } else {
                all.merge(&part, temperatures);
            }
        }
        all
    }
}

/// The sums of a table with weights `exp(slope d)`.
#[inline(always)]
fn weigh<S: Simd>(simd: S, energies: &[f64], spins: &[f64], slope: f64) -> Sums {
    let mut lanes = [f64x8::splat(simd, 0.0); 5];
    let (groups, rest) = energies.as_chunks::<LANES>();
    let (spin_groups, spin_rest) = spins.as_chunks::<LANES>();
    for (energies, spins) in groups.iter().zip(spin_groups) {
        let d = f64x8::load_array(simd, *energies);
        let m = f64x8::load_array(simd, *spins);
        let w = exp_nonpositive(simd, d * f64x8::splat(simd, slope));
        let (wd, wm) = (w * d, w * m);
        lanes[0] += w;
        lanes[1] += wd;
        lanes[2] = wd.mul_add(d, lanes[2]);
        lanes[3] += wm;
        lanes[4] = wm.mul_add(m, lanes[4]);
    }
    let mut sums = Sums(lanes.map(|lane| lane.to_array().iter().sum()));
    for (&d, &m) in rest.iter().zip(spin_rest) {
        let w = (slope * d).exp();
        sums.add(&Sums([w, w * d, w * d * d, w * m, w * m * m]));
    }
    sums
}

/// The energy of every state once; its weight at each temperature.
///
/// *Complexity*: 2^f × temperatures.
impl Scanner for Enumerate {
    fn scan(&self, machine: &Machine, evidence: &Evidence, request: &ScanRequest) -> Result<Scan> {
        let coldest = machine.clone().with_temperature(request.lowest())?;
        self.check_row(&coldest, evidence)?;
        self.budget.check(Self::NAME, bytes_of_overlaps(machine.unit_count(), request), || {
            "draws of two replicas".into()
        })?;
        let free: Vec<usize> = evidence.free().collect();
        let fields = Fields::<1>::new(machine, &free, &[evidence.cells()]);
        let problem = Problem::new(machine, &free, &fields);
        let temperatures = request.temperatures();
        let found: Vec<Part> =
            parts(problem.blocks()).map(|blocks| problem.sums(blocks, temperatures)).collect();
        let merge = |mut all: Part, part: Part| {
            all.merge(&part, temperatures);
            all
        };
        // Without high units there is one table.
        let Part { lowest, sums } = found.into_iter().reduce(merge).expect("a walk has a block");
        // The constant of every energy: clamped units and the offset.
        let lowest = lowest - machine.temperature() * fields.shifts[0];
        let clamped: f64 = evidence.cells().iter().map(|&s| f64::from(s)).sum();
        let at = |(&t, &Sums([w, d, dd, m, mm])): (&f64, &Sums)| {
            let (above, m) = (d / w, m / w);
            let energy = [lowest + above, (dd / w - above * above).max(0.0)];
            let spins = [clamped + m, (mm / w - m * m).max(0.0)];
            point(t, w.ln() - lowest / t, energy, spins)
        };
        let points: Vec<Point> = temperatures.iter().zip(&sums).map(at).collect();
        Ok(Scan {
            temperatures: temperatures.to_vec(),
            values: Curves::new(&points),
            errors: None,
            overlaps: of_draws(self, machine, evidence, request)?,
            guarantee: Self::guarantee(coldest.scale()),
            diagnostics: Diagnostics::direct(),
        })
    }
}
