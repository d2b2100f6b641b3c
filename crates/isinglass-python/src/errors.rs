//! Errors of the libraries as Python's: `ValueError` with the same message, settings written as
//! keywords; `OSError` where a file is unavailable.

use std::io::ErrorKind;

use isinglass::message::{Message, Style};
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError, PyValueError};

/// An error of the core.
pub(crate) fn of_core(error: isinglass::Error) -> PyErr {
    of_plan(error.into())
}

/// An error of a request, or of its work.
pub(crate) fn of_plan(error: isinglass_plan::Error) -> PyErr {
    PyValueError::new_err(error.text(Style::Keywords))
}

/// The same, with a hint where a question was refused for lack of memory.
pub(crate) fn of_asking(error: isinglass_plan::Error) -> PyErr {
    of_plan(error.with_advice())
}

/// An error of a file.
pub(crate) fn of_files(error: isinglass_files::Error) -> PyErr {
    let text = error.text(Style::Keywords);
    match error {
        isinglass_files::Error::Access { kind: ErrorKind::NotFound, .. } => {
            PyFileNotFoundError::new_err(text)
        }
        isinglass_files::Error::Access { kind: ErrorKind::PermissionDenied, .. } => {
            PyPermissionError::new_err(text)
        }
        isinglass_files::Error::Access { .. } => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// An argument that is not what it should be.
pub(crate) fn bad(place: &str, problem: &str) -> PyErr {
    PyValueError::new_err(format!("{place}: {problem}"))
}
