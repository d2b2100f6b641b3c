//! Messages between free units, and the sweeps that update them: one row of evidence, or eight.
//!
//! With one row a vector holds eight messages of a level; with eight rows, one message of each row.
//! Operations are the same, so that a row has the same bits alone and in a batch.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};

use super::wiring::{Links, Wiring};
use crate::engine::Schedule;
use crate::numeric::lanes::{LANES, exp_nonpositive, ln_1p_of_share};

/// Beyond this size, tanh is ±1 to the last digit; larger fields count as this.
const CERTAIN: f64 = 20.0;

/// `artanh(tanh v tanh h) = ½ [ln cosh(h + v) − ln cosh(h − v)]`, the message through a coupling v.
///
/// Computed as `± (min(|h|, |v|) − ½ ln (1 + e^(−2||h| − |v||)) / (1 + e^(−2(|h| + |v|))))`,
/// without overflow or cancellation; absolute error below 1e-15.
#[inline(always)]
pub(super) fn message<S: Simd>(simd: S, v: f64x8<S>, h: f64x8<S>) -> f64x8<S> {
    let minus_two = f64x8::splat(simd, -2.0);
    let (a, b) = (v.abs(), h.abs());
    let least = a.min(b);
    let sum = exp_nonpositive(simd, (a + b) * minus_two);
    let difference = exp_nonpositive(simd, (a - b).abs() * minus_two);
    let share = (difference - sum) / (sum + f64x8::splat(simd, 1.0));
    let size = ln_1p_of_share(simd, share).mul_add(f64x8::splat(simd, -0.5), least);
    // Rounding must not exceed bounds that hold for every v and h.
    size.max(f64x8::splat(simd, 0.0)).min(least).copysign(v * h)
}

/// Returns the distance of two messages or fields, clipped where tanh is ±1.
#[inline(always)]
pub(super) fn distance<S: Simd>(simd: S, x: f64x8<S>, y: f64x8<S>) -> f64x8<S> {
    let (low, high) = (f64x8::splat(simd, -CERTAIN), f64x8::splat(simd, CERTAIN));
    (x.max(low).min(high) - y.max(low).min(high)).abs()
}

/// [`distance`] of plain numbers.
pub(super) fn plain_distance(x: f64, y: f64) -> f64 {
    (x.clamp(-CERTAIN, CERTAIN) - y.clamp(-CERTAIN, CERTAIN)).abs()
}

/// Loads a vector: one row at eight places, or eight rows at one place.
#[inline(always)]
pub(super) fn gather<S: Simd, const N: usize>(
    simd: S,
    from: &[[f64; N]],
    place: impl Fn(usize) -> usize,
) -> f64x8<S> {
    if N == LANES {
        return f64x8::from_slice(simd, &from[place(0)]);
    }
    assembled(simd, |lane| from[place(lane / N)][lane % N])
}

/// Loads a vector of one number per link, the same for all rows.
#[inline(always)]
pub(super) fn spread<S: Simd, const N: usize>(
    simd: S,
    from: &[f64],
    place: impl Fn(usize) -> usize,
) -> f64x8<S> {
    if N == LANES {
        return f64x8::splat(simd, from[place(0)]);
    }
    assembled(simd, |lane| from[place(lane / N)])
}

/// A vector from its lanes. A loop, since `array::from_fn` is a call in code for other processors.
#[inline(always)]
fn assembled<S: Simd>(simd: S, lane: impl Fn(usize) -> f64) -> f64x8<S> {
    let mut lanes = [0.0; LANES];
    for (place, x) in lanes.iter_mut().enumerate() {
        *x = lane(place);
    }
    f64x8::load_array(simd, lanes)
}

/// Returns the number of links in a vector.
pub(super) const fn at_once(rows: usize) -> usize {
    LANES / rows
}

/// Returns the lanes of a vector.
#[inline(always)]
pub(super) fn lanes_of<S: Simd>(vector: f64x8<S>) -> [f64; LANES] {
    let mut lanes = [0.0; LANES];
    vector.store_array(&mut lanes);
    lanes
}

