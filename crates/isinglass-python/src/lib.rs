//! The native half of the Python package `isinglass`; the other half, which users see, is in
//! `python/isinglass`.
//!
//! Functions here take and give plain things: arrays, dictionaries, words. Their checks are the
//! core's; what is computed is computed by the same calls as on the command line. Long work runs
//! without the interpreter's lock, and Ctrl-C ends the wait for it (`worker`).

#![expect(
    clippy::needless_pass_by_value,
    reason = "what comes from Python is owned by the function, and errors are handed over by map_err"
)]

mod answers;
mod bootstrap;
mod compare;
mod errors;
mod evidence;
mod fit;
mod machine;
mod network;
mod on_tables;
mod posterior;
mod scan;
mod settings;
mod table;
mod value;
mod worker;

use pyo3::prelude::*;

/// The module `isinglass._native`.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use crate::answers::{cumulants, infer, info, mode, query, sample, time_infer};
    #[pymodule_export]
    use crate::compare::compare;
    #[pymodule_export]
    use crate::fit::{fit, run_epochs};
    #[pymodule_export]
    use crate::machine::Machine;
    #[pymodule_export]
    use crate::network::centrality;
    #[pymodule_export]
    use crate::on_tables::{complete, log_likelihood, log_likelihoods, score};
    #[pymodule_export]
    use crate::scan::scan;
    #[pymodule_export]
    use crate::table::Table;

    use std::ffi::OsString;

    use super::{Bound, PyModule, PyModuleMethods, PyResult, Python, pyfunction};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Run the command `isinglass` with arguments (the first is its name), and return its exit
    /// code.
    #[pyfunction]
    fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| isinglass_cli::main(arguments))
    }
}
