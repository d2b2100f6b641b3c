//! The entropy of a table's own distribution: the log-likelihood that no machine exceeds.

use std::collections::HashMap;

use crate::{Error, Machine, Result, Role, Table};

/// Minus the entropy of the visible units y given the input units x: `Σ_x,y q(x, y) log q(y | x)`.
///
/// # Errors
/// A table that does not fit the machine, or a row with weight and a missing cell.
pub(super) fn negative_entropy(machine: &Machine, table: &Table) -> Result<f64> {
    let positions = table.positions_in(machine)?;
    let inputs: Vec<usize> =
        (0..positions.len()).filter(|&column| machine.roles()[positions[column]] == Role::Input).collect();
    let counted: Vec<usize> = (0..table.distinct_count()).filter(|&row| table.weight(row) > 0.0).collect();
    let incomplete = counted.iter().filter(|&&row| table.row(row).contains(&0)).count();
    if incomplete > 0 {
        let s = if incomplete == 1 { "" } else { "s" };
        return Err(Error::CannotDo {
            who: "the Kullback divergence",
            what: format!("count {incomplete} distinct row{s} with missing cells"),
            why: "it compares probabilities of whole rows".into(),
        });
    }
    let given = |row: usize| -> Vec<i8> { inputs.iter().map(|&column| table.row(row)[column]).collect() };
    let mut of_input: HashMap<Vec<i8>, f64> = HashMap::new();
    for &row in &counted {
        *of_input.entry(given(row)).or_default() += table.weight(row);
    }
    let share = |&row: &usize| table.weight(row) * (table.weight(row) / of_input[&given(row)]).ln();
    Ok(counted.iter().map(share).sum::<f64>() / table.total_weight())
}