/// Returns the largest lane of each row.
#[inline(always)]
pub(super) fn largest<S: Simd, const N: usize>(vector: f64x8<S>) -> [f64; N] {
    let mut most = [0.0; N];
    for (lane, x) in lanes_of(vector).into_iter().enumerate() {
        most[lane % N] = f64::max(most[lane % N], x);
    }
    most
}

/// The parameters of a sweep.
#[derive(Clone, Copy)]
pub(super) struct Step<const N: usize> {
    pub(super) schedule: Schedule,
    /// The factor of couplings and fields: below 1 at a higher temperature.
    pub(super) scale: f64,
    /// The share of the old message that each row keeps; 1 for a row that has ended.
    pub(super) keep: [f64; N],
}

/// Fields and messages of the rows.
pub(super) struct Messages<'a, const N: usize> {
    pub(super) wiring: &'a Wiring,
    /// The field on the unit at each place, with clamped neighbours, divided by T.
    pub(super) fields: Vec<[f64; N]>,
    /// The same plus all messages, as they were when the unit was updated.
    pub(super) totals: Vec<[f64; N]>,
    /// The message through each forward link.
    pub(super) ahead: Vec<[f64; N]>,
    /// The message through each backward link.
    pub(super) back: Vec<[f64; N]>,
}

impl<'a, const N: usize> Messages<'a, N> {
    pub(super) fn bytes(free: usize, links: usize, schedule: Schedule) -> u128 {
        let copies = if schedule == Schedule::Parallel { 3 } else { 2 };
        8 * N as u128 * (2 * free as u128 + copies * links as u128)
    }

    /// Sets all messages to 0.
    pub(super) fn new(wiring: &'a Wiring, fields_by_local: &[[f64; N]]) -> Self {
        let links = wiring.edges.len();
        Self {
            wiring,
            fields: wiring.locals.iter().map(|&k| fields_by_local[k as usize]).collect(),
            totals: vec![[0.0; N]; wiring.locals.len()],
            ahead: vec![[0.0; N]; links],
            back: vec![[0.0; N]; links],
        }
    }

    /// Sets the messages of units with these cavity fields.
    pub(super) fn begin(&mut self, scale: f64, cavity: impl Fn(usize, [f64; N]) -> [f64; N]) {
        self.ahead.fill([0.0; N]);
        self.back.fill([0.0; N]);
        for (place, (total, field)) in self.totals.iter_mut().zip(&self.fields).enumerate() {
            *total = cavity(place, field.map(|h| h * scale));
        }
        let step = Step { schedule: Schedule::Parallel, scale, keep: [0.0; N] };
        dispatch!(Level::new(), simd => self.flood(simd, step));
    }

    /// Shifts all messages of each unit.
    pub(super) fn nudge(&mut self, scale: f64, push: impl Fn(usize) -> f64) {
        let Wiring { ahead, back, .. } = self.wiring;
        for (links, messages) in [(ahead, &mut self.ahead), (back, &mut self.back)] {
            for (link, message) in messages.iter_mut().enumerate() {
                let shift = push(links.senders[link] as usize) * (links.couplings[link] * scale).tanh();
                *message = message.map(|u| u + shift);
            }
        }
    }

    /// Updates every message once. Returns the largest residual before the update, for each row.
    pub(super) fn sweep(&mut self, step: Step<N>) -> [f64; N] {
        match step.schedule {
            Schedule::Sequential => dispatch!(Level::new(), simd => self.sequential(simd, step)),
            Schedule::Parallel => dispatch!(Level::new(), simd => {
                self.add_up(0..self.totals.len(), step.scale);
                self.flood(simd, step)
            }),
        }
    }

    /// Updates backward messages from the last level, then forward ones from the first.
    #[inline(always)]
    fn sequential<S: Simd>(&mut self, simd: S, step: Step<N>) -> [f64; N] {
        let Wiring { ahead, back, levels, .. } = self.wiring;
        let mut change = f64x8::splat(simd, 0.0);
        let level = |k: usize| levels[k] as usize..levels[k + 1] as usize;
        for k in (0..levels.len() - 1).rev() {
            self.add_up(level(k), step.scale);
            let links = back.of(level(k));
            change = send(simd, back, links, &mut self.back, &self.ahead, &self.totals, step, change);
        }
        for k in 0..levels.len() - 1 {
            self.add_up(level(k), step.scale);
            let links = ahead.of(level(k));
            change = send(simd, ahead, links, &mut self.ahead, &self.back, &self.totals, step, change);
        }
        largest(change)
    }

