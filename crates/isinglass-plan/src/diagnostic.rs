//! Notes and warnings as programs read them: a code, the sentence, and the figures in it.

use isinglass::Note as CoreNote;
use isinglass::engine::auto::Reason;
use isinglass::learn::{Check, Need};
use isinglass::message::{Message, Style};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{Note, Penalty, Warning};

/// A note or a warning as programs read it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnostic {
    /// A short name in kebab-case, such as `not-mixed`. It does not change with the wording.
    pub code: &'static str,
    /// The sentence for people.
    pub message: String,
    /// What the sentence says, as an object.
    pub data: Map<String, Value>,
}

impl Diagnostic {
    /// A diagnostic; data other than an object are left out.
    pub fn new(code: &'static str, message: impl Into<String>, data: Value) -> Self {
        let data = match data {
            Value::Object(data) => data,
            _ => Map::new(),
        };
        Self { code, message: message.into(), data }
    }
}

/// What is a note or a warning.
pub trait Diagnose: Message {
    /// A short name in kebab-case.
    fn code(&self) -> &'static str;

    /// What the message says, as an object.
    fn data(&self) -> Value;

    /// Whether the result is worth less than it seems: warnings are never silenced.
    fn is_warning(&self) -> bool;

    /// The message with its code and its figures.
    fn diagnostic(&self, style: Style) -> Diagnostic {
        Diagnostic::new(self.code(), self.text(style), self.data())
    }
}

/// The fields of a variant of an enum; a list is called `columns`, since lists are of columns.
fn fields(variant: &impl Serialize) -> Value {
    // Variants are written as {"Name": fields}, or as "Name" where there are none.
    let content = match serde_json::to_value(variant) {
        Ok(Value::Object(tagged)) => tagged.into_iter().next().map_or(Value::Null, |(_, content)| content),
        _ => Value::Null,
    };
    match content {
        Value::Array(columns) => json!({ "columns": columns }),
        Value::Object(fields) => Value::Object(fields),
        _ => json!({}),
    }
}

impl Diagnose for CoreNote {
    fn code(&self) -> &'static str {
        self.code()
    }

    fn data(&self) -> Value {
        fields(self)
    }

    fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::Unbounded { .. }
                | Self::Oscillates { .. }
                | Self::UnconvergedColumns(_)
                | Self::ImpossibleCorrelations { .. }
                | Self::DifferenceLeft { .. }
                | Self::WorseThanIndependent { .. }
                | Self::RestartFailed { .. }
                | Self::ResamplesFailed { .. }
                | Self::ResamplesUnbounded { .. }
                | Self::PermutationsFailed { .. }
        )
    }
}

impl Diagnose for Note {
    fn code(&self) -> &'static str {
        match self {
            Self::Engine(_) => "engine-chosen",
            Self::Learner { .. } => "learner-chosen",
            Self::MissingCells => "missing-cells",
            Self::NotChecked { .. } | Self::CheckCancelled => "not-checked",
            Self::Penalty(_) => "penalty-chosen",
            Self::Growth(_) => "hidden-chosen",
            Self::DroppedRows { .. } => "dropped-rows",
            Self::Imputed { .. } => "imputed",
            Self::Posterior { .. } => "posterior",
        }
    }

    fn data(&self) -> Value {
        match self {
            Self::Engine(reason) => of_reason(reason),
            Self::Learner { learner, refusal } => {
                json!({ "learner": learner.word(), "refusal": refusal.to_string() })
            }
            Self::MissingCells => json!({ "learner": "pl-em" }),
            Self::NotChecked { why } => json!({ "why": why.to_string() }),
            Self::CheckCancelled => json!({ "why": "cancelled" }),
            Self::Penalty(penalty) => of_penalty(penalty),
            Self::DroppedRows { rows } => json!({ "rows": rows }),
            Self::Imputed { versions, cells } => json!({ "versions": versions, "cells": cells }),
            Self::Posterior { engine } => json!({ "engine": engine }),
            Self::Growth(growth) => json!({ "hidden": growth.hidden, "l2": growth.l2, "l1": growth.l1 }),
        }
    }

    fn is_warning(&self) -> bool {
        false
    }
}

