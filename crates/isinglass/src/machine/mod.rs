//! Boltzmann machines: units, couplings, temperature, evidence, and the usual topologies.

mod evidence;
mod labels;
mod moderated;
mod regular;
pub mod topology;
mod unit;

use std::sync::Arc;

use rayon::prelude::*;

pub use evidence::Evidence;
pub use moderated::{Moderated, Moderator};
pub use unit::{Role, Spin, Unit};

use self::labels::Labels;
use crate::{Error, Graph, Result};

/// A Boltzmann machine: a [`Graph`] with weights, biases, temperature, names and roles.
///
/// ```text
/// -E(s) = Σ_{i<j} w_ij s_i s_j + Σ_i θ_i s_i        P(s) = exp(-E(s)/T) / Z
/// ```
///
/// An offset, added to −E/T of every state, shifts log Z and nothing else.
///
/// Structure and labels are shared between copies; a new set of parameters costs only its numbers.
///
/// # Example
/// ```
/// use isinglass::{Machine, Unit};
/// let machine = Machine::new(vec![Unit::new("a", 0.1), Unit::new("b", -0.2)], [(0, 1, 0.5)])?;
/// assert_eq!(machine.negative_energy(&[1, -1]), 0.1 + 0.2 - 0.5);
/// assert_eq!(machine.position("b")?, 1);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    graph: Arc<Graph>,
    labels: Arc<Labels>,
    weights: Vec<f64>,
    biases: Vec<f64>,
    temperature: f64,
    offset: f64,
}

impl Machine {
    /// Builds a machine from units and weighted edges (positions in `units`, in any order).
    ///
    /// # Errors
    /// A repeated or empty name, a number that is not finite, an invalid edge; with the place.
    pub fn new(units: Vec<Unit>, edges: impl IntoIterator<Item = (usize, usize, f64)>) -> Result<Self> {
        let edges: Vec<_> = edges.into_iter().collect();
        let graph = Graph::new(units.len(), edges.iter().map(|&(a, b, _)| (a, b)))?;
        let mut weights = vec![0.0; edges.len()];
        for (k, &(a, b, weight)) in edges.iter().enumerate() {
            finite(weight, || format!("weight of edge {k} ({a}, {b})"))?;
            // Edges in the graph's own order need no search; the graph was made from these edges.
            let in_order = graph.edges().get(k) == Some(&(a, b));
            let edge = if in_order { Some(k) } else { graph.edge_between(a, b) };
            weights[edge.expect("an edge of the list is an edge of the graph")] = weight;
        }
        for (k, unit) in units.iter().enumerate() {
            finite(unit.bias, || format!("bias of unit {k} '{}'", unit.name))?;
        }
        let biases = units.iter().map(|unit| unit.bias).collect();
        let (names, roles) = units.into_iter().map(|unit| (unit.name, unit.role)).unzip();
        Ok(Self {
            graph: Arc::new(graph),
            labels: Arc::new(Labels::new(names, roles)?),
            weights,
            biases,
            temperature: 1.0,
            offset: 0.0,
        })
    }

    /// A machine with all weights and biases zero and visible units named `x0`, `x1`, ….
    pub fn from_graph(graph: impl Into<Arc<Graph>>) -> Self {
        let graph = graph.into();
        let n = graph.unit_count();
        Self {
            weights: vec![0.0; graph.edges().len()],
            biases: vec![0.0; n],
            labels: Arc::new(Labels::numbered(n)),
            graph,
            temperature: 1.0,
            offset: 0.0,
        }
    }

    /// The approximate size of a machine in bytes, names included.
    pub fn bytes(units: u128, edges: u128) -> u128 {
        units.saturating_mul(128).saturating_add(edges.saturating_mul(56))
    }

