//! Groups against each other: p-values against all exchanges of labels, the size of the tests on
//! data without a difference, what they find where there is one, and what they must be independent
//! of.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use isinglass::learn::{
    Compare, Compared, Factorized, Groups, L1, Learner, Likelihood, PseudoLikelihood, Tested,
};
use isinglass::topology::{self, Numbers};
use isinglass::{Budget, Enumerate, Evidence, Machine, Sampler, Table};
use proptest::prelude::*;

fn names(width: usize) -> Vec<String> {
    (0..width).map(|k| format!("c{k}")).collect()
}

fn machine(width: usize, seed: u64) -> Machine {
    let drawn = Numbers::Normal { mean: 0.0, deviation: 0.3 };
    topology::full(width).with_names(names(width)).unwrap().with_numbers(&drawn, &drawn, seed).unwrap()
}

fn rows_of(machine: &Machine, count: usize, seed: u64) -> Vec<Vec<i8>> {
    let width = machine.unit_count();
    let drawn = Enumerate::default().draw(machine, &Evidence::none(width), count, seed).unwrap();
    drawn.cells.chunks(width).map(Vec::from).collect()
}

fn table(rows: &[Vec<i8>]) -> Table {
    Table::from_rows(names(rows[0].len()), rows).unwrap()
}

fn run(compare: Compare, learner: &(dyn Learner + Sync), groups: &Groups) -> Compared {
    let structure = topology::full(groups.columns().len()).with_names(groups.columns().to_vec()).unwrap();
    compare.run(learner, &structure, groups, &|_, _| ()).unwrap()
}

/// Every number of every test.
fn numbers(found: &Compared) -> Vec<f64> {
    let of = |test: &Tested| {
        let (low, high) = test.interval.unwrap_or_default();
        [test.difference, test.p, test.p_holm, test.p_bh, low, high]
    };
    let pairs = found.pairs.iter().chain([&found.overall]);
    let tests =
        pairs.flat_map(|d| [&d.strength, &d.structure].into_iter().chain(&d.couplings).chain(&d.biases));
    tests.flat_map(of).collect()
}

/// Independent units have biases in closed form, so that all 70 ways to exchange the labels of 4 + 4
/// rows can be gone through by a plain loop.
#[test]
fn p_values_approach_the_share_of_all_exchanges() {
    let rows: Vec<Vec<i8>> =
        [[1, 1], [1, -1], [1, 1], [-1, 1], [-1, -1], [1, -1], [-1, -1], [-1, 1]].map(Vec::from).into();
    let groups = Groups::new(["a", "b"], &[table(&rows[..4]), table(&rows[4..])]).unwrap();
    let permutations = 4000;
    let found = run(Compare::new().permutations(permutations).seed(3), &Factorized, &groups);
    let structure = topology::full(2).with_names(names(2)).unwrap();
    let biases_of = |is_own: &dyn Fn(usize) -> bool| {
        let own: Vec<Vec<i8>> = (0..8).filter(|&row| is_own(row)).map(|row| rows[row].clone()).collect();
        Factorized.fit(&structure, &table(&own)).unwrap().machine.biases().to_vec()
    };
    let biases = |chosen: &[usize]| -> Vec<f64> {
        let own = biases_of(&|row| chosen.contains(&row));
        let others = biases_of(&|row| !chosen.contains(&row));
        own.iter().zip(others).map(|(x, y)| (y - x).abs()).collect()
    };
    let observed = biases(&[0, 1, 2, 3]);
    let (mut all, mut exceeding) = (0.0, [0.0; 2]);
    for set in 0u32..256 {
        if set.count_ones() == 4 {
            all += 1.0;
            let chosen: Vec<usize> = (0..8).filter(|row| set >> row & 1 == 1).collect();
            for (count, (size, observed)) in exceeding.iter_mut().zip(biases(&chosen).iter().zip(&observed)) {
                *count += f64::from(u8::from(*size >= observed - 1e-9));
            }
        }
    }
    for (unit, count) in exceeding.into_iter().enumerate() {
        let expected: f64 = count / all;
        let error = (expected * (1.0 - expected) / permutations as f64).sqrt();
        let found = found.overall.biases[unit].p;
        assert!((found - expected).abs() < 4.0 * error + 1e-3, "unit {unit}: {found}, expected {expected}");
    }
}

