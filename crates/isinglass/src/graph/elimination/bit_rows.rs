//! Rows of bits for greedy elimination on small graphs.

use super::super::Graph;
use super::super::shrinking::Rows;

/// A matrix of bits: whole rows are compared 64 vertices at a time.
#[derive(Debug)]
pub(super) struct BitRows {
    words: usize,
    bits: Vec<u64>,
    degrees: Vec<u32>,
}

impl BitRows {
    fn row(&self, v: u32) -> &[u64] {
        &self.bits[v as usize * self.words..][..self.words]
    }

    fn flip(&mut self, v: u32, other: u32) {
        self.bits[v as usize * self.words + other as usize / 64] ^= 1 << (other % 64);
    }
}

impl Rows for BitRows {
    const LOOKUP: usize = 1;

    fn of(graph: &Graph) -> Self {
        let n = graph.unit_count();
        let words = n.div_ceil(64);
        let degrees = (0..n).map(|v| graph.degree(v) as u32).collect();
        let mut rows = Self { words, bits: vec![0; n * words], degrees };
        for &(a, b) in graph.edges() {
            rows.flip(a as u32, b as u32);
            rows.flip(b as u32, a as u32);
        }
        rows
    }

    fn degree(&self, v: u32) -> usize {
        self.degrees[v as usize] as usize
    }

    fn extend_with_row(&mut self, v: u32, out: &mut Vec<u32>) {
        for_bits(self.row(v).iter().copied(), |other| out.push(other));
    }

    fn joined(&self, a: u32, b: u32) -> bool {
        self.row(a)[b as usize / 64] >> (b % 64) & 1 == 1
    }

    fn extend_with_common(&mut self, a: u32, b: u32, out: &mut Vec<u32>) -> usize {
        let start = out.len();
        for_bits(self.row(a).iter().zip(self.row(b)).map(|(x, y)| x & y), |other| out.push(other));
        self.words + out.len() - start
    }

    fn join(&mut self, a: u32, b: u32) {
        for (v, other) in [(a, b), (b, a)] {
            self.flip(v, other);
            self.degrees[v as usize] += 1;
        }
    }

    fn lose(&mut self, v: u32) {
        for word in 0..self.words {
            for_bits([self.bits[v as usize * self.words + word]].into_iter(), |bit| {
                let other = word as u32 * 64 + bit;
                self.flip(other, v);
                self.degrees[other as usize] -= 1;
            });
        }
        self.bits[v as usize * self.words..][..self.words].fill(0);
        self.degrees[v as usize] = 0;
    }
}

/// Visits the positions of the bits that are set.
fn for_bits(words: impl Iterator<Item = u64>, mut visit: impl FnMut(u32)) {
    for (k, mut word) in words.enumerate() {
        while word != 0 {
            visit(k as u32 * 64 + word.trailing_zeros());
            word &= word - 1;
        }
    }
}
