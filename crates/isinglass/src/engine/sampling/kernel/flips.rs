//! One chain of a densely coupled machine: units in lanes, fields touched only where a unit flipped.
//!
//! Sixteen units are decided against noise that does not depend on the state: unit i becomes +1 where
//! its field exceeds `ln((1 − u)/u)`. Of those that would flip, the first does, the fields of the
//! sixteen change, and the rest is looked at again, so that the result is that of one unit after
//! the other. All other fields change once for the sixteen, along the rows of those that flipped.
//! A sweep costs a row for each flip in place of a row for each unit.

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*};

use super::{Couplings, Model};
use crate::cancel;
use crate::numeric::chance::{Generators, Sixteen, WIDTH, ln, uniform};
use crate::numeric::streams::{Purpose, stream};

/// Couplings as rows of a matrix, sixteen units to a block. The rows of a block hold the vectors
/// between its first and its last neighbour.
pub(super) struct Rows {
    blocks: Vec<Block>,
    entries: Vec<Sixteen>,
}

struct Block {
    /// The vectors that the rows span.
    first: usize,
    length: usize,
    /// Where the first row begins.
    start: usize,
}

/// What the flip of a unit that is down, and of one that is up, adds to its spin.
const CHANGES: [f32; 2] = [2.0, -2.0];

/// Multiplies the spin of one of sixteen units by −1.
static FLIPS: [Sixteen; WIDTH] = {
    let mut flips = [Sixteen([1.0; WIDTH]); WIDTH];
    let mut k = 0;
    while k < WIDTH {
        flips[k].0[k] = -1.0;
        k += 1;
    }
    flips
};

/// Single precision sums up so many terms in each lane before they go to double precision.
const TERMS: usize = 16;

/// Sweeps until the fields are computed anew, so that rounding does not pile up.
const REFRESH: usize = 32;

impl Rows {
    /// The rows, if following flips is cheaper than walking along all neighbours.
    ///
    /// Cycles for an update of one chain, fitted to measurements with AVX-512 on 100 to 800 units: along
    /// the neighbours 1 and a thirteenth for each (which chains share); by flips 6.5, and 1.4 for each
    /// vector of the row for each of the flips, about a quarter of the updates where couplings matter.
    pub(super) fn where_cheaper(couplings: &Couplings) -> Option<Self> {
        let units = couplings.len();
        let blocks = blocks(couplings);
        let neighbours: usize = (0..units).map(|place| couplings.around(place).len()).sum();
        let walks = units as f64 + neighbours as f64 / 13.0;
        let vectors: usize = blocks.iter().map(|block| WIDTH * block.length).sum();
        let flips = 6.5 * units as f64 + 0.25 * 1.4 * vectors as f64;
        (flips < walks).then(|| Self::new(couplings, blocks))
    }

    fn new(couplings: &Couplings, blocks: Vec<Block>) -> Self {
        let vectors = blocks.last().map_or(0, |block| block.start + WIDTH * block.length);
        let mut entries = vec![Sixteen::ZERO; vectors];
        for place in 0..couplings.len() {
            let block = &blocks[place / WIDTH];
            let start = block.start + (place % WIDTH) * block.length;
            for &(other, coupling) in couplings.around(place) {
                let other = other as usize;
                entries[start + other / WIDTH - block.first].0[other % WIDTH] = coupling;
            }
        }
        Self { blocks, entries }
    }

    /// The row of a place in its block.
    #[inline(always)]
    fn row(&self, block: &Block, place: usize) -> &[Sixteen] {
        let start = block.start + (place % WIDTH) * block.length;
        &self.entries[start..start + block.length]
    }

    /// The most bytes that rows take where they are the cheaper way.
    pub(super) fn most_bytes(units: usize, edges: usize) -> u128 {
        let vectors = (units as u128).div_ceil(WIDTH as u128);
        let all = vectors * vectors * (WIDTH * size_of::<Sixteen>()) as u128;
        // Rows are cheaper only while their vectors are at most half as many as the neighbours.
        all.min((edges * size_of::<Sixteen>()) as u128)
    }
}

/// The vectors that each block of sixteen spans: its own, and those of all neighbours.
fn blocks(couplings: &Couplings) -> Vec<Block> {
    let mut start = 0;
    let mut blocks = Vec::new();
    for number in 0..couplings.len().div_ceil(WIDTH) {
        let places = number * WIDTH..couplings.len().min((number + 1) * WIDTH);
        let (mut first, mut last) = (number, number);
        for place in places {
            if let [low, .., high] | [low @ high] = couplings.around(place) {
                first = first.min(low.0 as usize / WIDTH);
                last = last.max(high.0 as usize / WIDTH);
            }
        }
        let length = last - first + 1;
        blocks.push(Block { first, length, start });
        start += WIDTH * length;
    }
    blocks
}

/// A chain: spins, and the pull on each unit of its neighbours and of what is left of its field.
pub(super) struct Chain {
    pub(super) spins: Vec<Sixteen>,
    pulls: Vec<Sixteen>,
    generators: Generators,
    scale: f32,
    pub(super) log_weight: f64,
    /// Sweeps since the pulls were computed.
    age: usize,
}