    /// The same machine with other names.
    pub fn with_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Error::check_length("names", names.len(), self.unit_count())?;
        self.labels = Arc::new(Labels::new(names, self.labels.roles.clone())?);
        Ok(self)
    }

    /// The same machine with other roles.
    pub fn with_roles(mut self, roles: Vec<Role>) -> Result<Self> {
        Error::check_length("roles", roles.len(), self.unit_count())?;
        self.labels = Arc::new(self.labels.with_roles(roles));
        Ok(self)
    }

    /// The same machine with other weights, one for each of [`Graph::edges`], and biases.
    ///
    /// # Errors
    /// A wrong length, or a number that is not finite.
    pub fn with_parameters(mut self, weights: Vec<f64>, biases: Vec<f64>) -> Result<Self> {
        Error::check_length("weights", weights.len(), self.graph.edges().len())?;
        Error::check_length("biases", biases.len(), self.unit_count())?;
        for (k, &weight) in weights.iter().enumerate() {
            finite(weight, || format!("weight of edge {k} {:?}", self.graph.edges()[k]))?;
        }
        for (k, &bias) in biases.iter().enumerate() {
            finite(bias, || format!("bias of unit {k} '{}'", self.name(k)))?;
        }
        self.weights = weights;
        self.biases = biases;
        Ok(self)
    }

    /// The same machine at another temperature: every state keeps its [`energy`](Self::energy).
    ///
    /// Weights and biases stay. The offset is a constant of `-E/T`; it becomes `offset·T_old/T_new`,
    /// the same constant of E. (What the constant of a file means at another temperature is not
    /// defined by the file; only differences of log Z at one temperature are independent of it.)
    ///
    /// # Errors
    /// A temperature that is not finite and above 0; an offset beyond the range of numbers there.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Machine, Unit};
    /// let pair = Machine::new(vec![Unit::new("a", 0.0), Unit::new("b", 0.0)], [(0, 1, 0.5)])?;
    /// let warm = pair.with_offset(3.0)?.with_temperature(2.0)?;
    /// assert_eq!((warm.weights()[0], warm.offset()), (0.5, 1.5));
    /// assert_eq!(warm.energy(&[1, 1]), -3.5);
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn with_temperature(mut self, temperature: f64) -> Result<Self> {
        if !(temperature.is_finite() && temperature > 0.0) {
            let problem = format!("found {temperature}, expected a finite number above 0");
            return Err(Error::invalid("temperature", problem));
        }
        if self.offset != 0.0 {
            let offset = self.offset * (self.temperature / temperature);
            finite(offset, || format!("offset at temperature {temperature}"))?;
            self.offset = offset;
        }
        self.temperature = temperature;
        Ok(self)
    }

    /// The same machine with a constant added to `-E/T` of every state, which shifts log Z only.
    pub fn with_offset(mut self, offset: f64) -> Result<Self> {
        finite(offset, || "offset".into())?;
        self.offset = offset;
        Ok(self)
    }

    /// The structure.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The number of units.
    pub fn unit_count(&self) -> usize {
        self.biases.len()
    }

    /// The name of a unit.
    pub fn name(&self, unit: usize) -> &str {
        &self.labels.names[unit]
    }

    /// All names, in the machine's order.
    pub fn names(&self) -> &[String] {
        &self.labels.names
    }

    /// All roles, in the machine's order.
    pub fn roles(&self) -> &[Role] {
        &self.labels.roles
    }

    /// The positions of the units with a role.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = usize> + '_ {
        (0..self.unit_count()).filter(move |&unit| self.labels.roles[unit] == role)
    }

    /// The position of the unit with a name.
    ///
    /// # Errors
    /// [`Error::UnknownUnit`], with the nearest name as a hint.
    pub fn position(&self, name: &str) -> Result<usize> {
        self.labels.position(name).ok_or_else(|| Error::UnknownUnit {
            name: name.to_owned(),
            hint: nearest(name, &self.labels.names),
        })
    }

    /// One weight for each edge of the graph.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// One bias for each unit.
    pub fn biases(&self) -> &[f64] {
        &self.biases
    }

    /// T.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// The constant added to `-E/T`.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// `-E(s) = Σ w_ij s_i s_j + Σ θ_i s_i` of a complete state of −1 and +1.
    pub fn negative_energy(&self, state: &[i8]) -> f64 {
        let edges = self.graph.edges().iter().zip(&self.weights);
        let pairs: f64 = edges.map(|(&(a, b), w)| w * f64::from(state[a] * state[b])).sum();
        let singles: f64 = self.biases.iter().zip(state).map(|(bias, &s)| bias * f64::from(s)).sum();
        pairs + singles
    }

    /// The energy of a complete state of −1 and +1, the offset included:
    /// `-Σ w_ij s_i s_j - Σ θ_i s_i - T·offset`, which is −T times its [`log_weight`](Self::log_weight).
    pub fn energy(&self, state: &[i8]) -> f64 {
        // 0 less the sum, so that nothing is −0.
        0.0 - (self.negative_energy(state) + self.temperature * self.offset)
    }

    /// The [`energy`](Self::energy) of each of many complete states, one after another.
    ///
    /// # Errors
    /// Cells that do not make whole states, or a value other than −1 and +1, with its place.
    ///
    /// # Example
    /// ```
    /// use isinglass::topology;
    /// let pair = topology::chain(2).with_parameters(vec![0.5], vec![0.0, 0.1])?;
    /// assert_eq!(pair.energies(&[1, 1, 1, -1])?, [-0.6, 0.6]);
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn energies(&self, states: &[i8]) -> Result<Vec<f64>> {
        let n = self.unit_count();
        if n == 0 || !states.len().is_multiple_of(n) {
            let problem =
                format!("found {} cells, expected a multiple of {n}, one for each unit", states.len());
            return Err(Error::invalid("states", problem));
        }
        if let Some(at) = states.iter().position(|&cell| Spin::of(cell).is_none()) {
            let place = format!("states: row {}, unit '{}'", at / n, self.name(at % n));
            return Err(Error::invalid(place, format!("found {}, expected -1 or +1", states[at])));
        }
        Ok(states.par_chunks_exact(n).map(|state| self.energy(state)).collect())
    }

    /// `-E(s)/T + offset`, the logarithm of a state's weight in Z.
    pub fn log_weight(&self, state: &[i8]) -> f64 {
        self.negative_energy(state) / self.temperature + self.offset
    }

    /// Checks that evidence has as many units as the machine.
    pub(crate) fn check_evidence(&self, evidence: &Evidence) -> Result<()> {
        Error::check_length("evidence", evidence.unit_count(), self.unit_count())
    }

    /// A bound on |E|/T.
    pub(crate) fn scale(&self) -> f64 {
        let size = |numbers: &[f64]| numbers.iter().map(|x| x.abs() / self.temperature).sum::<f64>();
        size(&self.weights) + size(&self.biases)
    }

    /// Checks that |E|/T stays within the range of an engine's numbers.
    pub(crate) fn check_scale(&self, engine: &'static str, limit: f64) -> Result<()> {
        let scale = self.scale();
        if scale + self.offset.abs() < limit {
            return Ok(());
        }
        let offset = self.offset;
        let what = if scale >= limit {
            format!("weights and biases divided by the temperature add up to {scale:e}")
        } else {
            format!("the offset of the machine is {offset:e}, and its other energies add up to {scale:e}")
        };
        let problem = format!("{what}, beyond the limit of {limit:e}");
        Err(Error::Numerical { method: engine, problem })
    }

    /// The machine of the free units given the evidence.
    ///
    /// Weights to clamped units become biases, and the clamped units' own terms go into the offset:
    /// log Z of the conditional machine is log Z of this machine under the evidence.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Evidence, Machine, Spin, Unit};
    /// let pair = Machine::new(vec![Unit::new("a", 0.1), Unit::new("b", 0.2)], [(0, 1, 0.5)])?;
    /// let mut evidence = Evidence::none(2);
    /// evidence.clamp(0, Spin::Down);
    /// let given_a = pair.conditional(&evidence)?;
    /// assert_eq!(given_a.names(), ["b"]);
    /// assert_eq!((given_a.biases()[0], given_a.offset()), (0.2 - 0.5, -0.1));
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn conditional(&self, evidence: &Evidence) -> Result<Self> {
        self.check_evidence(evidence)?;
        let free: Vec<usize> = evidence.free().collect();
        let mut place = vec![usize::MAX; self.unit_count()];
        for (k, &unit) in free.iter().enumerate() {
            place[unit] = k;
        }
        let value = |unit: usize| f64::from(evidence.cells()[unit]);
        let mut biases: Vec<f64> = free.iter().map(|&unit| self.biases[unit]).collect();
        let mut constant: f64 = (0..self.unit_count()).map(|i| self.biases[i] * value(i)).sum();
        let (mut edges, mut weights) = (Vec::new(), Vec::new());
        for (&(a, b), &w) in self.graph.edges().iter().zip(&self.weights) {
            match (evidence.get(a), evidence.get(b)) {
                (None, None) => {
                    edges.push((place[a], place[b]));
                    weights.push(w);
                }
                (None, Some(_)) => biases[place[a]] += w * value(b),
                (Some(_), None) => biases[place[b]] += w * value(a),
                (Some(_), Some(_)) => constant += w * value(a) * value(b),
            }
        }
        let names = free.iter().map(|&unit| self.name(unit).to_owned()).collect();
        let roles = free.iter().map(|&unit| self.roles()[unit]).collect();
        Ok(Self {
            graph: Arc::new(Graph::from_sorted(free.len(), edges)?),
            labels: Arc::new(Labels::new(names, roles)?),
            weights,
            biases,
            temperature: self.temperature,
            offset: self.offset + constant / self.temperature,
        })
    }
}

