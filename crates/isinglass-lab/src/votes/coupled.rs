//! The machine of the study: a coupling between every two columns, fitted by exact maximum likelihood.

use isinglass::learn::{Fit, Learner, Likelihood};
use isinglass::{Enumerate, Machine, Result, Table, topology};

/// The penalty on couplings: 435 rows for 136 couplings need a little.
pub(super) const L2: f64 = 0.003;

/// No couplings yet.
pub(super) fn start(table: &Table) -> Result<Machine> {
    topology::full(table.columns().len()).with_names(table.columns().iter().cloned())
}

/// Missing cells are summed out. The maximum is the only one if no cells are missing.
pub(super) fn fit(table: &Table) -> Result<Fit> {
    Likelihood::new(&Enumerate::default()).l2(L2).fit(&start(table)?, table)
}
