//! The state of a fit, from which it can be resumed.

use serde::{Deserialize, Serialize};

/// The state of a fit after an iteration.
///
/// An [`Observer`](super::Observer) takes it, and [`Learner::fit_from`](super::Learner::fit_from)
/// resumes from it; the result has the same bits as without the interruption. Its content is
/// private to the learner. Random streams are chosen by iteration and row, so that no generator is
/// kept.
///
/// A checkpoint belongs to its start, table, learner and settings, and is refused elsewhere; the
/// number of iterations may be larger, and the tolerance smaller. With `serde` it can be kept in a
/// file. It is as large as some 40 copies of the parameters, and the history.
///
/// # Example
/// ```
/// use std::ops::ControlFlow;
/// use isinglass::{Enumerate, Machine, Result, Table, topology};
/// use isinglass::learn::{Learner, Likelihood, NoObserver, Observer, Checkpoint, Step};
///
/// /// Stops after two iterations, and keeps the checkpoint there.
/// #[derive(Default)]
/// struct Two(Option<Checkpoint>);
///
/// impl Observer for Two {
///     fn step(&mut self, step: &Step, _: &Machine) -> Result<ControlFlow<()>> {
///         Ok(if step.iteration < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
///     }
///
///     fn checkpoint(&mut self, _: &Step, take: &dyn Fn() -> Result<Checkpoint>) -> Result<()> {
///         self.0 = Some(take()?);
///         Ok(())
///     }
/// }
///
/// let table = Table::from_rows(["a", "b"], [[1, 1], [1, 1], [-1, -1], [1, -1], [-1, 1], [1, 1]])?;
/// let start = topology::full(2).with_names(["a", "b"])?;
/// let engine = Enumerate::default();
/// let learner = Likelihood::new(&engine);
/// let mut two = Two::default();
/// assert_eq!(learner.fit_with(&start, &table, &mut two)?.iterations(), 2);
/// let resumed = learner.fit_from(&start, &table, two.0.as_ref(), &mut NoObserver)?;
/// assert_eq!(resumed, learner.fit(&start, &table)?);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub(super) learner: String,
    pub(super) bytes: Vec<u8>,
}

impl Checkpoint {
    /// The learner whose state it is.
    pub fn learner(&self) -> &str {
        &self.learner
    }
}
