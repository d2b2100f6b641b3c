//! The choice `auto`: an exact engine whenever its cost is within the budget.

use std::fmt;

use super::exact::pinned::clamp_pinned;
use super::sampling::ByRows;
use super::{Ais, Decimate, Eliminate, Engine, Enumerate, Gibbs, Guarantee, Open, Temper, variational};
use crate::{Budget, Error, Evidence, Machine, Result, Work};

/// What an engine would do for a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The engine.
    pub engine: &'static str,
    /// Whether it can run within the budget.
    pub available: bool,
    /// What kind of answers it gives.
    pub answers: Guarantee,
    /// The bytes that count against the budget; `None` if it cannot run whatever the budget.
    pub bytes: Option<u128>,
    /// The work of an exact engine, where it was counted.
    pub work: Option<Work>,
    /// The elimination order and its width, for engines that have one.
    pub order: Option<(Vec<usize>, usize)>,
    /// The cost in words, or why it cannot run.
    pub cost: String,
}

/// What each engine would cost for the free units of a machine.
///
/// # Example
/// ```
/// use isinglass::{Budget, Evidence, Machine, engine::auto, topology};
/// let chain = topology::chain(1000);
/// let offers = auto::offers(&chain, &Evidence::none(1000), Budget::default())?;
/// let able: Vec<&str> = offers.iter().filter(|offer| offer.available).map(|offer| offer.engine).collect();
/// assert_eq!(able[..4], ["decimate", "eliminate", "mean-field", "mixture"]);
/// assert_eq!(able[4..], ["structured", "trw", "logdet", "tap", "linear-response", "bethe", "temper", "gibbs", "ais"]);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn offers(machine: &Machine, evidence: &Evidence, budget: Budget) -> Result<Vec<Offer>> {
    machine.check_evidence(evidence)?;
    let free: Vec<usize> = clamp_pinned(machine, evidence, &[]).free().collect();
    let count = free.len();
    let gibbs = Gibbs::new().budget(budget);
    let sampling =
        format!("{} chains of {} states, {}", gibbs.chains, gibbs.samples, Budget::bytes(gibbs.bytes(count)));
    let mut offers = vec![
        Decimate::new().budget(budget).estimate(machine, &free).offer(Decimate::NAME),
        Eliminate::new().budget(budget).estimate(machine, &free).offer(Eliminate::NAME),
        enumeration(count, budget),
    ];
    let width = offers[1].order.as_ref().map(|order| order.1);
    offers.extend(variational::offers(machine, &free, width, budget)?);
    offers.push(tempering(machine, count, budget));
    offers.push(Offer {
        engine: Gibbs::NAME,
        available: gibbs.check(count).is_ok(),
        answers: Guarantee::Estimate,
        bytes: Some(gibbs.bytes(count)),
        work: None,
        order: None,
        cost: sampling,
    });
    offers.push(annealing(machine, count, budget));
    Ok(offers)
}

fn tempering(machine: &Machine, free_units: usize, budget: Budget) -> Offer {
    let temper = Temper::new().budget(budget);
    let bytes = temper.bytes(free_units, machine.graph().edges().len());
    Offer {
        engine: Temper::NAME,
        available: temper.check(machine, free_units, 0).is_ok(),
        answers: Guarantee::Estimate,
        bytes: Some(bytes),
        work: None,
        order: None,
        cost: format!("{} runs of two ladders, {}", temper.replicas, Budget::bytes(bytes)),
    }
}

fn annealing(machine: &Machine, free_units: usize, budget: Budget) -> Offer {
    let ais = Ais::new().budget(budget);
    let bytes = ais.bytes(free_units, machine.graph().edges().len());
    let (chains, temperatures) = (ais.chains, ais.steps());
    Offer {
        engine: Ais::NAME,
        available: ais.check(machine, free_units, 0).is_ok(),
        answers: Guarantee::Estimate,
        bytes: Some(bytes),
        work: None,
        order: None,
        cost: format!("{chains} runs through {temperatures} temperatures, {}", Budget::bytes(bytes)),
    }
}

fn enumeration(free_units: usize, budget: Budget) -> Offer {
    let bytes = Enumerate::cost(free_units);
    Offer {
        engine: Enumerate::NAME,
        available: Enumerate::new().budget(budget).check(free_units).is_ok(),
        answers: Guarantee::Exact,
        bytes: Some(bytes),
        work: Some(Enumerate::work(free_units)),
        order: None,
        cost: enumeration_cost(free_units),
    }
}

