//! What a comparison came to, as programs read it: one JSON document, and one CSV file.

use std::fmt::Write as _;

use isinglass::learn::{CompareSettings, Differences, Tested};
use serde_json::{Value, json};

use crate::{Comparison, Warning};

impl Comparison {
    /// The document of `compare --json`, without its notes and warnings.
    pub fn document(&self, names: &[String], settings: &CompareSettings) -> Value {
        let compared = &self.compared;
        let group = |(k, name): (usize, &String)| {
            json!({
                "name": name,
                "rows": self.rows[k],
                "strength": compared.strengths[k],
                "converged": compared.fits[k].converged,
                "couplings": compared.numbers[k][..compared.couplings.len()],
                "biases": compared.numbers[k][compared.couplings.len()..],
            })
        };
        let mut document = self.differences(names, &compared.overall);
        if let Some(joint) = &self.joint {
            for (list, found) in [("edges", &joint.couplings), ("biases", &joint.biases)] {
                for (place, shared) in found.iter().enumerate() {
                    document[list][place]["joint"] =
                        json!({ "differs": shared.differs, "values": shared.values });
                }
            }
            document["joint_converged"] = json!(joint.converged);
        }
        document["groups"] = names.iter().enumerate().map(group).collect();
        let pair = |differences: &Differences| {
            let mut pair = self.differences(names, differences);
            let (first, second) = differences.strength.pair;
            pair["groups"] = json!([names[first], names[second]]);
            pair
        };
        document["pairs"] = compared.pairs.iter().map(pair).collect();
        document["learner"] = json!(self.learner);
        document["engine"] = json!(self.engine);
        document["permutations"] = json!(settings.permutations);
        document["bootstrap"] = json!(settings.bootstrap);
        document["level"] = json!(settings.level);
        document["dropped_rows"] = json!(self.dropped);
        if let Some(penalty) = &self.penalty {
            document[penalty.setting] = json!(penalty.chosen.penalty);
        }
        document
    }

    fn differences(&self, names: &[String], differences: &Differences) -> Value {
        let with = |test: &Tested, mut value: Value| {
            value["difference"] = json!(test.difference);
            value["p"] = json!(test.p);
            value["groups"] = json!([names[test.pair.0], names[test.pair.1]]);
            if let Some((low, high)) = test.interval {
                value["low"] = json!(low);
                value["high"] = json!(high);
            }
            value
        };
        let corrected = |test: &Tested, value: Value| {
            let mut value = with(test, value);
            value["p_holm"] = json!(test.p_holm);
            value["p_bh"] = json!(test.p_bh);
            value
        };
        let name = |unit: usize| self.structure.name(unit);
        let edges = self.compared.couplings.iter().zip(&differences.couplings);
        let biases = self.compared.units.iter().zip(&differences.biases);
        json!({
            "strength": with(&differences.strength, json!({})),
            "structure": with(&differences.structure, json!({})),
            "edges": edges
                .map(|(&(a, b), test)| corrected(test, json!({ "a": name(a), "b": name(b) })))
                .collect::<Vec<_>>(),
            "biases": biases
                .map(|(&unit, test)| corrected(test, json!({ "unit": name(unit) })))
                .collect::<Vec<_>>(),
        })
    }

    /// A row for each test and pair of groups.
    pub fn csv(&self, names: &[String]) -> String {
        let compared = &self.compared;
        let name = |unit: usize| quoted(self.structure.name(unit));
        let mut out =
            "first,second,kind,a,b,value_first,value_second,difference,low,high,p,p_holm,p_bh\n".to_owned();
        for differences in &compared.pairs {
            let (first, second) = differences.strength.pair;
            let mut line = |kind: &str, [a, b]: [String; 2], values: [Option<f64>; 2], test: &Tested| {
                let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
                let is_many = kind == "coupling" || kind == "bias";
                let numbers = [
                    values[0],
                    values[1],
                    Some(test.difference),
                    test.interval.map(|(low, _)| low),
                    test.interval.map(|(_, high)| high),
                    Some(test.p),
                    is_many.then_some(test.p_holm),
                    is_many.then_some(test.p_bh),
                ];
                // Writing to a string cannot fail.
                let _ = writeln!(
                    out,
                    "{},{},{kind},{a},{b},{}",
                    quoted(&names[first]),
                    quoted(&names[second]),
                    numbers.map(number).join(",")
                );
            };
            let none = || [String::new(), String::new()];
            let strengths = [first, second].map(|group| Some(compared.strengths[group]));
            line("strength", none(), strengths, &differences.strength);
            line("structure", none(), [None, None], &differences.structure);
            let values = |k: usize| [first, second].map(|group| Some(compared.numbers[group][k]));
            for (k, (&(a, b), test)) in compared.couplings.iter().zip(&differences.couplings).enumerate() {
                line("coupling", [name(a), name(b)], values(k), test);
            }
            for (k, (&unit, test)) in compared.units.iter().zip(&differences.biases).enumerate() {
                line("bias", [name(unit), String::new()], values(compared.couplings.len() + k), test);
            }
        }
        out
    }

    /// Fits of groups that have not converged.
    pub fn warnings(&self, names: &[String]) -> Vec<Warning> {
        let fits = self.compared.fits.iter().zip(names);
        let failed = fits.filter(|(fit, _)| self.converges && !fit.converged);
        let groups: Vec<String> = failed.map(|(_, name)| name.clone()).collect();
        if groups.is_empty() { Vec::new() } else { vec![Warning::GroupsNotConverged { groups }] }
    }
}

/// A name as a cell of a CSV file.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
