//! Printing: results on standard output, everything else on standard error.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, Write};

use isinglass::message::{Message, Style};
use isinglass::{Diagnostics, Guarantee};
use isinglass_plan::{Diagnostic, Warning};
use serde::Serialize;
use serde_json::{Value, json};

use crate::options::{Common, Usage};
use crate::progress::suspended;

/// A document with all that was reported on the way to it.
#[derive(Serialize)]
struct Reported<'a, T> {
    #[serde(flatten)]
    document: &'a T,
    notes: &'a [Diagnostic],
    warnings: &'a [Diagnostic],
}

/// Prints a JSON document as the only thing on standard output.
pub(crate) fn json(
    document: &impl Serialize,
    notes: &[Diagnostic],
    warnings: &[Diagnostic],
) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let document = Reported { document, notes, warnings };
    serde_json::to_writer(&mut out, &document).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// Print a text on standard output.
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    suspended(|| {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        Ok(())
    })
}

/// A line on standard error that is not the result; names in it cannot move the cursor.
pub(crate) fn note(text: &str) {
    // A closed standard error is no reason to fail.
    let _ = suspended(|| writeln!(io::stderr(), "{}", escaped(text)));
}

/// A text in which control characters are shown as what they are, such as `\u{1b}`; its lines stay.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| c.is_control() && c != '\n';
    if !text.contains(is_harmful) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmful(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out.into()
}

pub(crate) use isinglass_plan::count;

/// The error of a request, with its exit code.
pub(crate) fn failed(error: isinglass_plan::Error) -> anyhow::Error {
    match error {
        isinglass_plan::Error::Usage(usage) => Usage::from(usage).into(),
        isinglass_plan::Error::Core(error) => error.into(),
        other => other.into(),
    }
}

/// The error of a question to an engine, with a hint where a larger budget or less to do would
/// help.
pub(crate) fn advised(error: impl Into<isinglass_plan::Error>) -> anyhow::Error {
    failed(error.into().with_advice())
}

/// Prints the error that ends the program.
pub(crate) fn error(error: &anyhow::Error) {
    let word = if io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        "\x1b[1;31merror\x1b[0m"
    } else {
        "error"
    };
    let causes = error.chain().map(|cause| match cause.downcast_ref::<isinglass::Error>() {
        Some(error) => error.text(Style::Flags),
        None => cause.to_string(),
    });
    let text = causes.collect::<Vec<_>>().join(": ");
    // A closed standard error is no reason to fail.
    let _ = suspended(|| writeln!(io::stderr(), "{word}: {}", escaped(&text)));
}

/// An error with a hint, where a larger budget or less to do would help.
pub(crate) fn with_hint(error: impl Into<anyhow::Error>, hint: &str) -> anyhow::Error {
    let error = error.into();
    match error.downcast_ref() {
        Some(isinglass::Error::OverBudget { .. }) => anyhow::anyhow!("{error}\nhint: {hint}"),
        _ => error,
    }
}