fn enumeration_cost(free_units: usize) -> String {
    format!("2^{free_units} states, {} at 8 bytes each", Budget::bytes(Enumerate::cost(free_units)))
}

/// What a network would cost, or why there is none.
pub(super) type Estimate = Result<NetworkCost>;

/// The cost of an adjoint network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NetworkCost {
    /// The free units, the first to be eliminated first.
    pub(super) order: Vec<usize>,
    pub(super) width: usize,
    pub(super) bytes: u128,
    /// Sums of two terms in one pass.
    pub(super) work: f64,
}

trait AsOffer {
    fn offer(self, engine: &'static str) -> Offer;
}

impl AsOffer for Estimate {
    fn offer(self, engine: &'static str) -> Offer {
        match self {
            Ok(NetworkCost { width, bytes, order, work }) => Offer {
                engine,
                available: true,
                answers: Guarantee::Exact,
                bytes: Some(bytes),
                work: Some(Work::Sums(work)),
                order: Some((order, width)),
                cost: format!("width {width}, {}", Budget::bytes(bytes)),
            },
            Err(error) => Offer {
                engine,
                available: false,
                answers: Guarantee::Exact,
                bytes: match error {
                    Error::OverBudget { needed, .. } => Some(needed),
                    _ => None,
                },
                work: error.work(),
                order: None,
                cost: error.to_string(),
            },
        }
    }
}

/// What `auto` takes, and why.
pub enum Choice {
    /// An exact engine; what it prepared to estimate its cost, it has kept.
    Exact {
        /// The engine.
        engine: Box<dyn Engine>,
        /// Why it was chosen.
        reason: Reason,
    },
    /// No exact engine is within the budget: sampling is left.
    Sampling {
        /// The error of the exact engine that came nearest.
        refusal: Error,
    },
}

/// Why `auto` chose an engine.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// Decimation applies.
    Decimate {
        /// The number of free units.
        free: usize,
        /// The width of their elimination order.
        width: usize,
    },
    /// Elimination is the cheapest exact engine.
    Eliminate {
        /// The number of free units.
        free: usize,
        /// The width of their elimination order.
        width: usize,
        /// The bytes that it needs.
        bytes: u128,
        /// Its work.
        work: Work,
    },
    /// Elimination serves every row of a table.
    EliminateRows {
        /// The largest number of free units in a row.
        free: usize,
    },
    /// Enumeration is the cheapest exact engine.
    Enumerate {
        /// The number of free units.
        free: usize,
    },
    /// No exact engine is within the budget.
    Sampling {
        /// The engine that samples.
        engine: &'static str,
        /// The error of the exact engine that came nearest.
        refusal: Error,
    },
}

impl Reason {
    /// The work for one answer, where it was counted.
    pub fn work(&self) -> Option<Work> {
        match self {
            Self::Eliminate { work, .. } => Some(*work),
            Self::Enumerate { free } => Some(Enumerate::work(*free)),
            _ => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decimate { free, width } => {
                write!(f, "decimate (exact: {} at width {width})", free_units(*free))
            }
            Self::Eliminate { free, width, bytes, work: _ } => {
                let (free, bytes) = (free_units(*free), Budget::bytes(*bytes));
                write!(f, "eliminate (exact: {free} at width {width}, {bytes})")
            }
            Self::EliminateRows { free } => {
                write!(f, "eliminate (exact: up to {} in a row)", free_units(*free))
            }
            Self::Enumerate { free } => write!(f, "enumerate (exact: {})", enumeration_cost(*free)),
            Self::Sampling { engine, refusal } => write!(f, "{engine} (estimates: {refusal})"),
        }
    }
}

/// A sum of two terms in a network takes as long as about this many states of an enumeration.
const STATES_PER_SUM: f64 = 8.0;

/// Up to this many states, enumeration takes microseconds.
const FEW_STATES: f64 = 4096.0;

