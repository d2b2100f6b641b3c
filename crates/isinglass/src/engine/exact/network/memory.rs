//! The memory of a plan's tables, and how passes are fitted into the budget.
//!
//! The backward pass needs every table again, last first. Where not all fit, the steps are cut into
//! segments: only tables used in a later segment are kept, and the others of a segment are computed
//! a second time when the backward pass reaches it.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::Solver;
use super::plan::{Output, Plan, Step};
use super::star::Rows;
use crate::{Budget, Error, Result, Work};

/// Step numbers at which segments end, rising; the last is the number of steps.
#[derive(Debug, Clone)]
pub(super) struct Segments {
    ends: Vec<usize>,
    /// For each table, the steps that make it and use it.
    life: Vec<(u32, u32)>,
}

impl Segments {
    /// One segment: every table is kept.
    pub(super) fn whole(plan: &Plan) -> Self {
        Self { ends: vec![plan.steps.len()], life: lives(plan) }
    }

    /// The fewest segments whose passes fit some number of bytes; else the least bytes needed.
    ///
    /// *Complexity*: linear in the steps, times the logarithm of the number of segments.
    fn within(plan: &Plan, rows: usize, bytes: u128) -> std::result::Result<Self, u128> {
        let size = |table: usize| table_bytes(plan, table, rows * size_of::<f64>());
        let total = Self::all_tables(plan, rows);
        let mut segments = Self::whole(plan);
        // No pass needs more than every table with its adjoint.
        if 2 * total <= bytes {
            return Ok(segments);
        }
        let mut least = u128::MAX;
        for count in (0..10).map(|power| 1 << power) {
            segments.cut(plan, count, total, size);
            let peak = segments.peak(plan, size);
            if peak <= bytes {
                return Ok(segments);
            }
            least = least.min(peak);
        }
        Err(least)
    }

    /// The bytes of all tables together.
    fn all_tables(plan: &Plan, rows: usize) -> u128 {
        (0..plan.table_bits.len()).map(|table| table_bytes(plan, table, rows * size_of::<f64>())).sum()
    }

    /// The peak of a pass without moments, with numbers of some size: used tables are dropped.
    pub(super) fn forward_peak(plan: &Plan, bytes: usize) -> u128 {
        let (mut live, mut peak) = (0, 0);
        each_bucket(plan, 0..plan.steps.len(), |_, made, used| {
            live += made.map_or(0, |table| table_bytes(plan, table, bytes));
            peak = peak.max(live);
            live -= used.map(|table| table_bytes(plan, table, bytes)).sum::<u128>();
        });
        peak
    }

    /// The steps of each segment, first to last.
    pub(super) fn ranges(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + ExactSizeIterator + '_ {
        let start = |segment: usize| if segment == 0 { 0 } else { self.ends[segment - 1] };
        (0..self.ends.len()).map(move |segment| start(segment)..self.ends[segment])
    }

    /// Whether a table is used within the segment that made it.
    pub(super) fn is_inner(&self, table: usize) -> bool {
        let (made, used) = self.life[table];
        let segment = |step: u32| self.ends.partition_point(|&end| end <= step as usize);
        segment(made) == segment(used)
    }

    /// Cuts into segments of about equal size.
    fn cut(&mut self, plan: &Plan, count: u32, total: u128, size: impl Fn(usize) -> u128) {
        self.ends.clear();
        let mut made = 0;
        each_bucket(plan, 0..plan.steps.len(), |step, table, _| {
            made += table.map_or(0, &size);
            if table.is_some() && made * u128::from(count) >= total * (self.ends.len() as u128 + 1) {
                self.ends.push(step + 1);
            }
        });
        match self.ends.last_mut() {
            Some(last) => *last = plan.steps.len(),
            None => self.ends.push(plan.steps.len()),
        }
    }

    /// The most bytes of tables and adjoints alive at once, for some number of rows.
    pub(super) fn peak_bytes(&self, plan: &Plan, rows: usize) -> u128 {
        self.peak(plan, |table| table_bytes(plan, table, rows * size_of::<f64>()))
    }

    /// The most bytes of tables and adjoints alive at once in a forward and a backward pass.
    fn peak(&self, plan: &Plan, size: impl Fn(usize) -> u128) -> u128 {
        let (mut live, mut peak) = (0u128, 0u128);
        let last = self.ends.len() - 1;
        for (number, range) in self.ranges().enumerate() {
            each_bucket(plan, range, |_, made, used| {
                live += made.map_or(0, &size);
                peak = peak.max(live);
                if number != last {
                    live -= used.filter(|&table| self.is_inner(table)).map(&size).sum::<u128>();
                }
            });
        }
        for (number, range) in self.ranges().enumerate().rev() {
            if number != last {
                each_bucket(plan, range.clone(), |_, made, _| {
                    live += made.filter(|&table| self.is_inner(table)).map_or(0, &size);
                    peak = peak.max(live);
                });
            }
            for step in range.rev() {
                each_bucket(plan, step..step + 1, |_, made, used| {
                    let used: u128 = used.map(&size).sum();
                    peak = peak.max(live + used);
                    // Adjoints replace the incoming tables; that of the result is dropped.
                    live -= made.map_or(0, &size);
                });
            }
        }
        peak
    }
}