    /// Computes the total fields of some places: their fields plus the messages that arrive.
    #[inline(always)]
    pub(super) fn add_up(&mut self, places: Range<usize>, scale: f64) {
        let Self { wiring, fields, totals, ahead, back } = self;
        for place in places {
            let mut sum = fields[place].map(|h| h * scale);
            for (links, incoming) in [(&wiring.ahead, &*back), (&wiring.back, &*ahead)] {
                for &mirror in &links.mirrors[links.of(place..place + 1)] {
                    for (sum, u) in sum.iter_mut().zip(&incoming[mirror as usize]) {
                        *sum += u;
                    }
                }
            }
            totals[place] = sum;
        }
    }

    /// Updates all messages at once from the current totals.
    #[inline(always)]
    fn flood<S: Simd>(&mut self, simd: S, step: Step<N>) -> [f64; N] {
        let Wiring { ahead, back, edges, .. } = self.wiring;
        let all = 0..edges.len();
        let mut renewed = self.ahead.clone();
        let change = f64x8::splat(simd, 0.0);
        let change = send(simd, ahead, all.clone(), &mut renewed, &self.back, &self.totals, step, change);
        let change = send(simd, back, all, &mut self.back, &self.ahead, &self.totals, step, change);
        self.ahead = renewed;
        largest(change)
    }
}

/// Updates the messages of some links from the totals of the senders and the opposite messages.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the parts of one state, borrowed apart")]
fn send<S: Simd, const N: usize>(
    simd: S,
    links: &Links,
    range: Range<usize>,
    messages: &mut [[f64; N]],
    against: &[[f64; N]],
    totals: &[[f64; N]],
    step: Step<N>,
    mut change: f64x8<S>,
) -> f64x8<S> {
    let scale = f64x8::splat(simd, step.scale);
    let keep = assembled(simd, |lane| step.keep[lane % N]);
    let take = f64x8::splat(simd, 1.0) - keep;
    let mut next = range.start;
    while next < range.end {
        // Lanes beyond the last link repeat it.
        let link = |lane: usize| (next + lane).min(range.end - 1);
        let v = spread::<S, N>(simd, &links.couplings, link) * scale;
        let total = gather(simd, totals, |lane| links.senders[link(lane)] as usize);
        let incoming = gather(simd, against, |lane| links.mirrors[link(lane)] as usize);
        let old = gather(simd, messages, link);
        let new = message(simd, v, total - incoming);
        change = change.max(distance(simd, new, old));
        let lanes = lanes_of(old * keep + new * take);
        let count = at_once(N).min(range.end - next);
        for (k, message) in messages[next..next + count].iter_mut().enumerate() {
            for (row, u) in message.iter_mut().enumerate() {
                *u = lanes[k * N + row];
            }
        }
        next += count;
    }
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::stable::log_cosh;

    #[inline(always)]
    fn messages_of<S: Simd>(simd: S, v: [f64; LANES], h: [f64; LANES]) -> [f64; LANES] {
        lanes_of(message(simd, f64x8::load_array(simd, v), f64x8::load_array(simd, h)))
    }

    #[test]
    fn a_message_is_the_inverse_tanh_of_a_product_of_tanh() {
        let sizes = [0.0, 1e-9, 0.01, 0.3, 1.0, 3.0, 20.0, 800.0];
        for v in sizes.into_iter().chain(sizes.map(|x| -x)) {
            for sign in [1.0, -1.0] {
                let h = sizes.map(|x| sign * x);
                let found = dispatch!(Level::new(), simd => messages_of(simd, [v; LANES], h));
                for (h, u) in h.into_iter().zip(found) {
                    let expected = 0.5 * (log_cosh(h + v) - log_cosh(h - v));
                    let size = h.abs().max(v.abs()).max(1.0);
                    assert!((u - expected).abs() <= 4e-16 * size, "v {v}, h {h}: {u}, not {expected}");
                    assert!((u.tanh() - v.tanh() * h.tanh()).abs() < 1e-15);
                    assert!(u.abs() <= h.abs().min(v.abs()));
                }
            }
        }
    }
}
