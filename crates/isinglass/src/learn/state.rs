//! The state of a fit: all it needs to go on as if it had never stopped.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The state of a fit after an iteration.
///
/// An [`Observer`](super::Observer) takes it, [`Learner::fit_from`](super::Learner::fit_from) goes on from it, and what comes out has the same bits as if the fit had never
/// stopped. What is inside is the learner's own affair; random streams are chosen by iteration and row, so that no generator needs to be kept.
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
        if self.learner != learner {
            let problem =
                format!("found the state of the learner {}, expected one of {learner}", self.learner);
            return Err(Error::invalid("state", problem));
        }
        postcard::from_bytes(&self.bytes).map_err(|error| broken(learner, &error))
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
