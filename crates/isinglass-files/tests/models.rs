//! Model files: what is written is read back, and files of other programs are read.

// A test may fail by panicking.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::{assert_same_bits, fixture, machines, small_machine, through_file};
use isinglass::{Graph, Machine, Role, Spin, Unit};
use isinglass_files::{ModelFormat, ModelNote, Output, model_format, read_evidence, read_model, write_model};
use proptest::prelude::*;

/// Any finite number, the extreme ones included.
fn any_finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        -3.0..3.0,
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        prop_oneof![Just(f64::MAX), Just(f64::MIN_POSITIVE), Just(5e-324), Just(-0.0), Just(0.1)],
    ]
}

/// Numbers that a `.uai` file can hold at temperatures from 0.01 on.
fn moderate() -> impl Strategy<Value = f64> {
    prop_oneof![-3.0..3.0, -2500.0..2500.0, -1e-6..1e-6]
}

/// Equal but for the rounding of one logarithm and one exponential.
fn close(one: f64, two: f64) -> bool {
    (one - two).abs() <= 1e-12 * one.abs().max(1.0)
}

proptest! {
    #[test]
    fn json_keeps_everything(machine in machines(any_finite)) {
        assert_same_bits(&through_file(&machine, "m.json"), &machine);
        assert_same_bits(&through_file(&machine, "m.json.gz"), &machine);
    }

    #[test]
    fn npz_keeps_everything(machine in machines(any_finite)) {
        prop_assume!(!machine.names().iter().any(|name| name.ends_with('\0')));
        assert_same_bits(&through_file(&machine, "m.npz"), &machine);
    }

    #[test]
    fn uai_keeps_effective_parameters(machine in machines(moderate)) {
        let found = through_file(&machine, "m.uai");
        prop_assert_eq!(found.graph(), machine.graph());
        prop_assert_eq!(found.temperature(), 1.0);
        let effective = |numbers: &[f64]| numbers.iter().map(|x| x / machine.temperature()).collect::<Vec<_>>();
        for (found, expected) in found.weights().iter().zip(effective(machine.weights())) {
            prop_assert!(close(expected, *found), "weight {} {}", found, expected);
        }
        // A bias shares its factors with a part of the offset, and so its rounding.
        for (found, expected) in found.biases().iter().zip(effective(machine.biases())) {
            let scale = expected.abs().max(machine.offset().abs()).max(1.0);
            prop_assert!((found - expected).abs() <= 1e-12 * scale, "bias {} {}", found, expected);
        }
        let scale = effective(machine.biases()).iter().chain(&effective(machine.weights()))
            .fold(machine.offset().abs().max(1.0), |scale, x| scale.max(x.abs()));
        prop_assert!((found.offset() - machine.offset()).abs() <= 1e-12 * scale);
    }
}

#[test]
fn the_ending_chooses_the_format() {
    for (name, format) in [
        ("m.json", ModelFormat::Json),
        ("m.JSON", ModelFormat::Json),
        ("a.b/m.uai.gz", ModelFormat::Uai),
        ("m.npz", ModelFormat::Npz),
    ] {
        assert_eq!(model_format(Path::new(name)).unwrap(), format);
    }
    for name in ["m", "m.csv", "m.npz.gz", "json", ".gz", ""] {
        let message = model_format(Path::new(name)).unwrap_err().to_string();
        assert!(message.ends_with("expected .json, .uai, .json.gz, .uai.gz or .npz"), "{message}");
    }
}

#[test]
fn machines_without_units_or_edges_are_kept() {
    let empty = Machine::new(vec![], []).unwrap();
    let shifted = empty.clone().with_offset(-1234.5).unwrap();
    let single = Machine::new(vec![Unit::new("x0", 0.25)], []).unwrap();
    for machine in [&empty, &shifted, &single] {
        for name in ["m.json", "m.npz"] {
            assert_same_bits(&through_file(machine, name), machine);
        }
        let found = through_file(machine, "m.uai");
        assert_eq!(found.unit_count(), machine.unit_count());
        assert!(close(machine.offset(), found.offset()));
    }
}

#[test]
fn notes_say_what_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let notes = |machine: &Machine, name: &str| {
        write_model(machine, Output::create(&folder.path().join(name)).unwrap()).unwrap()
    };
    assert!(notes(&small_machine(), "m.json").is_empty());
    assert!(notes(&small_machine(), "m.npz").is_empty());
    let uai = notes(&small_machine(), "m.uai");
    let expected = [
        ModelNote::NamesNotKept,
        ModelNote::RolesNotKept,
        ModelNote::TemperatureNotKept(0.7),
        ModelNote::NumbersRounded { count: 1 },
    ];
    assert_eq!(uai, expected);
    let texts: Vec<String> = uai.iter().map(ModelNote::to_string).collect();
    assert!(texts[0].contains("names") && texts[1].contains("roles") && texts[2].contains("temperature 0.7"));
    let plain = Machine::from_graph(Graph::new(2, [(0, 1)]).unwrap());
    assert!(notes(&plain, "m.uai").is_empty());
}