/// The bytes of a table with numbers of some size.
fn table_bytes(plan: &Plan, table: usize, bytes: usize) -> u128 {
    (bytes as u128) << plan.table_bits[table]
}

/// Visits each bucket of some steps: its step, the table it makes, the tables it uses.
fn each_bucket(
    plan: &Plan,
    steps: Range<usize>,
    mut visit: impl FnMut(usize, Option<usize>, &mut dyn Iterator<Item = usize>),
) {
    for step in steps {
        if let Step::Bucket(bucket) = plan.steps[step] {
            let bucket = &plan.buckets[bucket as usize];
            let made = match bucket.output {
                Output::Table(table) => Some(table as usize),
                Output::Weights { .. } => None,
            };
            visit(step, made, &mut plan.children(bucket).iter().map(|child| child.table as usize));
        }
    }
}

fn lives(plan: &Plan) -> Vec<(u32, u32)> {
    let mut life = vec![(0, 0); plan.table_bits.len()];
    each_bucket(plan, 0..plan.steps.len(), |step, made, used| {
        if let Some(table) = made {
            life[table].0 = step as u32;
        }
        for table in used {
            life[table].1 = step as u32;
        }
    });
    life
}

impl Solver<'_> {
    /// The segments of a pass with moments, within the budget.
    pub(super) fn segments<R: Rows>(self, plan: &Plan) -> Result<Segments> {
        self.segments_within::<R>(plan, u128::from(self.networks.budget.0))
    }

    /// The segments of a pass with moments, which shares the budget with other threads if it can.
    pub(super) fn shared_segments<R: Rows>(self, plan: &Plan) -> Result<(Segments, Turn)> {
        let share = u128::from(self.networks.budget.0) / rayon::current_num_threads() as u128;
        match self.segments_within::<R>(plan, share) {
            Ok(segments) => Ok((segments, Turn::Together)),
            Err(_) => self.segments::<R>(plan).map(|segments| (segments, Turn::Alone)),
        }
    }

    fn segments_within<R: Rows>(self, plan: &Plan, bytes: u128) -> Result<Segments> {
        let tape = plan.bytes(R::ROWS);
        let segments = match bytes.checked_sub(tape) {
            Some(rest) => Segments::within(plan, R::ROWS, rest),
            None => Err(0),
        };
        let segments = segments.map_err(|tables| Error::OverBudget {
            who: self.name,
            what: size_of_problem(plan),
            needed: tables + tape,
            budget: self.networks.budget,
            work: Some(Work::Sums(plan.work())),
        })?;
        if tape + 2 * Segments::all_tables(plan, R::ROWS) >= UNCHECKED as u128 {
            self.check_system(segments.peak_bytes(plan, R::ROWS) + tape)?;
        }
        Ok(segments)
    }

    /// Refuses more memory than the system has: a failed allocation would abort the program.
    pub(super) fn check_system(self, bytes: u128) -> Result<()> {
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        if length < UNCHECKED || Vec::<u8>::new().try_reserve_exact(length).is_ok() {
            return Ok(());
        }
        Err(Error::CannotDo {
            who: self.name,
            what: format!("take {} of memory", Budget::bytes(bytes)),
            why: "the system refuses that much".into(),
        })
    }

    /// Whether passes without moments can share the budget.
    pub(super) fn shared_forward<R: Rows>(self, plan: &Plan) -> Result<Turn> {
        let needed = Segments::forward_peak(plan, R::ROWS * size_of::<f64>()) + plan.bytes(R::ROWS);
        self.networks.budget.check(self.name, needed, || size_of_problem(plan))?;
        self.check_system(needed)?;
        let all = needed.saturating_mul(rayon::current_num_threads() as u128);
        Ok(if all <= u128::from(self.networks.budget.0) { Turn::Together } else { Turn::Alone })
    }

    /// Checks passes without moments, with numbers of some bytes, on some threads.
    pub(super) fn check_numbers(self, plan: &Plan, bytes: usize, threads: usize) -> Result<()> {
        let needed = Segments::forward_peak(plan, bytes) * threads as u128 + plan.bytes(1);
        let what = || format!("{}, with {bytes} bytes a number", size_of_problem(plan));
        self.networks.budget.check(self.name, needed, what)?;
        self.check_system(needed)
    }
}

/// Less than this is allocated without a check.
const UNCHECKED: usize = 1 << 30;

/// Whether passes may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The budget allows one on every thread.
    Together,
    /// The budget allows one.
    Alone,
}

/// Keeps passes that must run alone apart from all others.
#[derive(Default)]
pub(super) struct Gate(RwLock<()>);

/// Held while a pass runs.
pub(super) enum Pass<'g> {
    Together(#[expect(dead_code, reason = "held for its end")] RwLockReadGuard<'g, ()>),
    Alone(#[expect(dead_code, reason = "held for its end")] RwLockWriteGuard<'g, ()>),
}

impl Gate {
    pub(super) fn pass(&self, turn: Turn) -> Pass<'_> {
        match turn {
            Turn::Together => Pass::Together(self.0.read().unwrap_or_else(PoisonError::into_inner)),
            Turn::Alone => Pass::Alone(self.0.write().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

fn size_of_problem(plan: &Plan) -> String {
    format!("{} free units, at width {}", plan.free.len(), plan.width)
}
