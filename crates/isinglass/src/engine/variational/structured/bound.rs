//! The bound of a Q and its gradient.
//!
//! Q is a product of conditionals `Q(s_k | x)`, x the state of the parents, each given by a logit:
//! `⟨s_k | x⟩ = tanh a_k(x)`. The bound is
//!
//! ```text
//! L = Σ_k Σ_x P_k(x) [ tanh a_k(x) · e_k(x) + H(a_k(x)) ] + Σ_cut w_ij ⟨s_i s_j⟩
//! e_k(x) = θ_k + Σ_parents w_kp x_p
//! ```
//!
//! with the probabilities `P_k(x)` of the parents' states from the root down. For a cut coupling,
//! the conditional means of both ends are lifted along the tree of cliques until they are functions
//! u_i, u_j of the state of one clique; there `⟨s_i s_j⟩ = Σ_c P(c) u_i(c) u_j(c)`. The gradient is
//! the reverse of this computation.

use fearless_simd::{Level, Simd, dispatch};

use super::plan::{GIVEN, Lift, Meeting, NONE, Node, OUTER, Plan, STATES, spin};
use super::skeleton::MOST_PARENTS;
use crate::numeric::stable::log_sigmoid_twice;

/// The energies of one row.
pub(super) struct Row<'a> {
    pub(super) plan: &'a Plan,
    /// `e_k(x)` of each position.
    energies: Vec<[f64; OUTER]>,
}

/// Probabilities and derivatives of a Q, computed with its bound.
pub(super) struct Work {
    /// The probabilities of a unit being up and down, given each state of its parents.
    pub(super) up: Vec<[f64; OUTER]>,
    pub(super) down: Vec<[f64; OUTER]>,
    /// The probabilities of the parents' states, and of the clique's.
    outer: Vec<[f64; OUTER]>,
    pub(super) states: Vec<[f64; STATES]>,
    /// The conditional means of ends of cut couplings.
    functions: Vec<[f64; STATES]>,
    /// Derivatives by functions, by states of cliques, and by P(up) − P(down) of conditionals.
    by_function: Vec<[f64; STATES]>,
    by_state: Vec<[f64; STATES]>,
    by_conditional: Vec<[f64; OUTER]>,
    level: Level,
}

/// The functions given by the state itself.
const VALUES: [[f64; STATES]; GIVEN] = {
    let mut values = [[-1.0; STATES]; GIVEN];
    let mut bit = 0;
    while bit < GIVEN {
        let mut state = 0;
        while state < STATES {
            if state >> bit & 1 == 1 {
                values[bit][state] = 1.0;
            }
            state += 1;
        }
        bit += 1;
    }
    values
};

impl Work {
    /// Allocates for any row of a plan.
    pub(super) fn new(plan: &Plan) -> Self {
        let units = plan.nodes.len();
        let mut functions = VALUES.to_vec();
        functions.resize(GIVEN + plan.lifts.len(), [0.0; STATES]);
        Self {
            up: vec![[0.0; OUTER]; units],
            down: vec![[0.0; OUTER]; units],
            outer: vec![[0.0; OUTER]; units],
            states: vec![[0.0; STATES]; units],
            by_function: vec![[0.0; STATES]; functions.len()],
            functions,
            by_state: vec![[0.0; STATES]; units],
            by_conditional: vec![[0.0; OUTER]; units],
            level: Level::new(),
        }
    }

    pub(super) fn bytes(units: usize, lifts: usize) -> u128 {
        8 * ((4 * OUTER + 2 * STATES) as u128 * units as u128
            + (2 * STATES) as u128 * (GIVEN + lifts) as u128)
    }

    /// Returns ⟨s_k⟩ of a position.
    pub(super) fn mean(&self, position: usize) -> f64 {
        self.moment_of(position, MOST_PARENTS)
    }

    /// Returns ⟨s_k s_p⟩ of a position and one of its parents; for its own bit, ⟨s_k⟩.
    pub(super) fn moment_of(&self, position: usize, bit: usize) -> f64 {
        let states = self.states[position].iter().enumerate();
        let other = |state: usize| if bit == MOST_PARENTS { 1.0 } else { spin(state, bit) };
        states.map(|(state, p)| p * spin(state, MOST_PARENTS) * other(state)).sum()
    }

    /// Returns ⟨s_i s_j⟩ of the ends of a cut coupling.
    pub(super) fn moment_at(&self, meeting: &Meeting) -> f64 {
        let [a, b] = meeting.ends.map(|end| &self.functions[end as usize]);
        let states = self.states[meeting.at as usize].iter();
        states.zip(a).zip(b).map(|((p, a), b)| p * a * b).sum()
    }

