//! How much memory the tables of a plan take, and how to do with less.
//!
//! The backward pass needs every table again, last first. Where they do not fit all at once, the
//! steps are cut into segments: only tables that reach from one segment into a later one are kept,
//! and the others of a segment are computed a second time when the backward pass comes to it.

use super::plan::{Output, Plan, Step};

/// Step numbers at which segments end, rising; the last is the number of steps.
#[derive(Debug, Clone)]
pub(super) struct Segments {
    ends: Vec<usize>,
    /// For each table, the steps that make it and that use it up.
    life: Vec<(u32, u32)>,
}

impl Segments {
    /// All steps in one: every table is kept.
    pub(super) fn whole(plan: &Plan) -> Self {
        Self { ends: vec![plan.steps.len()], life: lives(plan) }
    }

    /// The fewest segments whose passes fit some number of bytes; otherwise what would at least be
    /// needed.
    ///
    /// *Complexity*: linear in the steps, times the logarithm of the number of segments.
    pub(super) fn within(plan: &Plan, rows: usize, bytes: u128) -> Result<Self, u128> {
        let size = |table: usize| table_bytes(plan, table, rows * size_of::<f64>());
        let total = Self::all_tables(plan, rows);
        let mut segments = Self::whole(plan);
        // Every table with its adjoint at the same time: no pass needs more.
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
    pub(super) fn all_tables(plan: &Plan, rows: usize) -> u128 {
        (0..plan.table_bits.len()).map(|table| table_bytes(plan, table, rows * size_of::<f64>())).sum()
    }

    /// The most that a pass without moments has to hold, with numbers of some size: tables are
    /// dropped when they have been used.
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
    pub(super) fn ranges(
        &self,
    ) -> impl DoubleEndedIterator<Item = std::ops::Range<usize>> + ExactSizeIterator + '_ {
        let start = |segment: usize| if segment == 0 { 0 } else { self.ends[segment - 1] };
        (0..self.count()).map(move |segment| start(segment)..self.ends[segment])
    }

    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Whether a table is used up within the segment that made it.
    pub(super) fn is_inner(&self, table: usize) -> bool {
        let (made, used) = self.life[table];
        let segment = |step: u32| self.ends.partition_point(|&end| end <= step as usize);
        segment(made) == segment(used)
    }

    /// Cut into segments of about equal size.
    fn cut(&mut self, plan: &Plan, count: u32, total: u128, size: impl Fn(usize) -> u128) {
        self.ends.clear();
        let mut made = 0;
        for (step, _) in plan.steps.iter().enumerate() {
            if let Some(Output::Table(table)) = output(plan, step) {
                made += size(table as usize);
                if made * u128::from(count) >= total * (self.ends.len() as u128 + 1) {
                    self.ends.push(step + 1);
                }
            }
        }
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
        let last = self.count() - 1;
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
                    // The adjoints of what came in stay; the tables themselves and the adjoint of
                    // the result are done with.
                    live -= made.map_or(0, &size);
                });
            }
        }
        peak
    }
}

/// What a table takes with numbers of some size.
fn table_bytes(plan: &Plan, table: usize, bytes: usize) -> u128 {
    (bytes as u128) << plan.table_bits[table]
}

fn output(plan: &Plan, step: usize) -> Option<Output> {
    match plan.steps[step] {
        Step::Star(_) => None,
        Step::Bucket(bucket) => Some(plan.buckets[bucket as usize].output),
    }
}

/// Each bucket of some steps: its step, the table it makes, the tables it uses up.
fn each_bucket(
    plan: &Plan,
    steps: std::ops::Range<usize>,
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
