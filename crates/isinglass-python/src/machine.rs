//! The class behind `isinglass.Machine`: a machine that does not change.

use std::path::PathBuf;
use std::sync::Arc;

use isinglass::message::{Message, Style};
use isinglass::topology::{self, Lattice, Numbers};
use isinglass::{Budget, Role, Unit};
use isinglass_files::{Output, read_model, write_model};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::{bad, of_core, of_files};

/// A machine.
#[pyclass(frozen, module = "isinglass._native")]
pub(crate) struct Machine {
    pub(crate) machine: Arc<isinglass::Machine>,
}

impl From<isinglass::Machine> for Machine {
    fn from(machine: isinglass::Machine) -> Self {
        Self { machine: Arc::new(machine) }
    }
}

#[pymethods]
impl Machine {
    /// From names, biases, edges (pairs of positions), their weights and roles.
    #[new]
    #[pyo3(signature = (names, bias, edges, weights, roles = None, temperature = 1.0, offset = 0.0))]
    fn new(
        names: Vec<String>,
        bias: PyReadonlyArray1<'_, f64>,
        edges: PyReadonlyArray2<'_, i64>,
        weights: PyReadonlyArray1<'_, f64>,
        roles: Option<Vec<String>>,
        temperature: f64,
        offset: f64,
    ) -> PyResult<Self> {
        let same = |what: &str, found: usize, expected: usize| {
            if found == expected {
                Ok(())
            } else {
                Err(bad(what, &format!("found {found}, expected {expected}")))
            }
        };
        same("biases", bias.len(), names.len())?;
        same("weights", weights.len(), edges.shape()[0])?;
        let roles: Vec<Role> = match roles {
            Some(words) => {
                words.iter().map(|word| word.parse()).collect::<Result<_, _>>().map_err(of_core)?
            }
            None => vec![Role::Visible; names.len()],
        };
        same("roles", roles.len(), names.len())?;
        let units = names.into_iter().zip(bias.as_array()).zip(roles);
        let units = units.map(|((name, &bias), role)| Unit { name, role, bias }).collect();
        let edges = edges.as_array();
        let mut list = Vec::with_capacity(edges.nrows());
        for (row, &weight) in edges.rows().into_iter().zip(weights.as_array()) {
            let [a, b] = [row[0], row[1]].map(usize::try_from);
            let (Ok(a), Ok(b)) = (a, b) else {
                return Err(bad(
                    "edges",
                    &format!("found ({}, {}), expected positions of units", row[0], row[1]),
                ));
            };
            list.push((a, b, weight));
        }
        let machine = isinglass::Machine::new(units, list)
            .and_then(|machine| machine.with_temperature(temperature))
            .and_then(|machine| machine.with_offset(offset))
            .map_err(of_core)?;
        Ok(machine.into())
    }

    /// A machine of a usual structure: `chain`, `grid`, `grid8`, `triangular` and `grid3` with their
    /// sides, `regular` with the number of units and their degree.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the keywords of a function of Python")]
    fn make(
        py: Python<'_>,
        kind: &str,
        sizes: Vec<usize>,
        periodic: bool,
        coupling: &str,
        bias: &str,
        temperature: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let numbers = |place: &str, text: &str| {
            text.parse::<Numbers>().map_err(|error| match error {
                isinglass::Error::Invalid { problem, .. } => bad(place, &problem),
                other => of_core(other),
            })
        };
        let (coupling, bias) = (numbers("coupling", coupling)?, numbers("bias", bias)?);
        let lattice = match (kind, &sizes[..]) {
            ("chain", &[units]) => Some(Lattice::chain(units)),
            ("grid", &[rows, columns]) => Some(Lattice::grid(rows, columns)),
            ("grid8", &[rows, columns]) => Some(Lattice::grid8(rows, columns)),
            ("triangular", &[rows, columns]) => Some(Lattice::triangular(rows, columns)),
            ("grid3", &[rows, columns, layers]) => Some(Lattice::grid3(rows, columns, layers)),
            ("regular", &[_, _]) => None,
            _ => return Err(bad("kind", &format!("found '{kind}' with {} sizes", sizes.len()))),
        };
        let lattice = lattice.map(|lattice| lattice.periodic(periodic));
        let make = || {
            let (units, edges) = match lattice {
                Some(lattice) => (lattice.unit_count(), lattice.most_edges()),
                None => (sizes[0] as u128, (sizes[0] as u128).saturating_mul(sizes[1] as u128).div_ceil(2)),
            };
            let what = || format!("a machine of {units} units with up to {edges} edges");
            Budget::default().check("make", isinglass::Machine::bytes(units, edges), what)?;
            let machine = match lattice {
                Some(lattice) => topology::lattice(&lattice)?,
                None => topology::regular(sizes[0], sizes[1], seed)?,
            };
            machine.with_numbers(&coupling, &bias, seed)?.with_temperature(temperature)
        };
        py.detach(make).map(Self::from).map_err(of_core)
    }

    /// The same machine at another temperature.
    fn with_temperature(&self, temperature: f64) -> PyResult<Self> {
        let machine = isinglass::Machine::clone(&self.machine).with_temperature(temperature);
        machine.map(Self::from).map_err(of_core)
    }

    /// The energy of each row of −1 and +1.
    fn energies<'py>(
        &self,
        py: Python<'py>,
        states: PyReadonlyArray2<'_, i8>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let cells: Vec<i8> = states.as_array().iter().copied().collect();
        let machine = &self.machine;
        Ok(py.detach(|| machine.energies(&cells)).map_err(of_core)?.into_pyarray(py))
    }

    /// From a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| read_model(&path)).map(Self::from).map_err(of_files)
    }

    /// To a model file; returns what should be known of it.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<String>> {
        let notes = py.detach(|| write_model(&self.machine, Output::create(&path)?)).map_err(of_files)?;
        Ok(notes.iter().map(|note| note.text(Style::Keywords)).collect())
    }

    #[getter]
    fn names(&self) -> Vec<&str> {
        self.machine.names().iter().map(String::as_str).collect()
    }

    #[getter]
    fn roles(&self) -> Vec<&'static str> {
        self.machine.roles().iter().map(|role| role.word()).collect()
    }

    #[getter]
    fn bias<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.machine.biases())
    }

    #[getter]
    fn edge_weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.machine.weights())
    }

    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        pairs_array(py, self.machine.graph().edges().iter().copied())
    }

    #[getter]
    fn temperature(&self) -> f64 {
        self.machine.temperature()
    }

    #[getter]
    fn offset(&self) -> f64 {
        self.machine.offset()
    }

    fn __len__(&self) -> usize {
        self.machine.unit_count()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.machine == other.machine
    }
}

/// Pairs of positions, one a row.
pub(crate) fn pairs_array(
    py: Python<'_>,
    pairs: impl ExactSizeIterator<Item = (usize, usize)>,
) -> PyResult<Bound<'_, PyArray2<i64>>> {
    use numpy::PyArrayMethods;
    let count = pairs.len();
    let cells: Vec<i64> = pairs.flat_map(|(a, b)| [a as i64, b as i64]).collect();
    cells.into_pyarray(py).reshape([count, 2])
}