    /// Returns ⟨s_i s_j⟩ of one position with every other, by position; 1 with itself.
    ///
    /// Computes the measure `P(c) ⟨s_j | c⟩` on the states of each clique: lifted from j to its
    /// root, and propagated down like probabilities. *Complexity*: linear in the units.
    pub(super) fn moments_with(&self, plan: &Plan, position: usize) -> Vec<f64> {
        let mut measures: Vec<Option<[f64; STATES]>> = vec![None; plan.nodes.len()];
        let mut function = VALUES[MOST_PARENTS];
        let mut at = position;
        loop {
            let mut measure = self.states[at];
            measure.iter_mut().zip(&function).for_each(|(p, value)| *p *= value);
            measures[at] = Some(measure);
            let node = &plan.nodes[at];
            if node.anchor == NONE {
                break;
            }
            let mut mean = [0.0; OUTER];
            for x in 0..OUTER {
                mean[x] = self.down[at][x] * function[x] + self.up[at][x] * function[OUTER + x];
            }
            function = node.outer.map(|x| mean[usize::from(x)]);
            at = node.anchor as usize;
        }
        let alone = self.mean(position);
        let mut moments = vec![0.0; plan.nodes.len()];
        for (k, node) in plan.nodes.iter().enumerate() {
            let mut measure = [0.0; STATES];
            if let Some(known) = measures[k] {
                measure = known;
            } else {
                let mut outer = [0.0; OUTER];
                match measures.get(node.anchor as usize) {
                    Some(Some(above)) => {
                        above.iter().zip(&node.outer).for_each(|(p, &x)| outer[usize::from(x)] += p);
                    }
                    // The root of another part, which is independent of this unit.
                    _ => outer[0] = alone,
                }
                for x in 0..OUTER {
                    measure[x] = outer[x] * self.down[k][x];
                    measure[OUTER + x] = outer[x] * self.up[k][x];
                }
                measures[k] = Some(measure);
            }
            moments[k] =
                measure.iter().enumerate().map(|(state, p)| p * spin(state, MOST_PARENTS)).sum::<f64>();
        }
        moments
    }
}

impl<'a> Row<'a> {
    /// *Arguments*: the field on each free unit, divided by T.
    pub(super) fn new(plan: &'a Plan, fields: &[f64]) -> Self {
        let energies = |node: &Node| {
            let mut energies = [0.0; OUTER];
            for (x, energy) in energies.iter_mut().enumerate() {
                let pull: f64 = node.weights.iter().enumerate().map(|(bit, w)| w * spin(x, bit)).sum();
                *energy = fields[node.joint.unit as usize] + pull;
            }
            energies
        };
        Self { plan, energies: plan.nodes.iter().map(energies).collect() }
    }

    /// Returns the best logits without the cut couplings, a field added to each position, and their
    /// log Z: one pass from the leaves to the roots.
    ///
    /// `a_k(x) = e_k(x) + ½ [V(+, x) − V(−, x)]`, V the log-sums of the units that depend on k.
    pub(super) fn without_cuts(&self, added: &[f64]) -> (Vec<f64>, f64) {
        let nodes = &self.plan.nodes;
        let mut logits = vec![0.0; nodes.len() * OUTER];
        let mut below = vec![[0.0; STATES]; nodes.len()];
        let mut log_z = 0.0;
        for (k, (node, energies)) in nodes.iter().zip(&self.energies).enumerate().rev() {
            let mut sums = [0.0; OUTER];
            for x in 0..OUTER {
                let (down, up) = (below[k][x], below[k][OUTER + x]);
                let logit = energies[x] + added[k] + 0.5 * (up - down);
                logits[k * OUTER + x] = logit;
                // ln(e^(e + V₊) + e^(−e + V₋)) = |a| + ½ (V₊ + V₋) + ln(1 + e^(−2|a|))
                sums[x] = logit.abs() + 0.5 * (up + down) - log_sigmoid_twice(logit.abs());
            }
            if node.anchor == NONE {
                log_z += sums[0];
                continue;
            }
            for (below, &x) in below[node.anchor as usize].iter_mut().zip(&node.outer) {
                *below += sums[usize::from(x)];
            }
        }
        (logits, log_z)
    }

    /// Returns the bound; probabilities and functions are left in `work`.
    pub(super) fn value(&self, logits: &[f64], work: &mut Work) -> f64 {
        let level = work.level;
        dispatch!(level, simd => self.forward(simd, logits, work))
    }

    /// Returns the bound; computes gradient and Fisher information, `P_k(x) (1 − tanh² a)`, of
    /// logits.
    pub(super) fn gradient(
        &self,
        logits: &[f64],
        work: &mut Work,
        gradient: &mut [f64],
        information: &mut [f64],
    ) -> f64 {
        let level = work.level;
        dispatch!(level, simd => {
            let value = self.forward(simd, logits, work);
            self.backward(simd, logits, work, gradient, information);
            value
        })
    }

