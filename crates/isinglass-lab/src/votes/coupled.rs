//! The machine of the study: all pairs of columns coupled, fitted by exact maximum likelihood.

use isinglass::learn::{Fit, Learner, Likelihood};
use isinglass::{Enumerate, Machine, Result, Table, topology};

/// The L2 penalty on couplings: 435 rows for 136 couplings need a small one.
pub(super) const L2: f64 = 0.003;

/// Returns the start of the fit: all couplings 0.
pub(super) fn start(table: &Table) -> Result<Machine> {
    topology::full(table.columns().len()).with_names(table.columns().iter().cloned())
}

/// Fits with missing cells summed out. The maximum is unique if no cells are missing.
pub(super) fn fit(table: &Table) -> Result<Fit> {
    Likelihood::new(&Enumerate::default()).l2(L2).fit(&start(table)?, table)
}