impl Chain {
    /// In a random state, from a stream of its own.
    pub(super) fn new(units: usize, seed: u64, purpose: Purpose, number: u64) -> Self {
        use rand::Rng;
        let mut source = stream(seed, purpose, number);
        let generators = Generators::new(&mut source);
        let mut spins = vec![Sixteen::ZERO; units.div_ceil(WIDTH)];
        for place in 0..units {
            spins[place / WIDTH].0[place % WIDTH] = if source.next_u32() & 1 == 1 { 1.0 } else { -1.0 };
        }
        let pulls = vec![Sixteen::ZERO; spins.len()];
        Self { spins, pulls, generators, scale: 1.0, log_weight: 0.0, age: REFRESH }
    }

    pub(super) fn set_scale(&mut self, scale: f64) {
        self.scale = scale as f32;
    }

    /// Has the pulls computed anew by the next sweep.
    pub(super) fn forget_pulls(&mut self) {
        self.age = REFRESH;
    }

    /// Flips a unit from outside; pulls are computed anew by the next sweep.
    pub(super) fn flip(&mut self, place: usize) {
        let spin = &mut self.spins[place / WIDTH].0[place % WIDTH];
        *spin = -*spin;
        self.age = REFRESH;
    }

    /// Sets a spin from outside; pulls are computed anew by the next sweep.
    pub(super) fn set(&mut self, place: usize, up: bool) {
        self.spins[place / WIDTH].0[place % WIDTH] = if up { 1.0 } else { -1.0 };
        self.age = REFRESH;
    }
}

/// Updates every unit of every chain, a number of times. Chains take turns at the blocks, so that
/// rows are read from memory once for all of them. States are weighed at the end, if that is wanted.
pub(super) fn sweep<const WEIGH: bool>(
    level: Level,
    model: &Model,
    rows: &Rows,
    chains: &mut [Chain],
    sweeps: usize,
) {
    let (biases, shifts) = (padded(&model.biases), padded(&model.shifts));
    let mut drawn = vec![Drawn::NONE; chains.len()];
    for _ in 0..sweeps {
        cancel::point();
        dispatch!(level, simd => pass::<_, false>(simd, rows, &biases, &shifts, chains, &mut drawn));
    }
    if WEIGH {
        dispatch!(level, simd => weigh(simd, &shifts, chains));
    }
}

/// A sweep of all chains at each of some scales, by Metropolis' rule, which flips more often than the
/// heat bath.
pub(super) fn anneal(level: Level, model: &Model, rows: &Rows, chains: &mut [Chain], scales: &[f64]) {
    let (biases, shifts) = (padded(&model.biases), padded(&model.shifts));
    let mut drawn = vec![Drawn::NONE; chains.len()];
    for &scale in scales {
        cancel::point();
        for chain in &mut *chains {
            chain.set_scale(scale);
        }
        dispatch!(level, simd => pass::<_, true>(simd, rows, &biases, &shifts, chains, &mut drawn));
    }
}

/// Sixteen at a time. Padding is 0; the heat bath never flips it, and Metropolis' rule leaves it out.
fn padded(numbers: &[f32]) -> Vec<Sixteen> {
    let sixteen = |part: &[f32]| {
        let mut all = Sixteen::ZERO;
        all.0[..part.len()].copy_from_slice(part);
        all
    };
    numbers.chunks(WIDTH).map(sixteen).collect()
}

/// What the units of a block are decided against in one chain, and which of them would flip.
#[derive(Clone, Copy)]
struct Drawn {
    /// The field without the pull, less the noise.
    base: Sixteen,
    against: u64,
}

impl Drawn {
    const NONE: Self = Self { base: Sixteen::ZERO, against: 0 };
}

#[inline(always)]
fn pass<S: Simd, const METROPOLIS: bool>(
    simd: S,
    rows: &Rows,
    biases: &[Sixteen],
    shifts: &[Sixteen],
    chains: &mut [Chain],
    drawn: &mut [Drawn],
) {
    refresh(simd, rows, shifts, chains);
    let zero = f32x16::splat(simd, 0.0);
    for number in 0..rows.blocks.len() {
        // Noise for all chains first: without branches between them, their latencies overlap.
        for (chain, drawn) in chains.iter_mut().zip(&mut *drawn) {
            let mut random = chain.generators.load(simd);
            let u = uniform(simd, &mut random);
            chain.generators.store(random);
            let spins = chain.spins[number].load(simd);
            let noise = if METROPOLIS {
                // −ln u is above s·field with probability min(1, e^(−s·field)).
                spins * (zero - ln(simd, u))
            } else {
                ln(simd, (f32x16::splat(simd, 1.0) - u) / u)
            };
            let base = biases[number].load(simd) - noise;
            drawn.base.store(base);
            let scale = f32x16::splat(simd, chain.scale);
            let field = chain.pulls[number].load(simd).mul_add(scale, base);
            drawn.against = (field * spins).simd_lt(zero).to_bitmask();
        }
        for (chain, drawn) in chains.iter_mut().zip(&*drawn) {
            if drawn.against != 0 {
                flip(simd, rows, number, chain, drawn);
            }
        }
    }
}

