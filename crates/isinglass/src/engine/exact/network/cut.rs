//! Large buckets cut into tasks, the same on any number of threads.
//!
//! The states of a bucket are dealt out by some of their high bits. A large incoming table that is
//! over these bits falls into parts, one for each task, so that tasks can add to its adjoint at the
//! same time. Of a small table, each task has a copy; the copies are added in the order of the tasks.

use super::plan::Child;

/// Buckets with fewer numbers are one task.
const LEAST: usize = 1 << 15;

/// The most bits: eight tasks.
const MOST: usize = 3;

/// A table with fewer units than the bucket, by so many, is copied.
const FEWER: usize = 7;

/// The bits whose values number the tasks, as bits of a block's number; rising.
pub(super) struct Cut {
    bits: Vec<usize>,
    low: usize,
    /// log₂ of the rows side by side.
    rows: usize,
    units: usize,
}

impl Cut {
    /// For a bucket over some units of which the lowest make a block, with its incoming tables.
    pub(super) fn new<'c>(
        (units, low, rows): (usize, usize, usize),
        children: &(impl Iterator<Item = &'c Child> + Clone),
    ) -> Self {
        let rows = rows.ilog2() as usize;
        let mut cut = Self { bits: Vec::new(), low, rows, units };
        if 1 << (units + rows) >= LEAST {
            let is_shared = |bit: usize| {
                let mut large = children.clone().filter(|child| !cut.is_copied(child));
                large.all(|child| child.mask >> (low + bit) & 1 == 1)
            };
            let mut bits: Vec<usize> =
                (0..units - low).rev().filter(|&bit| is_shared(bit)).take(MOST).collect();
            bits.reverse();
            cut.bits = bits;
        }
        cut
    }

    pub(super) fn tasks(&self) -> usize {
        1 << self.bits.len()
    }

    /// The blocks of a task, rising.
    pub(super) fn blocks(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        let insert = move |number: usize, (place, &bit): (usize, &usize)| {
            let below = number & ((1 << bit) - 1);
            (number - below) << 1 | (task >> place & 1) << bit | below
        };
        let count = 1 << (self.units - self.low - self.bits.len());
        (0..count).map(move |number| self.bits.iter().enumerate().fold(number, insert))
    }

    /// Whether each task has a copy of a table.
    pub(super) fn is_copied(&self, child: &Child) -> bool {
        child.bits() + FEWER <= self.units
    }

    /// The adjoint of an incoming table as each task sees it.
    pub(super) fn deal<'t>(&self, child: &Child, table: &'t mut [f64]) -> Vec<Share<'t>> {
        let tasks = self.tasks();
        if tasks == 1 {
            return vec![Share { chunks: Chunks::Whole(table), bits: 0, taken: Vec::new() }];
        }
        if self.is_copied(child) {
            let copy = |_| Share { chunks: Chunks::Copy(vec![0.0; table.len()]), bits: 0, taken: Vec::new() };
            return (0..tasks).map(copy).collect();
        }
        let places: Vec<usize> =
            self.bits.iter().map(|bit| child.place(self.low + bit) + self.rows).collect();
        let bits = places[0];
        let taken: Vec<usize> = places.iter().map(|place| place - bits).collect();
        let mut lists: Vec<Vec<&mut [f64]>> = (0..tasks).map(|_| Vec::new()).collect();
        for (number, chunk) in table.chunks_mut(1 << bits).enumerate() {
            let task = taken.iter().enumerate().map(|(k, &bit)| (number >> bit & 1) << k).sum::<usize>();
            lists[task].push(chunk);
        }
        let share = |list| Share { chunks: Chunks::Parts(list), bits, taken: taken.clone() };
        lists.into_iter().map(share).collect()
    }
}

enum Chunks<'t> {
    /// The table itself.
    Whole(&'t mut [f64]),
    /// Its chunks that are the task's.
    Parts(Vec<&'t mut [f64]>),
    /// A table of the same size, to be added.
    Copy(Vec<f64>),
}

/// What a task sees of a table.
pub(super) struct Share<'t> {
    chunks: Chunks<'t>,
    /// log₂ of the numbers in a chunk.
    bits: usize,
    /// The bits of a chunk's number that are the same for all of the task's; rising.
    taken: Vec<usize>,
}

impl Share<'_> {
    /// Sets all numbers to 0.
    pub(super) fn clear(&mut self) {
        match &mut self.chunks {
            Chunks::Whole(table) => table.fill(0.0),
            Chunks::Parts(parts) => parts.iter_mut().for_each(|part| part.fill(0.0)),
            Chunks::Copy(_) => {}
        }
    }

    /// The numbers from a place of the table on, as far as they follow each other.
    #[inline(always)]
    pub(super) fn from(&mut self, place: usize) -> &mut [f64] {
        match &mut self.chunks {
            Chunks::Whole(table) => &mut table[place..],
            Chunks::Copy(table) => &mut table[place..],
            Chunks::Parts(parts) => {
                let mut number = place >> self.bits;
                for &bit in self.taken.iter().rev() {
                    let below = number & ((1 << bit) - 1);
                    number = (number >> (bit + 1)) << bit | below;
                }
                &mut parts[number][place & ((1 << self.bits) - 1)..]
            }
        }
    }

    /// The copy, if it is one.
    pub(super) fn into_copy(self) -> Option<Vec<f64>> {
        match self.chunks {
            Chunks::Copy(copy) => Some(copy),
            _ => None,
        }
    }
}