#[test]
fn equal_groups_do_not_differ() {
    let rows = rows_of(&machine(4, 1), 40, 2);
    let groups = Groups::new(["a", "b"], &[table(&rows), table(&rows)]).unwrap();
    let found = run(Compare::new().permutations(9), &PseudoLikelihood::new().l2(0.01), &groups);
    let all = &found.overall;
    for test in [&all.strength, &all.structure].into_iter().chain(&all.couplings).chain(&all.biases) {
        assert_eq!((test.difference, test.p), (0.0, 1.0));
    }
}

/// With 19 permutations, p ≤ 0.05 has a probability of 0.05 exactly if there are no ties: of 400
/// data sets, 20 ± 4.4 are rejected.
#[test]
fn data_without_a_difference_are_rejected_as_often_as_the_level_says() {
    let (sets, width) = (400, 4);
    let mut rejected = [0; 4];
    for set in 0..sets {
        let rows = rows_of(&machine(width, set), 60, 10_000 + set);
        let groups = Groups::new(["a", "b"], &[table(&rows[..25]), table(&rows[25..])]).unwrap();
        let compare = Compare::new().permutations(19).seed(set);
        let found = run(compare, &PseudoLikelihood::new().l2(0.05), &groups).overall;
        let p = [found.strength.p, found.structure.p, found.couplings[2].p, found.biases[1].p];
        rejected.iter_mut().zip(p).for_each(|(count, p)| *count += usize::from(p <= 0.05 + 1e-12));
    }
    for (what, count) in ["strength", "structure", "coupling", "bias"].into_iter().zip(rejected) {
        assert!((7..=33).contains(&count), "{what}: {count} of {sets} rejected");
    }
}