/// The reader of our output went away: not an error of ours.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// A table; columns of numbers stand to the right.
pub(crate) fn columns(header: &[&str], rows: &[Vec<String>]) -> String {
    // A name may hold anything; on a terminal it must not move the cursor, nor end its row.
    let visible = |cell: &str| escaped(cell).replace('\n', "\\n");
    let header: Vec<String> = header.iter().map(|cell| visible(cell)).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| visible(cell)).collect()).collect();
    let width = |k: usize| {
        let cells = rows.iter().map(|row| row[k].chars().count());
        cells.chain([header[k].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let is_number = |cell: &String| cell.parse::<f64>().is_ok() || cell == "–";
    let to_right: Vec<bool> =
        (0..header.len()).map(|k| k > 0 && rows.iter().all(|row| is_number(&row[k]))).collect();
    let mut out = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (k, (cell, &width)) in cells.zip(&widths).enumerate() {
            // Writing to a string cannot fail.
            let gap = if k == 0 { "" } else { "  " };
            let _ = if to_right[k] {
                write!(text, "{gap}{cell:>width$}")
            } else {
                write!(text, "{gap}{cell:<width$}")
            };
        }
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line(&mut header.iter().map(String::as_str));
    for row in &rows {
        line(&mut row.iter().map(String::as_str));
    }
    out
}

/// A standard error with some digits; one that is unknown is NaN.
pub(crate) fn standard_error(error: f64, digits: usize) -> String {
    if error.is_nan() { "unknown".to_owned() } else { format!("{error:.digits$}") }
}

/// Which engine answered, and what its answer is worth; for the head of a text report.
pub(crate) fn provenance(engine: &str, guarantee: Guarantee, diagnostics: &Diagnostics) -> String {
    let mut out = format!("engine {engine}: {guarantee}\n");
    if let Some(mixing) = &diagnostics.mixing {
        let trips = mixing.round_trips.map_or(String::new(), |trips| {
            let rates = mixing.swap_rates.iter().copied();
            let lowest = rates.fold(1.0, f64::min);
            let levels = count(mixing.swap_rates.len() + 1, "level");
            format!("{levels}, swap rates from {lowest:.2}, {}\n", count(trips, "round trip"))
        });
        let chains = if trips.is_empty() { "chain" } else { "ladder" };
        // Where annealed runs begin with draws of the chains, they may be to blame.
        let are_others =
            diagnostics.importance.is_some_and(|runs| !(runs.has_many_runs() && runs.ends_agree()));
        let has_mixed = diagnostics.converged || are_others;
        let _ = writeln!(
            out,
            "{trips}{} × {}, R-hat {:.3}, effective samples {:.0}{}",
            count(mixing.chains, chains),
            count(mixing.samples, "state"),
            mixing.r_hat,
            mixing.effective_samples,
            if has_mixed { "" } else { " (not converged)" }
        );
    }
    if let Some(importance) = diagnostics.importance {
        let verdict = if importance.has_many_runs() { "" } else { " (too few)" };
        let _ = writeln!(
            out,
            "{} through {}, effective runs {:.0}{verdict}; {} back from draws of the ladders",
            count(importance.runs, "run"),
            count(importance.temperatures, "temperature"),
            importance.effective_samples,
            count(importance.reverse_runs, "run"),
        );
        let _ = writeln!(
            out,
            "log Z from the runs {:.3} ± {:.2e}, from those back {:.3} ± {:.2e}{}",
            importance.forward_log_z,
            importance.forward_error,
            importance.reverse_log_z,
            importance.reverse_error,
            if importance.ends_agree() { "" } else { " (the two ends disagree)" }
        );
    }
    if let Some(iteration) = diagnostics.iteration {
        let _ = writeln!(
            out,
            "{}, equations hold to {:.1e}{}{}",
            count(iteration.sweeps, "sweep"),
            iteration.residual,
            if iteration.oscillated { ", oscillated and was damped" } else { "" },
            if diagnostics.converged { "" } else { " (not converged)" }
        );
    }
    out
}

/// How the search for a fixed point went, for JSON.
pub(crate) fn iteration(diagnostics: &Diagnostics) -> Option<Value> {
    diagnostics.iteration.map(|iteration| {
        json!({
            "sweeps": iteration.sweeps,
            "residual": iteration.residual,
            "damping": iteration.damping,
            "oscillated": iteration.oscillated,
        })
    })
}

/// How the chains mixed, for JSON: `null` for direct methods.
pub(crate) fn mixing(diagnostics: &Diagnostics) -> Value {
    diagnostics.mixing.as_ref().map_or(Value::Null, |mixing| {
        let mut found = json!({
            "chains": mixing.chains,
            "samples": mixing.samples,
            "r_hat": mixing.r_hat,
            "effective_samples": mixing.effective_samples,
        });
        if let Some(trips) = mixing.round_trips {
            found["round_trips"] = trips.into();
            found["swap_rates"] = json!(mixing.swap_rates);
        }
        found
    })
}

/// How even the weights of annealed runs are, for JSON.
pub(crate) fn importance(diagnostics: &Diagnostics) -> Option<Value> {
    diagnostics.importance.map(|importance| {
        json!({
            "runs": importance.runs,
            "temperatures": importance.temperatures,
            "effective_samples": importance.effective_samples,
            "forward_log_z": importance.forward_log_z,
            "forward_error": importance.forward_error,
            "reverse_runs": importance.reverse_runs,
            "reverse_log_z": importance.reverse_log_z,
            "reverse_error": importance.reverse_error,
            "ends_agree": importance.ends_agree(),
        })
    })
}

/// Warns of an answer that did not converge.
pub(crate) fn warn_unless_converged(
    common: &Common,
    engine: &'static str,
    guarantee: Guarantee,
    diagnostics: &Diagnostics,
) {
    common.diagnose(Warning::of(engine, guarantee, diagnostics));
}
