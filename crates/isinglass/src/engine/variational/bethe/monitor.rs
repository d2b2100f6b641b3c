//! Monitors an iteration: which rows have converged, and which oscillate and need damping.
//!
//! Decisions are made for each row by itself, so that its answer is independent of other rows.

use super::messages::plain_distance;

/// A row oscillates if a sweep returns to where it was two sweeps before, up to this share,
const COMES_BACK: f64 = 0.5;
/// while the step is at least this share of the previous one,
const DOES_NOT_SHRINK: f64 = 0.9;
/// so many consecutive times.
const SWINGS: usize = 3;

/// A row wanders if in so many sweeps
const WINDOW: usize = 100;
/// the smallest change falls not at all, or to no less than this share of the last window's,
const FALLS_SLOWLY: f64 = 0.9;
/// while so many sweeps turn:
const TURNS: usize = 10;
/// two steps lead less far than this multiple of one. Straight on it is 2; at a right angle, 1.4.
const STRAIGHT_ON: f64 = 1.5;

/// The largest damping that is used, of 0, ½, ¾, ….
const MOST_DAMPING: f64 = 0.98;

/// The course of one row's iteration.
#[derive(Clone, Copy, Default)]
pub(super) struct Course {
    pub(super) is_active: bool,
    /// The iteration ends when no message changes by more.
    pub(super) target: f64,
    pub(super) sweeps: usize,
    pub(super) damping: f64,
    pub(super) oscillated: bool,
    /// The least damping to relax to.
    least_damping: f64,
    was_relaxed: bool,
    last_step: f64,
    swings: usize,
    turns: usize,
    in_window: usize,
    best_in_window: f64,
    best_before: f64,
}

impl Course {
    pub(super) fn new(is_active: bool, target: f64, damping: f64) -> Self {
        Self {
            is_active,
            target,
            damping,
            least_damping: damping,
            last_step: f64::INFINITY,
            best_in_window: f64::INFINITY,
            best_before: f64::INFINITY,
            ..Self::default()
        }
    }

    /// Returns a course that ended after its first sweep.
    pub(super) fn after_one_sweep(target: f64) -> Self {
        Self { sweeps: 1, ..Self::new(false, target, 0.0) }
    }

    /// Records a sweep: the largest change, the fields' step and their distance from two sweeps
    /// before.
    fn note(&mut self, change: f64, step: f64, two_steps: f64) {
        let came_back = two_steps < COMES_BACK * step && step >= DOES_NOT_SHRINK * self.last_step;
        self.swings = if came_back { self.swings + 1 } else { 0 };
        self.last_step = step;
        self.turns += usize::from(two_steps < STRAIGHT_ON * step);
        self.in_window += 1;
        self.best_in_window = self.best_in_window.min(change);
        let wanders = self.in_window == WINDOW && self.end_window();
        if self.swings == SWINGS || wanders {
            self.raise_damping();
        }
    }

    /// Returns whether the row wandered since the last window. Where it moved straight but slowly,
    /// halves the damping's effect, which does not help there.
    fn end_window(&mut self) -> bool {
        let falls = self.best_in_window < self.best_before;
        let falls_slowly = self.best_in_window >= FALLS_SLOWLY * self.best_before;
        let turned = self.turns;
        self.best_before = self.best_before.min(self.best_in_window);
        self.best_in_window = f64::INFINITY;
        self.in_window = 0;
        self.turns = 0;
        if falls && falls_slowly && turned == 0 && self.damping > self.least_damping {
            self.damping = self.damping.mul_add(2.0, -1.0).max(self.least_damping);
            self.was_relaxed = true;
        }
        !falls || (falls_slowly && turned >= TURNS)
    }

    fn raise_damping(&mut self) {
        self.oscillated = true;
        self.swings = 0;
        let more = f64::midpoint(1.0, self.damping);
        self.damping = if more <= MOST_DAMPING { more } else { self.damping };
        if self.was_relaxed {
            // Less damping was not enough.
            self.least_damping = self.damping;
            self.was_relaxed = false;
        }
    }
}

