//! The overlap of two independent replicas: `q = (1/n) Σ s_i^a s_i^b` over the n free units.

use crate::engine::Sampler;
use crate::{Evidence, Machine, Result};

use super::ScanRequest;

/// The distribution of the overlap of two replicas at one temperature.
///
/// In a spin glass it tells valleys apart where the magnetisation cannot (Parisi 1983).
#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    /// The temperature.
    pub temperature: f64,
    /// The middle of each bin.
    pub q: Vec<f64>,
    /// The probability of each bin.
    pub p: Vec<f64>,
    /// The standard error of each probability.
    pub p_error: Vec<f64>,
    /// The Binder ratio `½ (3 − ⟨q⁴⟩ / ⟨q²⟩²)` (Binder 1981): 1 where q² is fixed, 0 where q is
    /// normal.
    pub binder: f64,
    /// Its standard error.
    pub binder_error: f64,
}

/// The most bins; odd, so that bins lie symmetrically around 0.
const MOST_BINS: usize = 51;

/// Pairs of states that are drawn at each temperature.
const PAIRS: usize = 4096;

/// Blocks into which they are cut for errors.
const BLOCKS: usize = 32;

/// The bins of the overlap of some units: as few neighbouring values in each as can be, the same number in all
/// but the two at the ends, which may have fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) struct Bins {
    units: usize,
    /// Values of a bin.
    size: usize,
    count: usize,
}

impl Bins {
    pub(in crate::engine) fn new(units: usize) -> Self {
        let values = units + 1;
        let mut size = 1;
        loop {
            let mut count = values.div_ceil(size);
            // What is beyond the values has two equal ends.
            if !(count * size - values).is_multiple_of(2) {
                count += 1;
            }
            if count <= MOST_BINS && (count * size - values).is_multiple_of(2) {
                return Self { units, size, count };
            }
            size += 1;
        }
    }

    pub(in crate::engine) fn count(self) -> usize {
        self.count
    }

    /// The bin of two states that agree in some units; those of q and −q are mirror images.
    pub(in crate::engine) fn of(self, agree: usize) -> usize {
        let beyond = (self.count * self.size - (self.units + 1)) / 2;
        (agree + beyond) / self.size
    }

    /// The overlap of two states that agree in some units; 1 without units.
    pub(in crate::engine) fn overlap(self, agree: usize) -> f64 {
        if self.units == 0 { 1.0 } else { (2.0 * agree as f64) / self.units as f64 - 1.0 }
    }

    /// The middle of each bin.
    pub(in crate::engine) fn middles(self) -> Vec<f64> {
        let mut ends = vec![(usize::MAX, 0); self.count()];
        for agree in 0..=self.units {
            let (first, last) = &mut ends[self.of(agree)];
            *first = agree.min(*first);
            *last = agree;
        }
        let middle = |&(a, b): &(usize, usize)| f64::midpoint(self.overlap(a), self.overlap(b));
        ends.iter().map(middle).collect()
    }
}

/// The Binder ratio of the second and fourth moments.
pub(in crate::engine) fn binder(square: f64, fourth: f64) -> f64 {
    0.5 * (3.0 - fourth / (square * square))
}

/// The bytes of the draws for the overlaps of some units.
pub(in crate::engine) fn bytes_of_overlaps(units: usize, request: &ScanRequest) -> u128 {
    let table = 3 * 8 * request.temperatures.len() as u128 * MOST_BINS as u128;
    if request.overlap { 2 * PAIRS as u128 * units as u128 + table } else { 0 }
}

/// Overlaps of independent draws at each temperature, if they are wanted.
pub(in crate::engine) fn of_draws(
    engine: &dyn Sampler,
    machine: &Machine,
    evidence: &Evidence,
    request: &ScanRequest,
) -> Result<Option<Vec<Overlap>>> {
    if !request.overlap {
        return Ok(None);
    }
    let free: Vec<usize> = evidence.free().collect();
    let at = |(number, &temperature): (usize, &f64)| {
        let machine = machine.clone().with_temperature(temperature)?;
        let seed = request.seed.wrapping_add((number as u64) << 32);
        let draws = engine.draw(&machine, evidence, 2 * PAIRS, seed)?;
        let bins = Bins::new(free.len());
        let pair = |two: &[i8]| {
            let (a, b) = two.split_at(draws.units);
            free.iter().filter(|&&unit| a[unit] == b[unit]).count()
        };
        let agree: Vec<usize> = draws.cells.chunks_exact(2 * draws.units.max(1)).map(pair).collect();
        Ok(of_pairs(temperature, bins, &agree))
    };
    request.temperatures.iter().enumerate().map(at).collect::<Result<_>>().map(Some)
}

/// From the numbers of units in which independent pairs agree.
fn of_pairs(temperature: f64, bins: Bins, agree: &[usize]) -> Overlap {
    let count = agree.len() as f64;
    let mut p = vec![0.0; bins.count()];
    for &k in agree {
        p[bins.of(k)] += 1.0 / count;
    }
    // One more pair on each side, so that what never happened is not certain.
    let error = |p: &f64| {
        let p = (p * count + 1.0) / (count + 2.0);
        (p * (1.0 - p) / count).sqrt()
    };
    let power = |part: &[usize], exponent: i32| {
        part.iter().map(|&k| bins.overlap(k).powi(exponent)).sum::<f64>() / part.len().max(1) as f64
    };
    let all = binder(power(agree, 2), power(agree, 4));
    // A jackknife over blocks.
    let rest = |block: usize| {
        let (from, to) = (agree.len() * block / BLOCKS, agree.len() * (block + 1) / BLOCKS);
        let rest = [&agree[..from], &agree[to..]].concat();
        binder(power(&rest, 2), power(&rest, 4))
    };
    let spread: f64 = (0..BLOCKS).map(|block| (rest(block) - all).powi(2)).sum();
    let binder_error = (spread * (BLOCKS - 1) as f64 / BLOCKS as f64).sqrt();
    Overlap {
        temperature,
        q: bins.middles(),
        p_error: p.iter().map(error).collect(),
        p,
        binder: all,
        binder_error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_symmetric_and_hold_every_value() {
        for units in [0, 1, 2, 7, 50, 51, 64, 100, 257, 1000] {
            let bins = Bins::new(units);
            for agree in 0..=units {
                assert_eq!(bins.of(agree) + bins.of(units - agree), bins.count() - 1, "{units}: {agree}");
            }
            let mut sizes = vec![0; bins.count()];
            (0..=units).for_each(|agree| sizes[bins.of(agree)] += 1);
            assert!(bins.count() <= MOST_BINS && sizes.iter().all(|&size| (1..=bins.size).contains(&size)));
            assert!(sizes.len() < 3 || sizes[1..sizes.len() - 1].iter().all(|&size| size == bins.size));
            let middles = bins.middles();
            assert!(middles.windows(2).all(|two| two[0] < two[1]), "{units}: {middles:?}");
        }
    }
}
