//! Machines whose couplings and biases depend linearly on covariates.

use super::{Machine, nearest};
use crate::{Error, Result};

/// How couplings and biases change with one covariate.
#[derive(Debug, Clone, PartialEq)]
pub struct Moderator {
    /// The covariate.
    pub name: String,
    /// Its mean, at which the machine is the base.
    pub mean: f64,
    /// Its standard deviation, above 0.
    pub deviation: f64,
    /// What is added to each coupling for one standard deviation, in the order of the base's edges.
    pub weights: Vec<f64>,
    /// What is added to each bias for one standard deviation.
    pub biases: Vec<f64>,
}

/// A machine whose couplings and biases depend linearly on covariates:
///
/// ```text
/// w_ij(x) = w_ij + Σ_k z_k v_ijk        θ_i(x) = θ_i + Σ_k z_k u_ik        z_k = (x_k − mean_k) / deviation_k
/// ```
///
/// (Clark, Wells and Lindberg 2018, "Unravelling changing interspecific interactions across
/// environmental gradients using Markov random fields"; Haslbeck, Borsboom and Waldorp 2019.)
///
/// # Example
/// ```
/// use isinglass::machine::{Moderated, Moderator};
/// use isinglass::topology;
/// let base = topology::full(2).with_parameters(vec![0.5], vec![0.0; 2])?;
/// let age = Moderator { name: "age".into(), mean: 40.0, deviation: 10.0, weights: vec![0.2], biases: vec![0.0; 2] };
/// let pair = Moderated::new(base, vec![age])?;
/// assert_eq!(pair.at(&[("age", 50.0)])?.weights(), [0.7]);
/// assert_eq!(pair.at(&[])?.weights(), [0.5]);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Moderated {
    base: Machine,
    moderators: Vec<Moderator>,
}

impl Moderated {
    /// Puts a machine and its moderators together.
    ///
    /// # Errors
    /// Wrong numbers of numbers; a number that is not finite; a deviation that is not above 0; a
    /// name twice.
    pub fn new(base: Machine, moderators: Vec<Moderator>) -> Result<Self> {
        for (k, moderator) in moderators.iter().enumerate() {
            let place = || format!("moderator {k} '{}'", moderator.name);
            if moderators[..k].iter().any(|other| other.name == moderator.name) {
                return Err(Error::invalid(place(), "the name is already that of another"));
            }
            let (weights, biases) = (base.weights().len(), base.unit_count());
            Error::check_length("weights of a moderator", moderator.weights.len(), weights)?;
            Error::check_length("biases of a moderator", moderator.biases.len(), biases)?;
            let numbers = moderator.weights.iter().chain(&moderator.biases).chain([&moderator.mean]);
            if !numbers.chain([&moderator.deviation]).all(|x| x.is_finite()) {
                return Err(Error::invalid(place(), "found a number that is not finite"));
            }
            if moderator.deviation <= 0.0 {
                let problem = format!("found the deviation {}, expected one above 0", moderator.deviation);
                return Err(Error::invalid(place(), problem));
            }
        }
        Ok(Self { base, moderators })
    }

    /// The machine at the means of all covariates.
    pub fn base(&self) -> &Machine {
        &self.base
    }

    /// How couplings and biases change.
    pub fn moderators(&self) -> &[Moderator] {
        &self.moderators
    }

    /// The machine for values of covariates; those that are not given are at their means.
    ///
    /// # Errors
    /// An unknown covariate, or one twice; a value that is not finite.
    pub fn at(&self, values: &[(&str, f64)]) -> Result<Machine> {
        let mut weights = self.base.weights().to_vec();
        let mut biases = self.base.biases().to_vec();
        for (k, &(name, value)) in values.iter().enumerate() {
            let Some(moderator) = self.moderators.iter().find(|moderator| moderator.name == name) else {
                let names: Vec<String> = self.moderators.iter().map(|m| m.name.clone()).collect();
                let near =
                    nearest(name, &names).map_or(String::new(), |near| format!(" (did you mean '{near}'?)"));
                let known = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
                let problem =
                    format!("there is no covariate named '{name}'{near}; the machine's covariates: {known}");
                return Err(Error::invalid("at", problem));
            };
            if !value.is_finite() || values[..k].iter().any(|(other, _)| *other == name) {
                let problem = format!("'{name}' = {value}: expected one finite number for each covariate");
                return Err(Error::invalid("at", problem));
            }
            let z = (value - moderator.mean) / moderator.deviation;
            weights.iter_mut().zip(&moderator.weights).for_each(|(weight, v)| *weight += z * v);
            biases.iter_mut().zip(&moderator.biases).for_each(|(bias, u)| *bias += z * u);
        }
        self.base.clone().with_parameters(weights, biases)
    }
}
