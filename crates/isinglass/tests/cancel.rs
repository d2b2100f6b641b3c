//! Work that would take minutes is cancelled at once, whoever does it; what is not interrupted is
//! not changed by it.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use isinglass::bracket::Bounds;
use isinglass::engine::{Ais, ModeFinder, VariationalSettings};
use isinglass::learn::{ClosedForm, ContrastiveDivergence, EbicPaths, Learner, PseudoLikelihood};
use isinglass::likelihood::{self, Phases};
use isinglass::search::MaxProduct;
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{
    Bethe, Budget, CancelToken, Eliminate, Engine, Enumerate, Evidence, Gibbs, LogDet, Machine, MeanField,
    Mixture, Pairs, Sampler, Structured, Table, Tap, Trw,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Far longer than giving up should take, far shorter than the work: machines are busy at times.
const SOON: Duration = Duration::from_secs(5);

fn pool() -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(2).build().unwrap()
}

/// Begin the work, cancel it when it is well under way, and see that it ends.
fn is_given_up<T: Send>(name: &str, work: impl FnOnce() -> T + Send) {
    let (pool, token) = (pool(), CancelToken::new());
    thread::scope(|scope| {
        let worker = scope.spawn(|| token.run(&pool, work).is_none());
        thread::sleep(Duration::from_millis(150));
        assert!(!worker.is_finished(), "{name}: the work is over too soon to tell");
        let began = Instant::now();
        token.cancel();
        assert!(worker.join().unwrap(), "{name} came to an end of its own");
        assert!(began.elapsed() < SOON, "{name} went on for {:?}", began.elapsed());
    });
    // The threads know nothing of it any more.
    assert_eq!(CancelToken::new().run(&pool, || 1), Some(1), "{name}");
}

fn glass(units: usize) -> Machine {
    topology::sherrington_kirkpatrick(units, 1.5, 3)
        .unwrap()
        .with_biases_drawn(&Numbers::Uniform { low: -0.1, high: 0.1 }, 4)
        .unwrap()
}

fn lattice(rows: usize, columns: usize) -> Machine {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let machine = topology::grid(rows, columns, Neighbours::Four);
    machine.with_numbers(&numbers, &numbers, 5).unwrap()
}

fn infer(engine: &impl Engine, machine: &Machine, pairs: Pairs) {
    engine.expectations(machine, &Evidence::none(machine.unit_count()), pairs).unwrap();
}

/// Sweeps without end.
fn endless() -> VariationalSettings {
    VariationalSettings::default().tolerance(1e-300).max_sweeps(usize::MAX / 2).starts(1000)
}

fn endless_mixture() -> Mixture {
    Mixture::new().components(8).tolerance(1e-300).max_sweeps(usize::MAX / 2).starts(1000)
}

#[test]
fn exact_engines_give_up() {
    is_given_up("enumerate", || infer(&Enumerate::new().budget(Budget(1 << 40)), &glass(36), Pairs::None));
    let budget = Budget(8 << 30);
    let wide = lattice(22, 2000);
    is_given_up("eliminate", || infer(&Eliminate::new().budget(budget), &wide, Pairs::None));
    let narrow = lattice(10, 3000);
    is_given_up("eliminate, all pairs", || infer(&Eliminate::new().budget(budget), &narrow, Pairs::All));
    is_given_up("draws", || {
        let evidence = Evidence::none(narrow.unit_count());
        Eliminate::new().budget(budget).draw(&narrow, &evidence, 20_000, 1).unwrap();
    });
    is_given_up("mode", || {
        Eliminate::new().budget(budget).mode(&wide, &Evidence::none(wide.unit_count())).unwrap()
    });
}

#[test]
fn fixed_points_give_up() {
    let machine = glass(300);
    let settings = endless();
    is_given_up("mean-field", || infer(&MeanField::from(settings), &machine, Pairs::None));
    is_given_up("tap", || infer(&Tap::from(settings), &machine, Pairs::None));
    is_given_up("bethe", || infer(&Bethe::from(settings), &machine, Pairs::None));
    is_given_up("mixture", || infer(&endless_mixture(), &machine, Pairs::None));
    let max_product = MaxProduct::new().max_sweeps(usize::MAX / 2).tolerance(1e-300);
    is_given_up("max-product", || max_product.mode(&machine, &Evidence::none(300)).unwrap());
}