/// Flips those of sixteen units that disagree with the sign of field − noise, one after the other.
#[inline(always)]
fn flip<S: Simd>(simd: S, rows: &Rows, number: usize, chain: &mut Chain, drawn: &Drawn) {
    let zero = f32x16::splat(simd, 0.0);
    let block = &rows.blocks[number];
    let own = number - block.first;
    let scale = f32x16::splat(simd, chain.scale);
    let base = drawn.base.load(simd);
    let mut pull = chain.pulls[number].load(simd);
    // Spins stay in registers: a store of one followed by a load of all would stall.
    let mut spins = chain.spins[number].load(simd);
    let up = spins.simd_gt(zero).to_bitmask();
    let mut flipped = [(0, 0.0f32); WIDTH];
    let mut count = 0;
    let mut left = u64::MAX;
    let mut bits = drawn.against;
    while bits != 0 {
        let k = bits.trailing_zeros() as usize;
        let change = CHANGES[(up >> k & 1) as usize];
        spins *= FLIPS[k].load(simd);
        flipped[count] = (k, change);
        count += 1;
        let row = rows.row(block, k);
        pull = row[own].load(simd).mul_add(f32x16::splat(simd, change), pull);
        left &= u64::MAX << (k + 1);
        bits = (pull.mul_add(scale, base) * spins).simd_lt(zero).to_bitmask() & left;
    }
    chain.spins[number].store(spins);
    let pulls = &mut chain.pulls[block.first..block.first + block.length];
    for few in flipped[..count].chunks(4) {
        match *few {
            [a] => add_rows(simd, rows, block, [a], pulls),
            [a, b] => add_rows(simd, rows, block, [a, b], pulls),
            [a, b, c] => add_rows(simd, rows, block, [a, b, c], pulls),
            [a, b, c, d] => add_rows(simd, rows, block, [a, b, c, d], pulls),
            _ => {}
        }
    }
}

/// Adds multiples of some rows of a block to the pulls.
#[inline(always)]
fn add_rows<S: Simd, const N: usize>(
    simd: S,
    rows: &Rows,
    block: &Block,
    flipped: [(usize, f32); N],
    pulls: &mut [Sixteen],
) {
    // Not by `map`, which the compiler leaves as a call.
    let mut parts: [&[Sixteen]; N] = [&[]; N];
    let mut changes = [f32x16::splat(simd, 0.0); N];
    for (n, (k, change)) in flipped.into_iter().enumerate() {
        parts[n] = &rows.row(block, k)[..pulls.len()];
        changes[n] = f32x16::splat(simd, change);
    }
    for (at, pull) in pulls.iter_mut().enumerate() {
        let mut sum = pull.load(simd);
        for k in 0..N {
            sum = parts[k][at].load(simd).mul_add(changes[k], sum);
        }
        pull.store(sum);
    }
}

/// Computes the pulls of old chains from their spins; rows are read from memory once for all of them.
#[inline(always)]
fn refresh<S: Simd>(simd: S, rows: &Rows, shifts: &[Sixteen], chains: &mut [Chain]) {
    let is_old = |chain: &Chain| chain.age >= REFRESH;
    if chains.iter().any(is_old) {
        for chain in chains.iter_mut().filter(|chain| is_old(chain)) {
            chain.pulls.copy_from_slice(shifts);
        }
        for (number, block) in rows.blocks.iter().enumerate() {
            for chain in chains.iter_mut().filter(|chain| is_old(chain)) {
                let pulls = &mut chain.pulls[block.first..block.first + block.length];
                let spins = chain.spins[number].0;
                for four in 0..WIDTH / 4 {
                    let terms: [(usize, f32); 4] =
                        std::array::from_fn(|k| (4 * four + k, spins[4 * four + k]));
                    add_rows(simd, rows, block, terms, pulls);
                }
            }
        }
    }
    for chain in chains {
        chain.age = if is_old(chain) { 1 } else { chain.age + 1 };
    }
}

/// The weights of the states: half the pull of the neighbours on each unit belongs to it.
#[inline(always)]
fn weigh<S: Simd>(simd: S, shifts: &[Sixteen], chains: &mut [Chain]) {
    let zero = f32x16::splat(simd, 0.0);
    for chain in chains {
        let (mut part, mut sum) = (zero, 0.0);
        for (at, spins) in chain.spins.iter().enumerate() {
            let spins = spins.load(simd);
            part = spins.mul_add(chain.pulls[at].load(simd) + shifts[at].load(simd), part);
            if at % TERMS == TERMS - 1 || at + 1 == chain.spins.len() {
                sum += total(part);
                part = zero;
            }
        }
        // All is stored twice as large, each pair is met twice, and so is each shift.
        chain.log_weight = 0.25 * sum;
    }
}

/// The sum of sixteen numbers in double precision.
#[inline(always)]
fn total<S: Simd>(terms: f32x16<S>) -> f64 {
    terms.to_array().into_iter().map(f64::from).sum()
}
