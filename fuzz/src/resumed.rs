//! Fits that are resumed from states which nobody wrote.
//!
//! A checksum keeps damaged checkpoints away, so only states with a right checksum get here: written
//! by a faulty or hostile program. They must be refused or resumed, without a panic.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use isinglass::learn::{
    Checkpoint, ClosedForm, ContrastiveDivergence, EbicPaths, Learner, Likelihood, LikelihoodSettings,
    MeanFieldCd, NoObserver, Observer, Optimizer, PseudoLikelihood, PseudoLikelihoodEm, Restarts,
    SampledLikelihood, Step, start,
};
use isinglass::topology::{self, Links};
use isinglass::{Enumerate, Machine, Table, Temper};

use crate::{Desk, Target};

/// The first byte chooses a fit, the second one of its states; each four bytes are a change of it.
pub(crate) const RESUMED: Target = Target { name: "resumed", run: resumed, words: &["\u{0}", "\u{1}"] };

/// A fit with the states that it wrote.
struct Case {
    learner: Box<dyn Learner + Send + Sync>,
    /// The number of starts; 0 for a fit from one machine without the account of starts.
    restarts: usize,
    begin: Machine,
    states: Vec<(String, Vec<u8>)>,
}

impl Case {
    fn new(learner: impl Learner + Send + Sync + 'static, restarts: usize, hidden: usize) -> Self {
        let structure = topology::two_layer(4, &Links::Full, hidden, &Links::None).expect("a small machine");
        let begin = start(&structure, table(hidden > 0), 1, 0).expect("a small fit");
        let mut case = Self { learner: Box::new(learner), restarts, begin, states: Vec::new() };
        let mut keeper = Keeper::default();
        case.fit(None, &mut keeper).expect("a small fit");
        case.states = keeper.0;
        assert!(!case.states.is_empty(), "{} writes states", case.learner.name());
        case
    }

    fn fit(&self, from: Option<&Checkpoint>, observer: &mut dyn Observer) -> isinglass::Result<()> {
        let table = table(self.begin.unit_count() > 4);
        if self.restarts == 0 {
            return self.learner.fit_from(&self.begin, table, from, observer).map(drop);
        }
        let restarts = Restarts { count: self.restarts, seed: 1 };
        restarts.fit_from(&*self.learner, &self.begin, table, from, observer).map(drop)
    }
}

/// Keeps all states.
#[derive(Default)]
struct Keeper(Vec<(String, Vec<u8>)>);

impl Observer for Keeper {
    fn step(&mut self, _step: &Step, _machine: &Machine) -> isinglass::Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }

    fn checkpoint(
        &mut self,
        _step: &Step,
        take: &dyn Fn() -> isinglass::Result<Checkpoint>,
    ) -> isinglass::Result<()> {
        let bytes = postcard::to_stdvec(&take()?).expect("memory can be written to");
        self.0.push(postcard::from_bytes(&bytes).expect("a name and bytes"));
        Ok(())
    }
}

/// Ten rows, some with gaps.
fn table(gaps: bool) -> &'static Table {
    static TABLES: OnceLock<[Table; 2]> = OnceLock::new();
    let make = |gaps: bool| {
        let cell = |row: usize, column: usize| match (row * 7 + column * 3 + row * column) % 5 {
            0 if gaps => 0,
            0..=2 => 1,
            _ => -1,
        };
        let rows = (0..10).map(|row| (0..4).map(|column| cell(row, column)).collect::<Vec<i8>>());
        Table::from_rows((0..4).map(|k| format!("v{k}")), rows).expect("a small table")
    };
    &TABLES.get_or_init(|| [make(false), make(true)])[usize::from(gaps)]
}

fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    static EXACT: OnceLock<Enumerate> = OnceLock::new();
    CASES.get_or_init(|| {
        let exact = EXACT.get_or_init(Enumerate::default);
        let likelihood = |method| Likelihood::new(exact).l2(0.01).optimizer(method).iterations(5);
        let small = Temper::new().replicas(2).sweeps(Some(64)).burn_in(4);
        let mut few = LikelihoodSettings::default();
        few.iterations = 3;
        vec![
            Case::new(likelihood(Optimizer::Lbfgs), 0, 0),
            Case::new(likelihood(Optimizer::Cg), 0, 1),
            Case::new(likelihood(Optimizer::Momentum), 2, 1),
            Case::new(likelihood(Optimizer::Adaptive), 0, 0),
            Case::new(PseudoLikelihood::new().l2(0.01).iterations(5), 0, 0),
            Case::new(EbicPaths::default(), 0, 0),
            Case::new(ClosedForm::default(), 0, 0),
            Case::new(PseudoLikelihoodEm::new().l2(0.01).iterations(4), 0, 1),
            Case::new(ContrastiveDivergence::new().iterations(4), 0, 1),
            Case::new(ContrastiveDivergence::new().persistent(true).iterations(4), 0, 1),
            Case::new(MeanFieldCd::new().iterations(4), 0, 1),
            Case::new(SampledLikelihood::new(small, exact).with_settings(few), 0, 0),
        ]
    })
}

fn resumed(_desk: &Desk, bytes: &[u8]) {
    let [fit, state, changes @ ..] = bytes else { return };
    let cases = cases();
    let case = &cases[usize::from(*fit) % cases.len()];
    let (learner, mut bytes) = case.states[usize::from(*state) % case.states.len()].clone();
    for change in changes.chunks_exact(4) {
        let place = usize::from(u16::from_le_bytes([change[1], change[2]])) % (bytes.len() + 1);
        match change[0] % 4 {
            0 if place < bytes.len() => bytes[place] = change[3],
            1 => bytes.insert(place, change[3]),
            2 if place < bytes.len() => drop(bytes.remove(place)),
            _ if place < bytes.len() => bytes[place] ^= 1 << (change[3] % 8),
            _ => {}
        }
    }
    let bytes = postcard::to_stdvec(&(learner, bytes)).expect("memory can be written to");
    let state: Checkpoint = postcard::from_bytes(&bytes).expect("a name and bytes");
    // An error or a fit: both are right.
    let _ = case.fit(Some(&state), &mut NoObserver);
}
