//! What most programs need: `use isinglass::prelude::*`.

pub use crate::engine::{
    Ais, Ask, Bethe, Decimate, Eliminate, Engine, Enumerate, Expectations, Gibbs, Guarantee, LinearResponse,
    LogDet, MeanField, Mixture, ModeFinder, Pairs, Sampler, Structured, Tap, Trw,
};
pub use crate::learn::{
    ClosedForm, ContrastiveDivergence, Factorized, Fit, Learner, Likelihood, MeanFieldCd, PseudoLikelihood,
    PseudoLikelihoodEm, Restarts,
};
pub use crate::machine::{Evidence, Machine, Role, Spin, Unit, topology};
pub use crate::search::MaxProduct;
pub use crate::{Batch, Budget, CancelToken, Graph, Table};
