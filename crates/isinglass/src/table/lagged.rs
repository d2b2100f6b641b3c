//! Tables of a time series and its past, for kinetic models.

use super::Table;
use crate::{Error, Machine, Result, Role, Unit};

/// The name of a column's past, a number of steps before.
pub fn past_name(name: &str, lag: usize) -> String {
    format!("{name}@-{lag}")
}

/// The column and the number of steps of a name made by [`past_name`].
pub fn of_past(name: &str) -> Option<(&str, usize)> {
    let (name, lag) = name.rsplit_once("@-")?;
    Some((name, lag.parse().ok().filter(|&lag| lag > 0)?))
}

/// A table in which each row stands beside an earlier one.
#[derive(Debug)]
pub struct Lagged {
    /// The columns, then their past.
    pub table: Table,
    /// Rows without a past: the first of each session.
    pub first: usize,
    /// Rows left out, as a cell of theirs or of their past is missing.
    pub incomplete: usize,
}

/// Puts each row of a time series beside the one `lag` rows before it, in the same session: columns
/// `a`, `b`, …, then `a@-1`, `b@-1`, …
///
/// Rows are in the order in which they were pushed, and rows of a session follow each other.
/// `sessions` numbers the session of each row; without it, all are one. A row has its own weight if
/// all weights are 1; other weights are refused, since equal rows share theirs.
///
/// # Errors
/// A lag of 0; weights other than 1; a wrong number of sessions; no row with a past.
///
/// # Example
/// ```
/// use isinglass::Table;
/// use isinglass::table::lagged;
/// let series = Table::from_rows(["a"], [[1], [-1], [1], [1]])?;
/// let found = lagged(&series, 1, Some(&[0, 0, 1, 1]))?;
/// assert_eq!(found.table.columns(), ["a", "a@-1"]);
/// assert_eq!((found.table.row(0), found.table.row(1)), (&[-1, 1][..], &[1, 1][..]));
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn lagged(table: &Table, lag: usize, sessions: Option<&[u32]>) -> Result<Lagged> {
    if lag == 0 {
        return Err(Error::setting("lag", "found 0, expected at least 1"));
    }
    let rows = table.row_count();
    if table.total_weight() != rows as f64 {
        return Err(Error::setting("lag", "is not supported for rows with weights"));
    }
    if let Some(sessions) = sessions {
        Error::check_length("sessions", sessions.len(), rows)?;
    }
    let past = table.columns().iter().map(|name| past_name(name, lag));
    let mut out = Table::new(table.columns().iter().cloned().chain(past))?;
    let (mut first, mut incomplete) = (0, 0);
    let row = |k: usize| table.row(table.distinct_of()[k] as usize);
    let mut pair = Vec::with_capacity(2 * table.columns().len());
    for now in 0..rows {
        let is_same = |before: usize| sessions.is_none_or(|sessions| sessions[before] == sessions[now]);
        // A session that is interrupted by another begins anew.
        if now < lag || !(now - lag..now).all(is_same) {
            first += 1;
            continue;
        }
        pair.clear();
        pair.extend_from_slice(row(now));
        pair.extend_from_slice(row(now - lag));
        if pair.contains(&0) {
            incomplete += 1;
        } else {
            out.push(&pair, 1.0)?;
        }
    }
    if out.row_count() == 0 {
        let problem = format!("no row has a complete one {lag} before it in the same session");
        return Err(Error::invalid("table", problem));
    }
    Ok(Lagged { table: out, first, incomplete })
}

/// The structure of a kinetic Ising model: every column given the past of all columns, its own among
/// them, and optionally joined to others at the same time.
///
/// The past are input units, whose own distribution is not learned. Without couplings at the same
/// time, units are independent given the past, and the likelihood is a product over them:
///
/// ```text
/// P(s(t) | s(t−lag)) = Π_i exp(s_i h_i) / 2cosh(h_i)        h_i = θ_i + Σ_j w_ij s_j(t−lag)
/// ```
///
/// # Errors
/// An edge beyond the columns.
///
/// # Literature
/// Roudi and Hertz 2011, "Mean field theory for nonequilibrium network reconstruction".
pub fn kinetic(columns: &[String], lag: usize, same_time: &[(usize, usize)]) -> Result<Machine> {
    let count = columns.len();
    let now = columns.iter().map(|name| Unit::new(name.clone(), 0.0));
    let past = columns.iter().map(|name| Unit { role: Role::Input, ..Unit::new(past_name(name, lag), 0.0) });
    let across = (0..count).flat_map(|now| (0..count).map(move |past| (now, count + past, 0.0)));
    let inside = same_time.iter().map(|&(a, b)| (a, b, 0.0));
    Machine::new(now.chain(past).collect(), across.chain(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_beside_the_past_of_their_session() {
        let cells = [[1, 1], [-1, 1], [1, 0], [1, -1], [-1, -1], [1, 1], [1, -1]];
        let series = Table::from_rows(["a", "b"], cells).unwrap();
        let rows = |found: &Lagged| -> Vec<Vec<i8>> {
            found.table.distinct_of().iter().map(|&k| found.table.row(k as usize).to_vec()).collect()
        };
        let found = lagged(&series, 1, None).unwrap();
        assert_eq!((found.first, found.incomplete), (1, 2));
        assert_eq!(rows(&found), [[-1, 1, 1, 1], [-1, -1, 1, -1], [1, 1, -1, -1], [1, -1, 1, 1]]);
        // Sessions of three, one and three rows.
        let found = lagged(&series, 2, Some(&[0, 0, 0, 1, 2, 2, 2])).unwrap();
        assert_eq!((found.first, found.incomplete), (5, 1));
        assert_eq!(rows(&found), [[1, -1, -1, -1]]);
        assert!(lagged(&series, 0, None).is_err() && lagged(&series, 7, None).is_err());
        assert!(lagged(&series, 1, Some(&[0])).is_err());
        let mut weighted = Table::new(["a"]).unwrap();
        weighted.push(&[1], 2.0).unwrap();
        assert!(lagged(&weighted, 1, None).is_err());
    }

    #[test]
    fn names_of_the_past_are_read_again() {
        assert_eq!(of_past(&past_name("a@-b", 12)), Some(("a@-b", 12)));
        assert_eq!((of_past("a"), of_past("a@-0"), of_past("a@-x")), (None, None, None));
    }
}
