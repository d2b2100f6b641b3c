//! `fit --moderate` and `network --at`; `fit --lag` with sessions.

use std::fmt::Write as _;

use crate::Room;

/// Numbers from a linear congruential generator, from 0 to 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// +1 with the probability of a unit in a field.
    fn spin(&mut self, field: f64) -> i32 {
        if self.next() < 0.5 * (1.0 + field.tanh()) { 1 } else { -1 }
    }
}

/// Rows in which `a` and `b` go together the more, the larger `age` is; `c` is independent.
fn aged() -> String {
    let mut numbers = Numbers(1);
    let mut text = "a,b,c,age\n".to_owned();
    for _ in 0..1500 {
        let age = 20.0 + 60.0 * numbers.next();
        let a = numbers.spin(0.0);
        let b = numbers.spin(f64::from(a) * (age - 50.0) / 30.0);
        let c = numbers.spin(0.3);
        let _ = writeln!(text, "{a},{b},{c},{age:.2}");
    }
    text
}

#[test]
fn couplings_change_with_a_covariate() {
    let room = Room::new();
    room.write("t.csv", aged());
    let fit = room.json("fit t.csv --moderate age -o m.json --network n.csv");
    assert_eq!((&fit["converged"], &fit["rows"]), (&true.into(), &1500.into()));
    assert!((fit["moderators"][0]["mean"].as_f64().unwrap() - 50.0).abs() < 2.0);
    let network = room.read("n.csv");
    assert!(network.starts_with("from,to,moderator,weight,error,lower,upper\n"));
    let change = network.lines().find(|line| line.starts_with("a,b,age,")).unwrap();
    let numbers: Vec<f64> = change.split(',').skip(3).map(|cell| cell.parse().unwrap()).collect();
    // One standard deviation of age, 17.3 years, adds 17.3/30 to the coupling.
    assert!((numbers[0] - 0.577).abs() < 0.15 && numbers[2] > 0.3, "{change}");
    // The network for some value of the covariate.
    let weight = |at: &str| -> f64 {
        room.ok(&format!("network m.json --at age={at} -o n.graphml"));
        let text = room.read("n.graphml");
        let edge = text.split("source=\"a\" target=\"b\"").nth(1).unwrap();
        let weight = edge.split("<data key=\"weight\">").nth(1).unwrap();
        weight.split('<').next().unwrap().parse().unwrap()
    };
    let (young, old) = (weight("25"), weight("75"));
    assert!(young < -0.4 && old > 0.4, "{young} {old}");
    // Other commands take the machine at the means.
    assert!(room.json("infer m.json")["means"]["a"].as_f64().unwrap().abs() < 0.2);
    let (code, message) = room.fails("network m.json --at agee=3 -o n.svg");
    assert!(code == 1 && message.contains("did you mean 'age'?"), "{message}");
    let (code, message) = room.fails("network m.json --at age=old -o n.svg");
    assert!(code == 2 && message.contains("expected COLUMN=NUMBER"), "{message}");
}

#[test]
fn selection_keeps_the_change_that_is_there() {
    let room = Room::new();
    room.write("t.csv", aged());
    let fit = room.json("fit t.csv --moderate age --l1 ebic -o m.json");
    let changes: Vec<_> =
        fit["edges"].as_array().unwrap().iter().filter(|edge| edge["of"] == "age").collect();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!((&changes[0]["a"], &changes[0]["b"]), (&"a".into(), &"b".into()));
}

#[test]
fn covariates_that_are_no_numbers_and_options_that_do_not_fit_are_refused() {
    let room = Room::new();
    room.write("t.csv", "a,b,sex\n1,0,f\n0,1,m\n1,1,f\n0,0,m\n");
    let (code, message) = room.fails("fit t.csv --moderate sex -o m.json");
    assert!(code == 1 && message.contains("row 1, column 'sex': found 'f', expected a number"), "{message}");
    for (options, expected) in [
        ("--bootstrap 10 --network n.csv", "--bootstrap is not supported with --moderate"),
        ("--learner likelihood", "--moderate is for --learner pseudo-likelihood"),
        ("--lag 1", "--lag is not supported with --moderate"),
    ] {
        let (code, message) = room.fails(&format!("fit t.csv --moderate sex {options} -o m.json"));
        assert!(code == 2 && message.contains(expected), "{options}: {message}");
    }
    let (code, message) = room.fails("fit t.csv --moderate age -o m.json");
    assert!(code == 1 && message.contains("age"), "{message}");
}

/// A series in which `a` follows itself, `b` follows `a` and `c` is the opposite of what `b` was.
fn series() -> String {
    let mut numbers = Numbers(7);
    let mut text = "a,b,c,day\n".to_owned();
    let (mut a, mut b, mut c) = (1, 1, 1);
    for step in 0..3000 {
        let (x, y) = (a, b);
        a = numbers.spin(0.8 * f64::from(x));
        b = numbers.spin(0.6 * f64::from(x));
        c = numbers.spin(-0.5 * f64::from(y) + 0.0 * f64::from(c));
        let day = step / 100;
        let _ = writeln!(text, "{a},{b},{c},monday {day}");
    }
    text
}

#[test]
fn a_series_becomes_a_network_with_arrows() {
    let room = Room::new();
    room.write("t.csv", series());
    let fit = room.json("fit t.csv --lag 1 --session day -o m.json");
    // The first row of each of 30 days has no past.
    assert_eq!((&fit["rows"], &fit["learner"]), (&2970.into(), &"pseudo-likelihood".into()));
    assert_eq!((&fit["converged"], &fit["guarantee"]), (&true.into(), &"exact".into()));
    let number = |key: &str| fit[key].as_f64().unwrap();
    assert!((number("log_likelihood") - number("pseudo_log_likelihood")).abs() < 1e-9);
    let network = room.json("network m.json -o m.dot");
    assert_eq!(network["networks"][0]["directed"], true);
    let dot = room.read("m.dot");
    let coupling = |line: &str| -> f64 {
        let line = dot.lines().find(|other| other.contains(line)).unwrap();
        line.split("coupling=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    assert!(dot.starts_with("digraph") && dot.matches(" -> ").count() == 9);
    for (line, expected) in
        [("\"a\" -> \"a\"", 0.8), ("\"a\" -> \"b\"", 0.6), ("\"b\" -> \"c\"", -0.5), ("\"c\" -> \"a\"", 0.0)]
    {
        assert!((coupling(line) - expected).abs() < 0.1, "{line}: {}", coupling(line));
    }
    room.ok("network m.json -o m.svg");
    room.ok("network m.json -o m.graphml");
    assert!(room.read("m.graphml").contains("edgedefault=\"directed\""));
    // Selected: the three that are there.
    room.ok("fit t.csv --lag 1 --session day --l1 ebic -o sparse.json --network e.csv");
    assert_eq!(room.read("e.csv").lines().count(), 4, "{}", room.read("e.csv"));
    // Couplings at the same time as well.
    let both = room.json("fit t.csv --lag 1 --session day --same-time -o both.json");
    assert_eq!(both["converged"], true);
    assert_eq!(room.json("network both.json -o both.svg")["networks"][0]["edges"], 12);
    let (code, message) = room.fails("fit t.csv --session day -o m.json");
    assert!(code == 2 && message.contains("--lag"), "{message}");
}