fn finite(number: f64, place: impl Fn() -> String) -> Result<()> {
    if number.is_finite() {
        return Ok(());
    }
    Err(Error::invalid(place(), format!("found {number}, expected a finite number")))
}

/// The name that differs least from a mistyped one, if it differs little.
pub fn nearest(name: &str, names: &[String]) -> Option<String> {
    // One letter is near to every other letter, which is no help.
    let length = name.chars().count();
    let limit = length.saturating_sub(1).min(length.div_ceil(3));
    names
        .iter()
        .map(|known| (edit_distance(name, known, limit), known))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, known)| known.clone())
}

/// The Levenshtein distance of two words, ignoring case; `limit + 1` for any beyond the limit.
fn edit_distance(a: &str, b: &str, limit: usize) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn construction_errors_name_the_place() {
        let units = || vec![Unit::new("a", 0.0), Unit::new("b", 0.0)];
        let same = vec![Unit::new("a", 0.0), Unit::new("a", 0.0)];
        let infinite = vec![Unit::new("a", f64::INFINITY)];
        for (result, message) in [
            (
                Machine::new(units(), [(0, 1, f64::NAN)]),
                "weight of edge 0 (0, 1): found NaN, expected a finite number",
            ),
            (Machine::new(same, []), "unit 1 'a': the name is already that of unit 0"),
            (Machine::new(infinite, []), "bias of unit 0 'a': found inf, expected a finite number"),
            (
                Machine::new(units(), []).unwrap().with_temperature(0.0),
                "temperature: found 0, expected a finite number above 0",
            ),
        ] {
            assert_eq!(result.unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn the_nearest_name_is_suggested_for_a_mistyped_one() {
        let machine = Machine::new(vec![Unit::new("budget", 0.0), Unit::new("crime", 0.0)], []).unwrap();
        for (name, message) in [
            ("bugdet", "there is no unit named 'bugdet' (did you mean 'budget'?)"),
            ("zebra", "there is no unit named 'zebra'"),
        ] {
            assert_eq!(machine.position(name).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn weights_follow_their_edges_whatever_the_order_given() {
        let units = || (0..4).map(|k| Unit::new(format!("u{k}"), 0.0)).collect();
        let one = Machine::new(units(), [(3, 1, 0.3), (0, 2, 0.1), (1, 2, 0.2)]).unwrap();
        let two = Machine::new(units(), [(2, 1, 0.2), (1, 3, 0.3), (2, 0, 0.1)]).unwrap();
        assert_eq!(one, two);
        assert_eq!(one.weights(), [0.1, 0.2, 0.3]);
    }

    #[test]
    fn energies_are_those_of_log_weights_at_every_temperature() {
        let units = vec![Unit::new("a", 0.3), Unit::new("b", -0.2), Unit::new("c", 0.0)];
        let machine = Machine::new(units, [(0, 1, 0.5), (1, 2, -1.5)]).unwrap();
        let machine = machine.with_temperature(1.7).unwrap().with_offset(-2.5).unwrap();
        let cells: Vec<i8> =
            (0..8).flat_map(|k| [1, 2, 4].map(|bit| if k & bit > 0 { 1 } else { -1 })).collect();
        let energies = machine.energies(&cells).unwrap();
        for temperature in [1.7, 0.25, 30.0] {
            let moved = machine.clone().with_temperature(temperature).unwrap();
            for (state, energy) in cells.chunks(3).zip(&energies) {
                assert!((moved.energy(state) - energy).abs() < 1e-13);
                assert!((moved.log_weight(state) + energy / temperature).abs() < 1e-12);
            }
        }
        assert_eq!(machine.clone().with_temperature(1.7).unwrap(), machine);
        for (cells, message) in [
            (&[1, -1][..], "states: found 2 cells, expected a multiple of 3, one for each unit"),
            (&[1, -1, 1, 1, 0, 1], "states: row 1, unit 'b': found 0, expected -1 or +1"),
        ] {
            assert_eq!(machine.energies(cells).unwrap_err().to_string(), message);
        }
        let cold = machine.with_offset(1e300).unwrap().with_temperature(1e-20);
        assert!(cold.unwrap_err().to_string().starts_with("offset at temperature"));
    }
}