/// Choose an engine for the free units of a machine: decimation where it applies, otherwise the
/// cheaper of elimination and enumeration.
///
/// # Example
/// ```
/// use isinglass::{Budget, Engine, Evidence, Machine, engine::auto::{self, Choice}, topology};
/// let clique = topology::full(12);
/// let Choice::Exact { engine, .. } = auto::choose(&clique, &Evidence::none(12), Budget::default())? else { panic!() };
/// assert_eq!(engine.name(), "enumerate");
///
/// let clique = topology::full(60);
/// assert!(matches!(auto::choose(&clique, &Evidence::none(60), Budget::default())?, Choice::Sampling { .. }));
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn choose(machine: &Machine, evidence: &Evidence, budget: Budget) -> Result<Choice> {
    machine.check_evidence(evidence)?;
    // As the engines will do: what is pinned is not summed over.
    let free: Vec<usize> = clamp_pinned(machine, evidence, &[]).free().collect();
    let decimate = Decimate::new().budget(budget);
    if let Ok(cost) = decimate.estimate(machine, &free) {
        let reason = Reason::Decimate { free: free.len(), width: cost.width };
        return Ok(Choice::Exact { engine: Box::new(decimate), reason });
    }
    let enumeration = enumeration(free.len(), budget);
    let few = (free.len() as f64).exp2();
    let eliminate = Eliminate::new().budget(budget);
    // So few states are not worth the search for an order.
    if enumeration.available && few <= FEW_STATES {
        return Ok(enumerate(free.len(), budget));
    }
    match eliminate.estimate(machine, &free) {
        Ok(cost) if !enumeration.available || cost.work * STATES_PER_SUM < few => {
            let (width, bytes, work) = (cost.width, cost.bytes, Work::Sums(cost.work));
            let reason = Reason::Eliminate { free: free.len(), width, bytes, work };
            Ok(Choice::Exact { engine: Box::new(eliminate), reason })
        }
        Err(error) if !enumeration.available => Ok(Choice::Sampling { refusal: error }),
        _ => Ok(enumerate(free.len(), budget)),
    }
}

/// Choose an engine that serves every row of a table, as [`choose`] does for one.
///
/// # Example
/// ```
/// use isinglass::engine::auto::{self, Choice};
/// use isinglass::{Budget, Engine, Table, complete, topology};
/// let table = Table::from_rows(["x0", "x1", "x2"], [[1, 0, 1], [0, 1, 0]])?;
/// let machine = topology::full(3);
/// let open = complete::open(&machine, &table)?.unwrap();
/// let Choice::Exact { engine, .. } = auto::choose_for_rows(&machine, &open, Budget::default())? else { panic!() };
/// assert_eq!(engine.name(), "decimate");
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn choose_for_rows(machine: &Machine, open: &Open, budget: Budget) -> Result<Choice> {
    if !open.rows_differ() {
        return choose(machine, &open.in_one_row, budget);
    }
    // Clamped neighbours are biases, so any unit may have one: what can be done with all of them, and with all units free, can be done in every row.
    let biases = machine.biases().iter().map(|&bias| if bias == 0.0 { 1.0 } else { bias }).collect();
    let biased = machine.clone().with_parameters(machine.weights().to_vec(), biases)?;
    if let exact @ Choice::Exact { .. } = choose(&biased, &open.in_any_row, budget)? {
        return Ok(exact);
    }
    let most = open.in_one_row.free_count();
    let enumeration = enumeration(most, budget);
    if enumeration.available && (most as f64).exp2() <= FEW_STATES {
        return Ok(enumerate(most, budget));
    }
    let eliminate = Eliminate::new().budget(budget);
    // The tables of few units have few entries, whatever their order.
    let mut large = open.patterns().filter(|free| (free.len() as f64).exp2() > FEW_STATES);
    match large.find_map(|free| eliminate.estimate(&biased, free).err()) {
        None => {
            let reason = Reason::EliminateRows { free: most };
            Ok(Choice::Exact { engine: Box::new(eliminate), reason })
        }
        Some(_) if enumeration.available => Ok(enumerate(most, budget)),
        Some(error) => Ok(Choice::Sampling { refusal: error }),
    }
}

fn free_units(count: usize) -> String {
    format!("{count} free unit{}", if count == 1 { "" } else { "s" })
}

fn enumerate(free: usize, budget: Budget) -> Choice {
    let reason = Reason::Enumerate { free };
    Choice::Exact { engine: Box::new(Enumerate::new().budget(budget)), reason }
}
