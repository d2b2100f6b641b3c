//! Loopy max-product on the core; states are decoded during the iteration. Up to `N` rows.
//!
//! Decisions are made for each row by itself, so that its answer is independent of other rows.

use fearless_simd::{Level, Simd, dispatch};

use super::MaxProduct;
use super::decoding::Decoder;
use super::plan::Plan;
use super::solver::Solved;
use super::trees::{Forest, message};
use crate::cancel;
use crate::engine::{Diagnostics, Iteration};
use crate::numeric::streams::{Purpose, stream};

/// States are decoded after each of the first sweeps, later after each further sixth.
const SELDOM: usize = 6;

/// Messages between the places of a core.
struct Messages<'a, const N: usize> {
    plan: &'a Plan,
    /// The field on each place.
    fields: Vec<[f64; N]>,
    /// The message that arrives through each link.
    incoming: Vec<[f64; N]>,
}

/// Searches the core from all messages 0 and from given states. Rows from `rows` on are empty.
pub(super) fn search<const N: usize>(
    (plan, forests): (&Plan, &[Forest]),
    settings: &MaxProduct,
    fields: &[[f64; N]],
    mut states: Vec<[f64; N]>,
    rows: usize,
) -> Solved<N> {
    let mut messages = Messages::new(plan, fields);
    let mut decoders: Vec<Decoder<'_>> = (0..rows)
        .map(|row| {
            let mut decoder = Decoder::new(plan, forests, fields.iter().map(|field| field[row]).collect());
            decoder.offer(states.iter().map(|state| state[row]));
            decoder.decode(|place| messages.fields[place][row], |link| messages.incoming[link][row]);
            decoder
        })
        .collect();
    let target = settings.tolerance * plan.strongest;
    let mut residuals = [f64::INFINITY; N];
    let mut sweeps = [0; N];
    let mut keep = [1.0; N];
    keep[..rows].fill(settings.damping);
    let mut due = 1;
    for sweep in 1..=settings.max_sweeps {
        cancel::point();
        let is_last = sweep == settings.max_sweeps;
        let change = messages.sweep(keep, sweep % 2 == 0);
        let is_due = sweep == due || is_last;
        if is_due {
            due += due.div_ceil(SELDOM);
        }
        for (row, decoder) in decoders.iter_mut().enumerate() {
            if keep[row] == 1.0 {
                continue;
            }
            (residuals[row], sweeps[row]) = (change[row], sweep);
            let rests = change[row] <= target;
            if is_due || rests {
                decoder.decode(|place| messages.fields[place][row], |link| messages.incoming[link][row]);
            }
            if rests {
                keep[row] = 1.0;
            }
        }
        if keep[..rows].iter().all(|&keep| keep == 1.0) {
            break;
        }
    }
    let mut diagnostics = std::array::from_fn(|_| Diagnostics::direct());
    for (row, decoder) in decoders.iter_mut().enumerate() {
        // The same stream for every row, so that its answer is independent of other rows.
        decoder.restart(settings.restarts, &mut stream(settings.seed, Purpose::Restarts, 0));
        for (state, best) in states.iter_mut().zip(decoder.best()) {
            state[row] = *best;
        }
        let residual = residuals[row];
        let iteration =
            Iteration { sweeps: sweeps[row], residual, damping: settings.damping, oscillated: false };
        diagnostics[row] = Diagnostics::iterated(residual <= target, iteration);
    }
    Solved { states, diagnostics }
}

impl<'a, const N: usize> Messages<'a, N> {
    /// Sets all messages to 0.
    ///
    /// In a connected part without fields a state and its mirror image are equally good and
    /// messages stay 0; so its anchor gets a field.
    fn new(plan: &'a Plan, fields: &[[f64; N]]) -> Self {
        let mut fields = fields.to_vec();
        let mut has_field = vec![[false; N]; plan.anchors.len()];
        for (field, &part) in fields.iter().zip(&plan.parts) {
            for (has_field, h) in has_field[part as usize].iter_mut().zip(field) {
                *has_field |= *h != 0.0;
            }
        }
        for (has_field, &anchor) in has_field.iter().zip(&plan.anchors) {
            for (field, has_field) in fields[anchor as usize].iter_mut().zip(has_field) {
                if !has_field {
                    *field = 2.0 * plan.strengths[anchor as usize];
                }
            }
        }
        Self { plan, fields, incoming: vec![[0.0; N]; plan.links.len()] }
    }

    /// Updates every message once, place by place. Returns the largest residual of each row.
    ///
    /// *Arguments*: the share of the old message that each row keeps; whether to begin at the end.
    fn sweep(&mut self, keep: [f64; N], backwards: bool) -> [f64; N] {
        dispatch!(Level::new(), simd => self.pass(simd, keep, backwards))
    }

    #[inline(always)]
    fn pass<S: Simd>(&mut self, _simd: S, keep: [f64; N], backwards: bool) -> [f64; N] {
        let Self { plan, fields, incoming } = self;
        let mut change = [0.0; N];
        for step in 0..plan.core {
            let place = if backwards { plan.core - 1 - step } else { step };
            let range = plan.links_of(place);
            let mut total = fields[place];
            for message in &incoming[range.clone()] {
                for lane in 0..N {
                    total[lane] += message[lane];
                }
            }
            for number in range {
                let link = plan.links[number];
                let against = incoming[number];
                let out = &mut incoming[link.mirror as usize];
                for lane in 0..N {
                    let new = message(link.coupling, total[lane] - against[lane]);
                    let off = (new - out[lane]).abs();
                    change[lane] = if off > change[lane] { off } else { change[lane] };
                    out[lane] = out[lane] * keep[lane] + new * (1.0 - keep[lane]);
                }
            }
        }
        change
    }
}
