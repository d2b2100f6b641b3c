//! Shared by the tests of this crate: random machines, and files to write them to.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use isinglass::{Graph, Machine, Role, Unit};
use isinglass_files::{Output, read_model, write_model};
use proptest::prelude::*;

/// A path among the files that other programs wrote.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Writes a machine to a file with this name in a folder of its own, and returns what is read back.
pub(crate) fn through_file(machine: &Machine, name: &str) -> Machine {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write_model(machine, Output::create(&path).unwrap()).unwrap();
    read_model(&path).unwrap()
}

/// Names with every kind of character that a format might misread.
pub(crate) fn names(count: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof!["[a-z]{1,4}", "[ ,;\"'\\\\\t\n\r#äß日🦀\u{feff}a]{1,6}", any::<String>(),]
        .prop_filter("a unit has a name", |name| !name.is_empty());
    proptest::collection::hash_set(name, count).prop_map(|names| names.into_iter().collect())
}

/// Machines of up to eight units, with numbers from a strategy.
pub(crate) fn machines<S>(number: impl Fn() -> S) -> impl Strategy<Value = Machine>
where
    S: Strategy<Value = f64>,
{
    let role = prop_oneof![Just(Role::Visible), Just(Role::Hidden), Just(Role::Input)];
    (
        names(0..8usize),
        proptest::collection::vec((role, number()), 8),
        proptest::collection::vec(proptest::option::of(prop_oneof![number(), Just(0.0)]), 28),
        prop_oneof![Just(1.0), 0.01..100.0],
        prop_oneof![Just(0.0), number()],
    )
        .prop_map(|(names, units, weights, temperature, offset)| {
            let n = names.len();
            let units = names.into_iter().zip(units);
            let units = units.map(|(name, (role, bias))| Unit { name, role, bias }).collect();
            let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
            let edges: Vec<_> =
                pairs.zip(weights).filter_map(|((i, j), weight)| Some((i, j, weight?))).collect();
            let machine = Machine::new(units, edges).unwrap();
            machine.with_temperature(temperature).unwrap().with_offset(offset).unwrap()
        })
}

/// Checks that two machines are the same to the last bit.
pub(crate) fn assert_same_bits(one: &Machine, two: &Machine) {
    let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(one, two);
    assert_eq!(bits(one.weights()), bits(two.weights()));
    assert_eq!(bits(one.biases()), bits(two.biases()));
    assert_eq!(one.temperature().to_bits(), two.temperature().to_bits());
    assert_eq!(one.offset().to_bits(), two.offset().to_bits());
}

/// A machine of three units in which nothing is at its default.
pub(crate) fn small_machine() -> Machine {
    let graph = Graph::new(3, [(0, 1), (0, 2), (1, 2)]).unwrap();
    Machine::from_graph(graph)
        .with_names(["a", "b \"b\", b", "ä"])
        .unwrap()
        .with_roles(vec![Role::Visible, Role::Hidden, Role::Input])
        .unwrap()
        .with_parameters(vec![0.5, 0.0, -0.1], vec![0.3, -1e-9, 2.0])
        .unwrap()
        .with_temperature(0.7)
        .unwrap()
        .with_offset(-3.25)
        .unwrap()
}
