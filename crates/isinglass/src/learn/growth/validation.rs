//! Rows that a fit does not see: their likelihood while it runs, and the best machine by it.

use std::ops::ControlFlow;

use super::check_rows;
use crate::engine::Engine;
use crate::learn::{Checkpoint, Observer, Step};
use crate::likelihood::ClampedRows;
use crate::{Error, Machine, Result, Role, Table};

/// The least that counts as a rise, in nats per row.
const LEAST_RISE: f64 = 1e-4;

/// Held-out rows after some iterations of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validated {
    /// The iteration.
    pub iteration: usize,
    /// The average log-likelihood of a held-out row, as good as the fit's objective.
    pub held_out: f64,
    /// That of a row of the table.
    pub log_likelihood: f64,
}

/// Watches a likelihood fit by rows that it does not see, and ends it where they get no more probable.
///
/// Both tables have the same log Z, and the objective tells what it is: only the clamped phases of the
/// rows are computed,
///
/// ```text
/// L_held-out = L_fit + ⟨log Z(row)⟩_held-out − ⟨log Z(row)⟩_fit.
/// ```
///
/// The machine with the largest value is kept (early stopping: Prechelt 1998). Where the objective is
/// sampled, values are averaged over windows of iterations, and so are the machines.
pub struct Validation<'a> {
    clamped: &'a dyn Engine,
    rows: ClampedRows,
    held_out: ClampedRows,
    l2: f64,
    l1: f64,
    every: usize,
    window: usize,
    patience: usize,
    observer: &'a mut dyn Observer,
    path: Vec<Validated>,
    /// Sums over the current window.
    sums: Option<Window>,
    best: Option<(Validated, Machine)>,
    /// The iteration from which patience counts, and the value there.
    risen: (usize, f64),
    is_cancelled: bool,
}

/// Parameters and values of some iterations, added up.
struct Window {
    count: usize,
    weights: Vec<f64>,
    biases: Vec<f64>,
    held_out: f64,
    log_likelihood: f64,
}

impl<'a> Validation<'a> {
    /// For a fit of a machine to a table with penalties λ₂ and λ₁, whose clamped phase is that of an
    /// engine.
    ///
    /// # Errors
    /// Tables that do not fit the machine; input units.
    pub fn new(
        clamped: &'a dyn Engine,
        start: &Machine,
        (table, held_out): (&Table, &Table),
        (l2, l1): (f64, f64),
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        if start.with_role(Role::Input).next().is_some() {
            return Err(Error::CannotDo {
                who: "validation",
                what: "follow held-out rows with input units".into(),
                why: "every row has a log Z of its own".into(),
            });
        }
        check_rows(held_out.total_weight())?;
        Ok(Self {
            clamped,
            rows: ClampedRows::new(start, table)?,
            held_out: ClampedRows::new(start, held_out)?,
            l2,
            l1,
            every: 1,
            window: 1,
            patience: 100,
            observer,
            path: Vec::new(),
            sums: None,
            best: None,
            risen: (0, f64::NEG_INFINITY),
            is_cancelled: false,
        })
    }

    /// Looks at every n-th iteration, at averages of so many. By default at all, one by one.
    #[must_use]
    pub fn spaced(self, every: usize, window: usize) -> Self {
        Self { every: every.max(1), window: window.max(1), ..self }
    }

    /// Ends the fit after so many iterations without a rise. By default 100.
    #[must_use]
    pub fn patience(self, patience: usize) -> Self {
        Self { patience, ..self }
    }

    /// Whether the observer behind it has ended the fit.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// What was seen, and the best machine with its values; none where no window was complete.
    pub fn finish(self) -> (Vec<Validated>, Option<(Validated, Machine)>) {
        (self.path, self.best)
    }

    /// The average log-likelihoods of a row of the table, and of one held out.
    fn values(&self, step: &Step, machine: &Machine) -> Result<(f64, f64)> {
        let machine = &machine.clone().with_offset(0.0)?;
        let penalty =
            machine.weights().iter().map(|w| 0.5 * self.l2 * w * w + self.l1 * w.abs()).sum::<f64>();
        let average = |rows: &ClampedRows| -> Result<f64> {
            Ok(rows.evaluate(self.clamped, machine, false)?.value / rows.total_weight)
        };
        let own = step.objective + penalty;
        Ok((own, own + average(&self.held_out)? - average(&self.rows)?))
    }

    /// Adds an iteration to the window; a complete one is compared with the best.
    fn add(&mut self, iteration: usize, machine: &Machine, (own, held_out): (f64, f64)) -> Result<()> {
        let sums = self.sums.get_or_insert_with(|| Window {
            count: 0,
            weights: vec![0.0; machine.weights().len()],
            biases: vec![0.0; machine.unit_count()],
            held_out: 0.0,
            log_likelihood: 0.0,
        });
        sums.count += 1;
        sums.weights.iter_mut().zip(machine.weights()).for_each(|(sum, w)| *sum += w);
        sums.biases.iter_mut().zip(machine.biases()).for_each(|(sum, b)| *sum += b);
        sums.held_out += held_out;
        sums.log_likelihood += own;
        if sums.count < self.window {
            return Ok(());
        }
        let Some(sums) = self.sums.take() else { return Ok(()) };
        let mean = |sum: f64| sum / sums.count as f64;
        let seen =
            Validated { iteration, held_out: mean(sums.held_out), log_likelihood: mean(sums.log_likelihood) };
        self.path.push(seen);
        if self.best.as_ref().is_none_or(|(best, _)| seen.held_out > best.held_out) {
            let all = |sums: Vec<f64>| sums.into_iter().map(mean).collect();
            let machine = machine.clone().with_parameters(all(sums.weights), all(sums.biases))?;
            self.best = Some((seen, machine));
            if seen.held_out > self.risen.1 + LEAST_RISE {
                self.risen = (iteration, seen.held_out);
            }
        }
        Ok(())
    }
}

impl Observer for Validation<'_> {
    fn step(&mut self, step: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        let flow = self.observer.step(step, machine)?;
        self.is_cancelled |= flow == ControlFlow::Break(());
        if step.objective.is_finite() && step.iteration.is_multiple_of(self.every) {
            let values = self.values(step, machine)?;
            self.add(step.iteration, machine, values)?;
        }
        let is_over = step.iteration >= self.risen.0 + self.patience;
        Ok(if is_over { ControlFlow::Break(()) } else { flow })
    }

    fn checkpoint(&mut self, step: &Step, take: &dyn Fn() -> Result<Checkpoint>) -> Result<()> {
        self.observer.checkpoint(step, take)
    }

    fn restart(&mut self, restart: usize, count: usize) {
        self.observer.restart(restart, count);
    }
}