fn of_reason(reason: &Reason) -> Value {
    match reason {
        Reason::Decimate { free, width } => json!({ "engine": "decimate", "free": free, "width": width }),
        Reason::Eliminate { free, width, bytes, .. } => {
            json!({ "engine": "eliminate", "free": free, "width": width, "bytes": *bytes as f64 })
        }
        Reason::EliminateRows { free } => json!({ "engine": "eliminate", "free": free }),
        Reason::Enumerate { free } => json!({ "engine": "enumerate", "free": free }),
        Reason::Sampling { engine, refusal } => json!({ "engine": engine, "refusal": refusal.to_string() }),
        // Reasons of a newer core are named by their sentence alone.
        _ => json!({}),
    }
}

fn of_penalty(penalty: &Penalty) -> Value {
    let mut data = json!({
        "setting": penalty.setting,
        "chosen": penalty.chosen.penalty,
        "tried": penalty.chosen.path.len(),
        "criterion": penalty.criterion,
        "rows": penalty.chosen.rows,
    });
    match &penalty.need {
        Some(Need::Determined(columns)) => data["determined"] = json!(columns),
        Some(Need::FewRows { rows, parameters }) => {
            data["few_rows"] = json!({ "rows": rows, "parameters": parameters });
        }
        None => {}
    }
    data
}

impl Diagnose for Warning {
    fn code(&self) -> &'static str {
        match self {
            Self::NoFixedPoint { .. } => "no-fixed-point",
            Self::EndsDisagree { .. } => "ends-disagree",
            Self::StartsNotMixed { .. } => "starts-not-mixed",
            Self::FewRuns { .. } => "few-runs",
            Self::NotMixed => "not-mixed",
            Self::Impossible { .. } => "impossible-correlations",
            Self::NegativeDivergence { .. } => "negative-divergence",
            Self::NotConverged { .. } => "not-converged",
            Self::GroupsNotConverged { .. } => "groups-not-converged",
            Self::Diverged { .. } => "diverged",
            Self::ComparedByCompletions => "compared-by-completions",
            Self::Unusable { .. } => "unusable",
            Self::Deviates { .. } => "deviates",
            Self::CheckNotMixed => "check-not-mixed",
        }
    }

    fn data(&self) -> Value {
        match self {
            Self::NoFixedPoint { engine, sweeps, residual, is_bound } => {
                json!({ "engine": engine, "sweeps": sweeps, "residual": residual, "is_bound": is_bound })
            }
            Self::EndsDisagree { engine, forward, reverse } => {
                json!({ "engine": engine, "forward": forward, "reverse": reverse })
            }
            Self::StartsNotMixed { engine } => json!({ "engine": engine }),
            Self::FewRuns { engine, effective, runs } => {
                json!({ "engine": engine, "effective": effective, "runs": runs })
            }
            Self::Impossible { engine, count } => json!({ "engine": engine, "count": count }),
            Self::NegativeDivergence { engine, deficit } => json!({ "engine": engine, "deficit": deficit }),
            Self::Diverged { largest, rate } => json!({ "largest": largest, "rate": rate }),
            Self::GroupsNotConverged { groups } => json!({ "groups": groups }),
            Self::NotConverged { stopped } => json!({ "stopped": stopped.to_string() }),
            Self::Unusable { check, independent, is_sampled } => {
                let Check { largest, rms, log_likelihood, .. } = &**check;
                json!({
                    "largest": largest,
                    "rms": rms,
                    "log_likelihood": log_likelihood.as_ref().map(|found| found.value),
                    "independent": independent,
                    "is_sampled": is_sampled,
                })
            }
            Self::Deviates { largest, rms } => json!({ "largest": largest, "rms": rms }),
            Self::NotMixed | Self::ComparedByCompletions | Self::CheckNotMixed => json!({}),
        }
    }

    fn is_warning(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_the_fields_of_the_variant() {
        let found = CoreNote::ConstantColumns(vec!["a".into()]).diagnostic(Style::Flags);
        assert_eq!(found.code, "constant-columns");
        assert_eq!(Value::from(found.data), json!({ "columns": ["a"] }));
        let found = CoreNote::Unbounded { largest: 17.0 }.diagnostic(Style::Flags);
        assert_eq!(Value::from(found.data), json!({ "largest": 17.0 }));
        assert!(CoreNote::Unbounded { largest: 17.0 }.is_warning());
        assert!(CoreNote::NoVisibleUnits.data().as_object().is_some_and(Map::is_empty));
        let warning = Warning::FewRuns { engine: "ais", effective: 3.0, runs: 200 };
        assert_eq!(warning.data(), json!({ "engine": "ais", "effective": 3.0, "runs": 200 }));
    }
}