#[test]
fn what_a_format_cannot_hold_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |machine: &Machine, name: &str| {
        let path = folder.path().join(name);
        let message = write_model(machine, Output::create(&path).unwrap()).unwrap_err().to_string();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        message
    };
    let large = Machine::new(vec![Unit::new("a", 1e300), Unit::new("b", 0.0)], []).unwrap();
    let message = refused(&large, "m.uai");
    assert!(
        message.contains("bias of unit 'a'") && message.contains("hint: write the machine as .json"),
        "{message}"
    );
    let pair = Machine::new(vec![Unit::new("a", 0.0), Unit::new("b", 0.0)], [(0, 1, 1.0)]).unwrap();
    let cold = pair.with_temperature(1e-320).unwrap();
    assert!(refused(&cold, "m.uai").contains("weight of the edge between 'a' and 'b'"));
    let zero = Machine::new(vec![Unit::new("a\0", 0.0)], []).unwrap();
    assert!(refused(&zero, "m.npz").contains("unit 0: the name 'a\\u{0}' ends in a zero character"));
    assert!(refused(&zero, "m.txt").contains("expected .json"));
}

#[test]
fn large_numbers_are_split_into_several_factors() {
    let machine = Machine::new(vec![Unit::new("x0", -900.0), Unit::new("x1", 0.0)], [(0, 1, 650.0)]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.uai");
    write_model(&machine, Output::create(&path).unwrap()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("MARKOV\n2\n2 2\n7\n1 0\n1 0\n1 0\n1 1\n2 0 1\n2 0 1\n2 0 1\n"), "{text}");
    let found = read_model(&path).unwrap();
    assert!(close(-900.0, found.biases()[0]) && close(650.0, found.weights()[0]));
}

/// What a file of the UAI format does not keep is named: numbers close to 0 among it.
#[test]
fn uai_keeps_numbers_or_says_that_it_does_not() {
    let with = |bias: f64, weight: f64| {
        let units = ["x0", "x1"].map(|name| Unit::new(name, bias)).to_vec();
        Machine::new(units, [(0, 1, weight)]).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.uai");
    for (bias, weight, rounded) in [
        (0.25, -3.0, 0),
        (0.0, 0.0, 0),
        (1e-20, 0.5, 2),
        (1e-5, 1e-12, 1),
        (1e-300, 700.0, 2),
        (-2e-9, 1e-17, 3),
    ] {
        let machine = with(bias, weight);
        let notes = write_model(&machine, Output::create(&path).unwrap()).unwrap();
        let read = read_model(&path).unwrap();
        let numbers = |machine: &Machine| [machine.biases(), machine.weights()].concat();
        let is_other = |(x, y): &(f64, f64)| (x - y).abs() > 1e-9 * x.abs();
        let lost = numbers(&machine).into_iter().zip(numbers(&read)).filter(is_other).count();
        assert_eq!(lost, rounded, "{bias} {weight}");
        let expected = (rounded > 0).then_some(ModelNote::NumbersRounded { count: rounded });
        assert_eq!(notes, expected.into_iter().collect::<Vec<_>>(), "{bias} {weight}");
    }
}

#[test]
fn log_z_of_a_uai_file_is_that_of_the_machine() {
    let machine = small_machine();
    let found = through_file(&machine, "m.uai");
    for state in 0..8 {
        let state = [0, 1, 2].map(|k| if state >> k & 1 == 1 { 1 } else { -1 });
        assert!(close(machine.log_weight(&state), found.log_weight(&state)));
    }
}

#[test]
fn numpy_files_are_read() {
    let machine = read_model(&fixture("machine.npz")).unwrap();
    assert_eq!(machine.names(), ["a", "bär", "c, d"]);
    assert_eq!(machine.roles(), [Role::Visible, Role::Hidden, Role::Input]);
    assert_eq!(machine.graph().edges(), [(0, 1), (0, 2), (1, 2)]);
    assert_eq!(machine.weights(), [0.5, 0.0, -0.25]);
    assert_eq!(machine.biases(), [0.1, -0.2, 0.0]);
    assert_eq!((machine.temperature(), machine.offset()), (2.0, 0.75));

    let plain = read_model(&fixture("compressed.npz")).unwrap();
    assert_eq!(plain.names(), ["x0", "x1", "x2"]);
    assert_eq!(
        (plain.graph().edges(), plain.weights()),
        ([(0, 1), (1, 2)].as_slice(), [0.5, -0.25].as_slice())
    );
    assert_eq!(plain.biases(), [1.0, 2.0, 3.0]);

    let message = read_model(&fixture("objects.npz")).unwrap_err().to_string();
    assert!(message.contains("array 'names', NPY header: found elements of type '|O'"), "{message}");
    assert!(message.ends_with("hint: write text with np.array(names, dtype=str)"), "{message}");
}

#[test]
fn evidence_is_read_beside_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::from_graph(Graph::new(4, []).unwrap());
    let path = folder.path().join("m.uai.evid");
    std::fs::write(&path, "1\n2\n 3 0\n 1 1\n").unwrap();
    let evidence = read_evidence(&path, &machine).unwrap();
    assert_eq!(evidence.cells(), [0, 1, 0, -1]);
    assert_eq!(evidence.get(1), Some(Spin::Up));
}