#[test]
fn bounds_give_up() {
    let machine = glass(200);
    let structured = Structured::new().max_sweeps(usize::MAX).tolerance(1e-300).starts(100);
    is_given_up("structured", || infer(&structured, &machine, Pairs::None));
    let trw = Trw::new().max_sweeps(usize::MAX).tolerance(1e-300);
    is_given_up("trw", || infer(&trw, &machine, Pairs::None));
    let mixture = endless_mixture();
    let bounds = Bounds::best(mixture, structured, trw, LogDet::default());
    is_given_up("bracket", || bounds.log_z(&machine, &Evidence::none(200), Pairs::None).unwrap());
}

#[test]
fn sampling_gives_up() {
    let machine = glass(200);
    let gibbs = Gibbs::new().burn_in(usize::MAX);
    is_given_up("gibbs", || infer(&gibbs, &machine, Pairs::None));
    let few = glass(2);
    is_given_up("gibbs of two units", || infer(&gibbs, &few, Pairs::None));
    // The chains are short; there is much to tell of them.
    let short = Gibbs::new().burn_in(0).samples(64);
    let large = glass(3000);
    is_given_up("gibbs, all pairs", || infer(&short, &large, Pairs::All));
    let ais = Ais::new().sweeps(usize::MAX);
    is_given_up("ais", || infer(&ais, &machine, Pairs::None));
}

#[test]
fn work_on_tables_gives_up() {
    let machine = lattice(6, 6);
    let table = table(&machine, 20_000);
    let many = vec![&table; 1000];
    is_given_up("score", || {
        let engine = Eliminate::default();
        let phases = Phases::both(&engine);
        for table in &many {
            likelihood::log_likelihoods(&machine, table, phases).unwrap();
        }
    });
    let slow = ContrastiveDivergence::new().iterations(usize::MAX);
    is_given_up("contrastive divergence", || slow.fit(&machine, &table).unwrap());
    let start = topology::full(36).with_names(table.columns()).unwrap();
    is_given_up("pseudo-likelihood", || {
        for _ in 0..100_000 {
            PseudoLikelihood::default().fit(&start, &table).unwrap();
        }
    });
}

#[test]
fn learners_of_many_columns_give_up() {
    let columns = 150;
    let chain = topology::chain(columns).with_parameters(vec![0.4; columns - 1], vec![0.1; columns]).unwrap();
    let table = table(&chain, 20_000);
    let start = topology::full(columns).with_names(table.columns()).unwrap();
    is_given_up("ebic", || EbicPaths::default().fit(&start, &table).unwrap());
    is_given_up("closed-form", || {
        for _ in 0..100_000 {
            ClosedForm::default().fit(&start, &table).unwrap();
        }
    });
}

#[test]
fn work_within_work_leaves_the_interrupt_as_it_was() {
    let (pool, outer) = (pool(), CancelToken::new());
    let work = || {
        assert_eq!(CancelToken::new().run(&pool, || 1), Some(1));
        infer(&Gibbs::new().burn_in(usize::MAX), &glass(20), Pairs::None);
    };
    thread::scope(|scope| {
        let worker = scope.spawn(|| outer.run(&pool, work));
        thread::sleep(Duration::from_millis(100));
        outer.cancel();
        assert_eq!(worker.join().unwrap(), None);
    });
}

fn table(machine: &Machine, rows: usize) -> Table {
    let draws = Eliminate::default().draw(machine, &Evidence::none(machine.unit_count()), rows, 1).unwrap();
    Table::from_rows(machine.names(), draws.cells.chunks(machine.unit_count())).unwrap()
}

#[test]
fn what_was_interrupted_before_it_began_is_not_begun() {
    let token = CancelToken::new();
    token.cancel();
    assert!(token.clone().is_cancelled());
    assert_eq!(token.run(&pool(), || unreachable!("it was cancelled") as u8), None);
}

#[test]
fn answers_are_the_same_under_an_interrupt_that_is_never_raised() {
    let machine = lattice(5, 5);
    let work = || Eliminate::default().expectations(&machine, &Evidence::none(25), Pairs::All).unwrap();
    assert_eq!(CancelToken::new().run(&pool(), work), Some(work()));
}

#[test]
fn a_panic_of_the_work_stays_one() {
    let pool = pool();
    let broken =
        || CancelToken::new().run(&pool, || -> u8 { std::panic::resume_unwind(Box::new("a fault")) });
    let payload = catch_unwind(AssertUnwindSafe(broken)).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"a fault"));
}