    #[inline(always)]
    fn forward<S: Simd>(&self, _simd: S, logits: &[f64], work: &mut Work) -> f64 {
        let mut value = 0.0;
        for (k, node) in self.plan.nodes.iter().enumerate() {
            let mut outer = [0.0; OUTER];
            if node.anchor == NONE {
                outer[0] = 1.0;
            } else {
                for (p, &x) in work.states[node.anchor as usize].iter().zip(&node.outer) {
                    outer[usize::from(x)] += p;
                }
            }
            let local = &logits[k * OUTER..(k + 1) * OUTER];
            for x in 0..OUTER {
                let a = local[x];
                // Both from e^(−2|a|), without cancellation.
                let small = (-2.0 * a.abs()).exp();
                let (likely, unlikely) = (1.0 / (1.0 + small), small / (1.0 + small));
                let (up, down) = if a >= 0.0 { (likely, unlikely) } else { (unlikely, likely) };
                // H = ln(1 + e^(−2|a|)) + 2|a| min(up, down)
                let entropy = small.ln_1p() + 2.0 * a.abs() * unlikely;
                work.up[k][x] = up;
                work.down[k][x] = down;
                work.states[k][x] = outer[x] * down;
                work.states[k][OUTER + x] = outer[x] * up;
                value += outer[x] * ((up - down) * self.energies[k][x] + entropy);
            }
            work.outer[k] = outer;
        }
        for (number, &Lift { from, node }) in self.plan.lifts.iter().enumerate() {
            let from = &work.functions[from as usize];
            let (up, down) = (&work.up[node as usize], &work.down[node as usize]);
            let mut mean = [0.0; OUTER];
            for x in 0..OUTER {
                mean[x] = down[x] * from[x] + up[x] * from[OUTER + x];
            }
            let to = &self.plan.nodes[node as usize].outer;
            let lifted = &mut work.functions[GIVEN + number];
            for state in 0..STATES {
                lifted[state] = mean[usize::from(to[state]) % OUTER];
            }
        }
        let mut cut = 0.0;
        for meeting in &self.plan.meetings {
            cut += meeting.coupling * work.moment_at(meeting);
        }
        value + cut
    }

    #[inline(always)]
    fn backward<S: Simd>(
        &self,
        _simd: S,
        logits: &[f64],
        work: &mut Work,
        gradient: &mut [f64],
        information: &mut [f64],
    ) {
        work.by_function.fill([0.0; STATES]);
        work.by_state.fill([0.0; STATES]);
        work.by_conditional.fill([0.0; OUTER]);
        for &Meeting { at, ends: [a, b], coupling, .. } in &self.plan.meetings {
            let (at, a, b) = (at as usize, a as usize, b as usize);
            for state in 0..STATES {
                let (of_a, of_b) = (coupling * work.functions[a][state], coupling * work.functions[b][state]);
                work.by_state[at][state] += of_a * work.functions[b][state];
                work.by_function[a][state] += of_b * work.states[at][state];
                work.by_function[b][state] += of_a * work.states[at][state];
            }
        }
        for (number, &Lift { from, node }) in self.plan.lifts.iter().enumerate().rev() {
            let (from, node) = (from as usize, node as usize);
            let mut by_mean = [0.0; OUTER];
            for (by, &x) in work.by_function[GIVEN + number].iter().zip(&self.plan.nodes[node].outer) {
                by_mean[usize::from(x) % OUTER] += by;
            }
            let (function, by_function) = (&work.functions[from], &mut work.by_function[from]);
            for x in 0..OUTER {
                work.by_conditional[node][x] += by_mean[x] * (function[OUTER + x] - function[x]);
                by_function[x] += work.down[node][x] * by_mean[x];
                by_function[OUTER + x] += work.up[node][x] * by_mean[x];
            }
        }
        for (k, node) in self.plan.nodes.iter().enumerate().rev() {
            let mut by_outer = [0.0; OUTER];
            for x in 0..OUTER {
                let (a, energy, outer) = (logits[k * OUTER + x], self.energies[k][x], work.outer[k][x]);
                let (up, down) = (work.up[k][x], work.down[k][x]);
                let (by_up, by_down) = (work.by_state[k][OUTER + x], work.by_state[k][x]);
                let spread = 4.0 * up * down;
                let slope = outer * (energy - a + 0.5 * (by_up - by_down)) + 0.5 * work.by_conditional[k][x];
                gradient[k * OUTER + x] = spread * slope;
                information[k * OUTER + x] = spread * outer;
                let small = up.min(down);
                let entropy = 2.0 * a.abs() * small - (-small).ln_1p();
                by_outer[x] = (up - down) * energy + entropy + up * by_up + down * by_down;
            }
            if node.anchor != NONE {
                let by_state = &mut work.by_state[node.anchor as usize];
                for (by, &x) in by_state.iter_mut().zip(&node.outer) {
                    *by += by_outer[usize::from(x)];
                }
            }
        }
    }
}
