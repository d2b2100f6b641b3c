//! The state of a fit: all it needs to go on as if it had never stopped.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The state of a fit after an iteration.
///
/// An [`Observer`](super::Observer) takes it, [`Learner::fit_from`](super::Learner::fit_from) goes on from it, and what comes out has the same bits as if the fit had never
/// stopped. What is inside is the learner's own affair; random streams are chosen by iteration and row, so that no generator needs to be kept.
/// A state belongs to its start, table, learner and settings, and is refused elsewhere; more iterations or a smaller tolerance may be asked for. With `serde` it
/// can be kept in a file. It is as large as some 40 copies of the parameters, and the history.
///
/// # Example
/// ```
/// use std::ops::ControlFlow;
/// use isinglass::{Enumerate, Machine, Result, Table, topology};
/// use isinglass::learn::{Learner, Likelihood, NoObserver, Observer, State, Step};
///
/// /// Stops after two iterations, and keeps the state there.
/// #[derive(Default)]
/// struct Two(Option<State>);
///
/// impl Observer for Two {
///     fn step(&mut self, step: &Step, _: &Machine) -> Result<ControlFlow<()>> {
///         Ok(if step.iteration < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
///     }
///
///     fn state(&mut self, _: &Step, take: &dyn Fn() -> Result<State>) -> Result<()> {
///         self.0 = Some(take()?);
///         Ok(())
///     }
/// }
///
/// let table = Table::from_rows(["a", "b"], [[1, 1], [1, 1], [-1, -1], [1, -1], [-1, 1], [1, 1]])?;
/// let start = Machine::from_graph(topology::full(2)).with_names(["a", "b"])?;
/// let engine = Enumerate::default();
/// let learner = Likelihood::new(&engine);
/// let mut two = Two::default();
/// assert_eq!(learner.fit(&start, &table, &mut two)?.iterations(), 2);
/// let resumed = learner.fit_from(&start, &table, two.0.as_ref(), &mut NoObserver)?;
/// assert_eq!(resumed, learner.fit(&start, &table, &mut NoObserver)?);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    learner: String,
    bytes: Vec<u8>,
}

impl State {
    /// The state of a learner.
    pub(crate) fn of(learner: &'static str, state: &impl Serialize) -> Result<Self> {
        let bytes = postcard::to_stdvec(state).map_err(|error| broken(learner, &error))?;
        Ok(Self { learner: learner.to_owned(), bytes })
    }

    /// What the learner had put in.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a state of another learner, or one that was damaged.
    pub(crate) fn read<T: DeserializeOwned>(&self, learner: &'static str) -> Result<T> {
        self.check(learner)?;
        match postcard::take_from_bytes(&self.bytes) {
            Ok((kept, [])) => Ok(kept),
            Ok(_) => Err(broken(learner, &postcard::Error::DeserializeBadEncoding)),
            Err(error) => Err(broken(learner, &error)),
        }
    }

    /// The first part of what the learner had put in.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub(crate) fn head<T: DeserializeOwned>(&self, learner: &'static str) -> Result<T> {
        self.check(learner)?;
        postcard::take_from_bytes(&self.bytes).map(|(head, _)| head).map_err(|error| broken(learner, &error))
    }

    fn check(&self, learner: &'static str) -> Result<()> {
        if self.learner == learner {
            return Ok(());
        }
        let problem = format!("found the state of the learner {}, expected one of {learner}", self.learner);
        Err(Error::invalid("state", problem))
    }

    /// The learner whose state it is.
    pub fn learner(&self) -> &str {
        &self.learner
    }
}

fn broken(learner: &str, error: &postcard::Error) -> Error {
    Error::invalid("state", format!("it is not one of the learner {learner}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_gives_back_every_bit_and_to_its_learner_alone() {
        let numbers = vec![0.1, -0.0, f64::INFINITY, f64::MIN_POSITIVE, 1.0 / 3.0];
        let state = State::of("likelihood", &(7usize, numbers.clone())).unwrap();
        let (count, read): (usize, Vec<f64>) = state.read("likelihood").unwrap();
        assert_eq!(count, 7);
        assert!(read.iter().zip(&numbers).all(|(a, b)| a.to_bits() == b.to_bits()));
        let other = state.read::<(usize, Vec<f64>)>("factorized").unwrap_err().to_string();
        assert!(other.contains("likelihood") && other.contains("factorized"), "{other}");
        assert!(state.read::<Vec<Vec<f64>>>("likelihood").is_err());
    }
}
