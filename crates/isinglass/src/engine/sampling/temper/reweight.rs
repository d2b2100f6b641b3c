//! Averages at a temperature between two levels, from the states of both.
//!
//! A state of weight W at scale 1 that was met at scale b counts `exp((b' − b) W)` at scale b'. Levels
//! whose states swap often are so near that these factors are of the same size. An average is that
//! from either level, in the shares of a line between the two.

use super::ladder::Ladder;

/// A scale of the energies between two levels of a ladder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Target {
    pub(super) scale: f64,
    /// The hotter of the two levels.
    pub(super) level: usize,
    /// What the colder level counts.
    pub(super) share: f64,
}

impl Target {
    /// Between the levels of a ladder of scales.
    pub(super) fn new(ladder: &Ladder, scale: f64) -> Self {
        let scales = |level: usize| ladder.points[level];
        let level = (1..ladder.levels() - 1).take_while(|&level| scales(level) <= scale).count();
        let (low, high) = (scales(level), scales(level + 1));
        let share = if high > low { ((scale - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
        Self { scale, level, share }
    }

    /// The two levels, each with what its states of weight W count: `exp(change · W)`.
    pub(super) fn sides(&self, ladder: &Ladder) -> [Side; 2] {
        [self.level, self.level + 1].map(|level| Side { level, change: self.scale - ladder.points[level] })
    }

    /// An average from those of the two levels.
    pub(super) fn mixed(&self, [hotter, colder]: [f64; 2]) -> f64 {
        hotter + self.share * (colder - hotter)
    }
}

/// A level near a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Side {
    pub(super) level: usize,
    pub(super) change: f64,
}

/// Sums of terms with weights of any size: `e^reference` times what is stored.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weighted {
    reference: f64,
    pub(super) sums: Vec<f64>,
}

impl Weighted {
    pub(super) fn zero(terms: usize) -> Self {
        Self { reference: f64::NEG_INFINITY, sums: vec![0.0; terms] }
    }

    /// The factor with which a term of some log-weight is to be added to the sums.
    #[inline]
    pub(super) fn factor(&mut self, log_weight: f64) -> f64 {
        if log_weight > self.reference {
            let scale = (self.reference - log_weight).exp();
            self.sums.iter_mut().for_each(|sum| *sum *= scale);
            self.reference = log_weight;
        }
        (log_weight - self.reference).exp()
    }
}

/// The sums of several blocks, and those of all together, with one reference.
pub(super) struct Gathered {
    pub(super) reference: f64,
    pub(super) all: Vec<f64>,
    blocks: Vec<Vec<f64>>,
}

impl Gathered {
    pub(super) fn new<'a>(blocks: impl Iterator<Item = &'a Weighted> + Clone) -> Self {
        let reference = blocks.clone().map(|block| block.reference).fold(f64::NEG_INFINITY, f64::max);
        let align = |block: &Weighted| -> Vec<f64> {
            let scale = (block.reference - reference).exp();
            block.sums.iter().map(|sum| scale * sum).collect()
        };
        let blocks: Vec<Vec<f64>> = blocks.map(align).collect();
        let mut all = vec![0.0; blocks.first().map_or(0, Vec::len)];
        for block in &blocks {
            all.iter_mut().zip(block).for_each(|(sum, part)| *sum += part);
        }
        Self { reference, all, blocks }
    }

    /// A sum over all blocks but one.
    pub(super) fn without(&self, block: Option<usize>, term: usize) -> f64 {
        self.all[term] - block.map_or(0.0, |block| self.blocks[block][term])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_lie_between_their_levels() {
        let ladder = Ladder::of_scales(5, 1.0);
        for (scale, level, share) in
            [(0.0, 0, 0.0), (0.1, 0, 0.4), (0.25, 1, 0.0), (0.9, 3, 0.6), (1.0, 3, 1.0)]
        {
            let target = Target::new(&ladder, scale);
            assert_eq!(target.level, level, "{scale}");
            assert!((target.share - share).abs() < 1e-12, "{scale}: {}", target.share);
        }
    }

    #[test]
    fn weights_of_any_size_add_up() {
        let mut sums = Weighted::zero(2);
        for (log, x) in [(-1e4, 1.0), (1e4, 2.0), (1e4 - 1.0, 3.0)] {
            let factor = sums.factor(log);
            sums.sums[0] += factor;
            sums.sums[1] += factor * x;
        }
        let small = (-1f64).exp();
        assert!((sums.sums[0] - (1.0 + small)).abs() < 1e-12);
        assert!((sums.sums[1] - (2.0 + 3.0 * small)).abs() < 1e-12);
        let gathered = Gathered::new([&sums, &Weighted::zero(2)].into_iter());
        assert_eq!(gathered.without(Some(1), 0), sums.sums[0]);
        assert_eq!((gathered.reference, gathered.without(Some(0), 1)), (1e4, 0.0));
    }
}
