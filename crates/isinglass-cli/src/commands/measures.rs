//! Centralities and predictability of units, as CSV, JSON and text: what `fit` and `network` share.

use isinglass::Machine;
use isinglass::network::{Study, UnitMeasure};
use isinglass_files::{Output, write_measures};
use serde_json::{Map, Value, json};

/// The measures that any unit has.
fn known(study: &Study) -> impl Iterator<Item = UnitMeasure> {
    UnitMeasure::ALL.into_iter().filter(|&measure| study.has(measure))
}

/// Writes a row for each unit, with intervals where there are any.
pub(super) fn write_centrality(machine: &Machine, study: &Study, mut output: Output) -> anyhow::Result<()> {
    let mut header = vec!["unit".to_owned()];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for measure in known(study) {
        header.push(measure.word().to_owned());
        columns.push(study.values(measure).to_vec());
        if let Some(intervals) = study.intervals(measure) {
            header.extend(["lower", "upper"].map(|side| format!("{}_{side}", measure.word())));
            columns.push(intervals.iter().map(|interval| interval.low).collect());
            columns.push(intervals.iter().map(|interval| interval.high).collect());
        }
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = (0..machine.unit_count())
        .map(|unit| (vec![machine.name(unit)], columns.iter().map(|column| column[unit]).collect()));
    write_measures(&header, rows, &mut output).map_err(|error| output.error(&error))?;
    Ok(output.commit()?)
}

/// An object for each unit; `null` where a measure is undefined.
pub(super) fn document(machine: &Machine, study: &Study) -> Value {
    let of_unit = |unit: usize| {
        let mut object = Map::new();
        object.insert("unit".into(), json!(machine.name(unit)));
        for measure in known(study) {
            object.insert(measure.word().into(), json!(study.values(measure)[unit]));
            if let Some(intervals) = study.intervals(measure) {
                let interval = json!([intervals[unit].low, intervals[unit].high]);
                object.insert(format!("{}_interval", measure.word()), interval);
            }
        }
        Value::Object(object)
    };
    (0..machine.unit_count()).map(of_unit).collect()
}