/// One coupling of one of three groups has the other sign.
#[test]
fn a_difference_is_found_where_it_is() {
    let width = 5;
    let like = machine(width, 7);
    let mut weights = like.weights().to_vec();
    weights[3] -= 1.2;
    let other = like.clone().with_parameters(weights, like.biases().to_vec()).unwrap();
    let tables =
        [(&like, 1), (&like, 2), (&other, 3)].map(|(machine, seed)| table(&rows_of(machine, 300, seed)));
    let groups = Groups::new(["first", "second", "third"], &tables).unwrap();
    let compare = Compare::new().permutations(199).bootstrap(200);
    let engine = Enumerate::default();
    let found = run(compare, &Likelihood::new(&engine), &groups);
    assert_eq!(found.pairs.iter().map(|d| d.strength.pair).collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
    let edge = &found.overall.couplings[3];
    assert!(edge.p_holm < 0.06 && edge.pair.1 == 2 && edge.difference < -0.7, "{edge:?}");
    assert_eq!(found.overall.structure.difference, edge.difference.abs());
    assert!(found.overall.structure.p < 0.01 && found.pairs[0].structure.p > 0.01);
    let (low, high) = found.pairs[1].couplings[3].interval.unwrap();
    assert!(low < -1.2 && -1.2 < high && high < 0.0, "the truth is inside {low} to {high}");
    for (k, test) in found.overall.couplings.iter().enumerate() {
        let largest = found.pairs.iter().map(|d| d.couplings[k].difference.abs()).fold(0.0, f64::max);
        assert_eq!(test.difference.abs(), largest);
        assert!(test.p <= test.p_bh && test.p_bh <= test.p_holm);
    }
    let [a, b] = [0, 1].map(|group| found.numbers[group][3]);
    assert_eq!(found.pairs[0].couplings[3].difference, b - a);
}

#[test]
fn results_are_independent_of_threads_the_order_of_rows_and_how_repeated_rows_are_written() {
    let [mut first, second] = [1, 2].map(|seed| rows_of(&machine(4, 9), 50, seed));
    let compare = Compare::new().permutations(30).bootstrap(20);
    let learner = PseudoLikelihood::new().l1(Some(L1::Ebic));
    let run_on = |first: &Table, threads: usize| {
        let groups = Groups::new(["a", "b"], &[first.clone(), table(&second)]).unwrap();
        let pool = rayon_pool(threads);
        pool(&|| numbers(&run(compare, &learner, &groups)))
    };
    let expected = run_on(&table(&first), 1);
    assert_eq!(run_on(&table(&first), 3), expected);
    first.reverse();
    assert_eq!(run_on(&table(&first), 2), expected);
    let mut weighted = Table::new(names(4)).unwrap();
    let mut rest = first.clone();
    while let Some(row) = rest.pop() {
        let before = rest.len();
        rest.retain(|other| *other != row);
        weighted.push(&row, (1 + before - rest.len()) as f64).unwrap();
    }
    assert_eq!(run_on(&weighted, 2), expected);
}

/// Runs something on so many threads.
fn rayon_pool(threads: usize) -> impl Fn(&(dyn Fn() -> Vec<f64> + Sync)) -> Vec<f64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    move |work| pool.install(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is drawn, cells that are there stay, and the weight of every group does.
    #[test]
    fn filling_gaps_keeps_what_is_there(
        rows in proptest::collection::vec(proptest::collection::vec(-1i8..=1, 3), 2..20),
        split in 1usize..19,
        versions in 1usize..4,
    ) {
        let split = split.min(rows.len() - 1);
        let groups = Groups::new(["a", "b"], &[table(&rows[..split]), table(&rows[split..])]).unwrap();
        let missing: usize = rows.iter().flatten().filter(|&&cell| cell == 0).count();
        prop_assert_eq!(groups.missing_count(), missing);
        let mut value = 1;
        let filled = groups.completed(versions, |row, count| {
            Ok((0..count).flat_map(|_| {
                value = -value;
                row.iter().map(|&cell| if cell == 0 { value } else { cell }).collect::<Vec<_>>()
            }).collect())
        }).unwrap();
        prop_assert_eq!(filled.missing_count(), 0);
        for (group, range) in [(0, 0..split), (1, split..rows.len())] {
            let table = filled.table(group).unwrap();
            prop_assert!((table.total_weight() - range.len() as f64).abs() < 1e-9);
            // Each complete row has its weight, and the sum over a column is that of the present
            // cells where each gap was filled by as many −1 as +1.
            for row in rows[range.clone()].iter().filter(|row| !row.contains(&0)) {
                let equal = rows[range.clone()].iter().filter(|other| *other == row).count();
                let found = (0..table.distinct_count()).find(|&k| table.row(k) == row.as_slice()).unwrap();
                prop_assert!(table.weight(found) >= equal as f64 - 1e-9);
            }
        }
        if let Ok(complete) = groups.complete_cases() {
            let kept = rows.iter().filter(|row| !row.contains(&0)).count();
            prop_assert_eq!(complete.sizes().iter().sum::<usize>(), kept);
            prop_assert_eq!(complete.missing_count(), 0);
        }
    }
}

#[test]
fn bad_groups_and_settings_are_refused() {
    let one = table(&[vec![1, -1], vec![-1, 1]]);
    let message = |names: &[&str], tables: &[Table]| {
        Groups::new(names.iter().copied(), tables).unwrap_err().to_string()
    };
    assert_eq!(message(&["a"], std::slice::from_ref(&one)), "groups: found 1, expected at least two");
    assert_eq!(message(&["a", "a"], &[one.clone(), one.clone()]), "groups: 'a' occurs twice");
    let other = Table::from_rows(["c0", "d"], [[1, 1]]).unwrap();
    assert_eq!(
        message(&["a", "b"], &[one.clone(), other]),
        "group 'a': has no column 'd', which group 'b' has; groups have the same columns"
    );
    let groups = Groups::new(["a", "b"], &[one.clone(), one]).unwrap();
    let structure = topology::full(2).with_names(names(2)).unwrap();
    let refused =
        |compare: Compare| compare.run(&Factorized, &structure, &groups, &|_, _| ()).unwrap_err().to_string();
    assert!(refused(Compare::new().permutations(0)).contains("permutations"));
    assert!(refused(Compare::new().level(0.0)).contains("level"));
    let small = refused(Compare::new().permutations(1_000_000).budget(Budget(1 << 20)));
    assert!(small.contains("1 MiB"), "{small}");
    let gaps = Groups::new(["a", "b"], &[table(&[vec![0, 1]]), table(&[vec![1, 1]])]).unwrap();
    assert_eq!(
        gaps.complete_cases().unwrap_err().to_string(),
        "group 'a': every row has a missing cell, so that none is left"
    );
}

/// Twenty data sets of two groups that differ in one coupling: it is found, and hardly another.
#[test]
fn a_joint_fit_says_which_couplings_differ() {
    use isinglass::learn::{EbicSettings, joint};
    let (width, sets) = (6, 20);
    let (mut found, mut false_ones, mut squares) = (0, 0, 0.0);
    for seed in 0..sets {
        let first = machine(width, seed);
        let mut weights = first.weights().to_vec();
        weights[4] -= 1.0;
        let second = first.clone().with_parameters(weights, first.biases().to_vec()).unwrap();
        let tables = [table(&rows_of(&first, 500, 2 * seed)), table(&rows_of(&second, 500, 2 * seed + 1))];
        let structure = topology::full(width).with_names(names(width)).unwrap();
        let fit = joint(&tables, &structure, &EbicSettings::default()).unwrap();
        assert!(fit.converged);
        found += usize::from(fit.couplings[4].differs);
        false_ones += fit.couplings.iter().enumerate().filter(|(k, c)| *k != 4 && c.differs).count();
        let [a, b] = [0, 1].map(|group| fit.couplings[4].values[group]);
        squares += (b - a + 1.0f64).powi(2);
        // The same groups in the other order are the same answer.
        let [one, other] = tables;
        let back = joint(&[other, one], &structure, &EbicSettings::default()).unwrap();
        for (there, here) in back.couplings.iter().zip(&fit.couplings) {
            assert_eq!(there.differs, here.differs);
            assert!((there.values[0] - here.values[1]).abs() < 1e-6);
        }
    }
    assert!(found >= 18, "{found} of {sets} found");
    assert!(false_ones <= 15, "{false_ones} of {} are false", sets * 14);
    assert!((squares / f64::from(sets as u32)).sqrt() < 0.3, "{squares}");
}

/// Without a difference, and with three groups, a joint fit is that of all rows.
#[test]
fn equal_groups_share_everything() {
    use isinglass::learn::{EbicPaths, EbicSettings, NoObserver, joint};
    let rows = rows_of(&machine(5, 3), 400, 4);
    let (one, structure) = (table(&rows), topology::full(5).with_names(names(5)).unwrap());
    let all = table(&[&rows[..], &rows[..], &rows[..]].concat());
    let fit = joint(&[one.clone(), one.clone(), one], &structure, &EbicSettings::default()).unwrap();
    // More candidates make each more expensive: the plain fit is given the same price.
    let (few, many) = (4f64.ln(), (4.0f64 * 4.0 + 3.0).ln());
    let plain = EbicPaths::new().relax(true).gamma(0.25 * many / few);
    let expected = plain.solve(&structure, &all, &mut NoObserver).unwrap().fit.machine;
    for (coupling, weight) in fit.couplings.iter().zip(expected.weights()) {
        assert!(!coupling.differs && (coupling.values[0] - weight).abs() < 1e-6, "{coupling:?}, {weight}");
    }
}