/// The courses of all rows, and the fields of the last two sweeps.
pub(super) struct Monitor<const N: usize> {
    pub(super) courses: [Course; N],
    last: Vec<[f64; N]>,
    before_last: Vec<[f64; N]>,
}

impl<const N: usize> Monitor<N> {
    pub(super) fn bytes(free: usize) -> u128 {
        16 * N as u128 * free as u128
    }

    pub(super) fn new(courses: [Course; N], totals: &[[f64; N]]) -> Self {
        Self { courses, last: totals.to_vec(), before_last: totals.to_vec() }
    }

    /// Records a sweep; ends rows that changed by no more than their target or have no sweeps left.
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

    /// Returns the share of old messages that each row keeps.
    pub(super) fn keep(&self) -> [f64; N] {
        self.courses.map(|course| if course.is_active { course.damping } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterates x ← f(x) with the damping of a course, until it ends.
    fn follow(f: impl Fn(f64) -> f64, most_sweeps: usize) -> (Course, f64) {
        let mut x = 0.7;
        let mut monitor = Monitor::new([Course::new(true, 1e-10, 0.0)], &[[x]]);
        while monitor.is_active() {
            let [keep] = monitor.keep();
            let change = (f(x) - x).abs();
            x = keep * x + (1.0 - keep) * f(x);
            monitor.note([change], &[[x]], most_sweeps);
        }
        (monitor.courses[0], x)
    }

    #[test]
    fn swinging_is_damped_and_slow_convergence_is_not() {
        let (course, x) = follow(|x| -(2.0 * x).tanh(), 5000);
        assert!(course.oscillated && course.damping > 0.0 && course.sweeps < 200, "{x}");
        assert!(x.abs() < 1e-10);
        for (rate, most_sweeps) in [(0.99, 5000), (0.999, 50_000), (0.9995, 50_000)] {
            let (course, x) = follow(|x| rate * x, most_sweeps);
            assert!(
                !course.oscillated && course.damping == 0.0 && course.sweeps < most_sweeps,
                "{rate}: {x}"
            );
        }
        // Leaving an unstable point is slow too.
        let (course, x) = follow(|x| (1.1 * (x - 0.7) + 1e-4).tanh() + 0.7, 5000);
        assert!(!course.oscillated && x > 1.0);
    }

    #[test]
    fn wandering_is_damped_too() {
        // The logistic map is chaotic here; its fixed point is at 1 − 1/3.9.
        let (course, x) = follow(|x| 3.9 * x * (1.0 - x), 5000);
        assert!(course.oscillated && course.damping > 0.0);
        assert!((x - (1.0 - 1.0 / 3.9)).abs() < 1e-9);
        // A slowly shrinking oscillation.
        let (course, _) = follow(|x| -0.9995 * x, 5000);
        assert!(course.oscillated && course.sweeps < 500);
    }

    #[test]
    fn damping_that_does_not_help_is_taken_back_unless_it_is_needed_again() {
        let swing = |course: &mut Course| {
            course.last_step = 1.0;
            (0..SWINGS).for_each(|_| course.note(1.0, 1.0, 0.0));
        };
        let continue_from = |course: &mut Course, from: f64| {
            (0..3 * WINDOW).fold(from, |step, _| {
                course.note(step, step, 2.0 * step);
                0.9995 * step
            })
        };
        let mut course = Course::new(true, 1e-10, 0.0);
        swing(&mut course);
        swing(&mut course);
        assert!(course.damping == 0.75);
        let step = continue_from(&mut course, 1.0);
        assert!(course.damping == 0.0 && course.oscillated);
        swing(&mut course);
        continue_from(&mut course, step);
        assert!(course.damping == 0.5);
    }
}
