//! Watches an iteration: which rows are done, which swing to and fro and need more damping.
//!
//! Every decision is a row's own, so that its answer does not hang on the rows beside it.

use super::messages::plain_distance;

/// A row swings if a sweep leads back to where it was two sweeps before, up to this share of the sweep's change,
const COMES_BACK: f64 = 0.5;
/// while the change is at least this share of the one before,
const DOES_NOT_SHRINK: f64 = 0.9;
/// so many times in a row.
const SWINGS: usize = 3;

/// Or it wanders, if in so many sweeps
const WINDOW: usize = 100;
/// the smallest change is no less than this share of the smallest before.
const DOES_NOT_FALL: f64 = 0.9;

/// Damping is not raised beyond this: 0, ½, ¾, ….
const MOST_DAMPING: f64 = 0.98;

/// How the iteration of one row goes.
#[derive(Clone, Copy)]
pub(super) struct Course {
    /// Whether it goes on.
    pub(super) is_active: bool,
    /// It ends when no message changes by more.
    pub(super) target: f64,
    pub(super) sweeps: usize,
    pub(super) damping: f64,
    pub(super) oscillated: bool,
    last_step: f64,
    swings: usize,
    in_window: usize,
    best_in_window: f64,
    best_before: f64,
}

impl Course {
    pub(super) fn new(is_active: bool, target: f64, damping: f64) -> Self {
        Self {
            is_active,
            target,
            sweeps: 0,
            damping,
            oscillated: false,
            last_step: f64::INFINITY,
            swings: 0,
            in_window: 0,
            best_in_window: f64::INFINITY,
            best_before: f64::INFINITY,
        }
    }

    /// That has been at rest since its first sweep.
    pub(super) fn after_one_sweep(target: f64) -> Self {
        Self { sweeps: 1, ..Self::new(false, target, 0.0) }
    }

    /// Note a sweep: the largest change that its messages were to make, how far the fields moved, and how far they are from where they were two sweeps ago.
    fn note(&mut self, change: f64, step: f64, two_steps: f64) {
        let came_back = two_steps < COMES_BACK * step && step >= DOES_NOT_SHRINK * self.last_step;
        self.swings = if came_back { self.swings + 1 } else { 0 };
        self.last_step = step;
        self.in_window += 1;
        self.best_in_window = self.best_in_window.min(change);
        let wanders = self.in_window == WINDOW && self.best_in_window >= DOES_NOT_FALL * self.best_before;
        if self.in_window == WINDOW {
            self.best_before = self.best_before.min(self.best_in_window);
            self.in_window = 0;
            self.best_in_window = f64::INFINITY;
        }
        if self.swings == SWINGS || wanders {
            self.oscillated = true;
            self.swings = 0;
            let more = f64::midpoint(1.0, self.damping);
            self.damping = if more <= MOST_DAMPING { more } else { self.damping };
        }
    }
}

/// The courses of all rows, and the fields of the last sweeps.
pub(super) struct Monitor<const N: usize> {
    pub(super) courses: [Course; N],
    last: Vec<[f64; N]>,
    before_last: Vec<[f64; N]>,
}

impl<const N: usize> Monitor<N> {
    /// The bytes of the fields that it keeps.
    pub(super) fn bytes(free: usize) -> u128 {
        16 * N as u128 * free as u128
    }

    pub(super) fn new(courses: [Course; N], totals: &[[f64; N]]) -> Self {
        Self { courses, last: totals.to_vec(), before_last: totals.to_vec() }
    }

    /// Note a sweep; rows that changed by no more than their target, or have no sweeps left, come to rest.
    pub(super) fn note(&mut self, change: [f64; N], totals: &[[f64; N]], most_sweeps: usize) {
        let (mut step, mut two_steps) = ([0.0f64; N], [0.0f64; N]);
        for ((now, last), before) in totals.iter().zip(&self.last).zip(&self.before_last) {
            for row in 0..N {
                step[row] = step[row].max(plain_distance(now[row], last[row]));
                two_steps[row] = two_steps[row].max(plain_distance(now[row], before[row]));
            }
        }
        std::mem::swap(&mut self.last, &mut self.before_last);
        self.last.copy_from_slice(totals);
        for (row, course) in self.courses.iter_mut().enumerate().filter(|(_, course)| course.is_active) {
            course.sweeps += 1;
            if change[row] <= course.target || course.sweeps >= most_sweeps {
                course.is_active = false;
            } else {
                course.note(change[row], step[row], two_steps[row]);
            }
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.courses.iter().any(|course| course.is_active)
    }

    /// The share of old messages that each row keeps.
    pub(super) fn keep(&self) -> [f64; N] {
        self.courses.map(|course| if course.is_active { course.damping } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x ← f(x) with the damping of a course, until it ends.
    fn follow(f: impl Fn(f64) -> f64) -> (Course, f64) {
        let mut x = 0.7;
        let mut monitor = Monitor::new([Course::new(true, 1e-10, 0.0)], &[[x]]);
        while monitor.is_active() {
            let [keep] = monitor.keep();
            let change = (f(x) - x).abs();
            x = keep * x + (1.0 - keep) * f(x);
            monitor.note([change], &[[x]], 5000);
        }
        (monitor.courses[0], x)
    }

    #[test]
    fn swinging_is_damped_and_slow_convergence_is_not() {
        let (course, x) = follow(|x| -(2.0 * x).tanh());
        assert!(course.oscillated && course.damping > 0.0 && course.sweeps < 200, "{x}");
        assert!(x.abs() < 1e-10);
        let (course, _) = follow(|x| 0.99 * x);
        assert!(!course.oscillated && course.damping == 0.0);
        // Leaving an unstable point takes a while too.
        let (course, x) = follow(|x| (1.1 * (x - 0.7) + 1e-4).tanh() + 0.7);
        assert!(!course.oscillated && x > 1.0);
    }

    #[test]
    fn wandering_is_damped_too() {
        // The logistic map in its chaos; its fixed point is at 1 − 1/3.9.
        let (course, x) = follow(|x| 3.9 * x * (1.0 - x));
        assert!(course.oscillated && course.damping > 0.0);
        assert!((x - (1.0 - 1.0 / 3.9)).abs() < 1e-9);
    }
}
