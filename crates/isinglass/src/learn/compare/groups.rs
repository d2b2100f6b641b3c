//! Rows of several groups over the same columns, and the same rows with other labels.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::{Error, Result, Table};

/// Rows of two or more groups over the same columns.
///
/// A *case* is what has a label: a row, or the completed versions of a row with missing cells. If
/// all weights are whole numbers, a row of weight w is w cases; otherwise each row as given is one,
/// with the mean weight of the rows that equal it.
///
/// # Example
/// ```
/// use isinglass::Table;
/// use isinglass::learn::Groups;
/// let before = Table::from_rows(["a", "b"], [[1, 1], [-1, -1]])?;
/// let after = Table::from_rows(["b", "a"], [[1, 1], [1, 1], [-1, 1]])?;
/// let groups = Groups::new(["before", "after"], &[before, after])?;
/// assert_eq!(groups.sizes(), [2, 3]);
/// assert_eq!(groups.table(1)?.columns(), ["a", "b"], "columns are matched by name");
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Groups {
    names: Vec<String>,
    columns: Vec<String>,
    /// The distinct rows of all groups in the order of their cells, so that results are independent
    /// of the order of rows.
    rows: Vec<Vec<i8>>,
    /// For each case where its parts begin, and the end of all.
    starts: Vec<usize>,
    /// Rows with their weights.
    parts: Vec<(u32, f64)>,
    /// The number of cases of each group; the cases of a group follow one another.
    sizes: Vec<usize>,
}

impl Groups {
    /// Groups from their tables.
    ///
    /// # Errors
    /// Fewer than two groups; a repeated name; tables with different columns; a group without weight.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>, tables: &[Table]) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Error::check_length("names of groups", names.len(), tables.len())?;
        if names.len() < 2 {
            let problem = format!("found {}, expected at least two", names.len());
            return Err(Error::invalid("groups", problem));
        }
        for (k, name) in names.iter().enumerate() {
            if names[..k].contains(name) {
                return Err(Error::invalid("groups", format!("'{name}' occurs twice")));
            }
        }
        let columns = tables[0].columns().to_vec();
        let mut all = Vec::new();
        for (name, table) in names.iter().zip(tables) {
            let order = order_of(&columns, &names[0], name, table)?;
            all.push(cases_of(name, table, &order)?);
        }
        let mut rows: Vec<Vec<i8>> = all.iter().flatten().map(|(row, _)| row.clone()).collect();
        rows.sort_unstable();
        rows.dedup();
        let sizes = all.iter().map(Vec::len).collect();
        let mut parts = Vec::new();
        for mut cases in all {
            cases.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            for (row, weight) in cases {
                // Every row is among them.
                let place = rows.binary_search(&row).unwrap_or_default();
                parts.push((place as u32, weight));
            }
        }
        Ok(Self { names, columns, rows, starts: (0..=parts.len()).collect(), parts, sizes })
    }

    /// The names of the groups.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The number of cases of each group.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The number of missing cells of all cases.
    pub fn missing_count(&self) -> usize {
        let missing = |&(row, _): &(u32, f64)| self.rows[row as usize].iter().filter(|&&c| c == 0).count();
        self.parts.iter().map(missing).sum()
    }

    /// The groups without the cases that have a missing cell.
    ///
    /// # Errors
    /// A group that has no other cases.
    pub fn complete_cases(&self) -> Result<Self> {
        let mut kept = Self { starts: vec![0], parts: Vec::new(), sizes: Vec::new(), ..self.clone() };
        for (group, name) in self.names.iter().enumerate() {
            let before = kept.starts.len();
            for case in self.cases(group) {
                let parts = self.parts_of(case as u32);
                if parts.iter().all(|&(row, _)| !self.rows[row as usize].contains(&0)) {
                    kept.parts.extend_from_slice(parts);
                    kept.starts.push(kept.parts.len());
                }
            }
            let size = kept.starts.len() - before;
            if size == 0 {
                let problem = "every row has a missing cell, so that none is left";
                return Err(Error::invalid(format!("group '{name}'"), problem));
            }
            kept.sizes.push(size);
        }
        Ok(kept)
    }

    /// The groups with every case replaced by completed versions of it, which share its weight.
    ///
    /// *Arguments*: the number of versions; a function from a row with missing cells and a number of
    /// states to so many states, one after another.
    ///
    /// # Errors
    /// Those of the function, and states of another length.
    pub fn completed(
        &self,
        versions: usize,
        mut draw: impl FnMut(&[i8], usize) -> Result<Vec<i8>>,
    ) -> Result<Self> {
        let width = self.columns.len();
        // Cases with the same row, so that it is drawn for at once.
        let mut wanted = vec![0; self.rows.len()];
        for &(row, _) in &self.parts {
            wanted[row as usize] += versions;
        }
        let mut states: Vec<Vec<i8>> = Vec::with_capacity(self.rows.len());
        for (row, &count) in self.rows.iter().zip(&wanted) {
            let found = if row.contains(&0) { draw(row, count)? } else { Vec::new() };
            let expected = if row.contains(&0) { count * width } else { 0 };
            Error::check_length("cells of completed rows", found.len(), expected)?;
            states.push(found);
        }
        let mut rows: Vec<Vec<i8>> = states.iter().flat_map(|all| all.chunks(width)).map(Vec::from).collect();
        rows.extend(self.rows.iter().filter(|row| !row.contains(&0)).cloned());
        rows.sort_unstable();
        rows.dedup();
        let (mut starts, mut parts) = (vec![0], Vec::new());
        let mut used = vec![0; self.rows.len()];
        for case in 0..self.starts.len() - 1 {
            for &(row, weight) in self.parts_of(case as u32) {
                let own = row as usize;
                let mut push = |row: &Vec<i8>, weight: f64| {
                    parts.push((rows.binary_search(row).unwrap_or_default() as u32, weight));
                };
                if states[own].is_empty() {
                    push(&self.rows[own], weight);
                    continue;
                }
                for _ in 0..versions {
                    let state = &states[own][used[own] * width..(used[own] + 1) * width];
                    push(&state.to_vec(), weight / versions as f64);
                    used[own] += 1;
                }
            }
            starts.push(parts.len());
        }
        Ok(Self { rows, starts, parts, ..self.clone() })
    }

    /// The table of a group.
    ///
    /// # Errors
    /// No memory is left.
    pub fn table(&self, group: usize) -> Result<Table> {
        self.table_of(self.cases(group).map(|case| case as u32))
    }

    /// The table of all groups together.
    ///
    /// # Errors
    /// No memory is left.
    pub fn pooled(&self) -> Result<Table> {
        self.table_of(0..self.case_count() as u32)
    }

    /// The number of cases of all groups.
    pub(super) fn case_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of the cases, and of a table of all.
    pub(super) fn bytes(&self) -> u128 {
        let cells = self.rows.len() as u128 * (self.columns.len() as u128 + 64);
        cells + 16 * self.parts.len() as u128 + 12 * self.case_count() as u128
    }

    /// Tables of the groups with labels exchanged among all cases.
    pub(super) fn exchanged(&self, random: &mut ChaCha8Rng) -> Result<Vec<Table>> {
        let mut cases: Vec<u32> = (0..self.case_count() as u32).collect();
        cases.shuffle(random);
        let mut rest = &cases[..];
        let mut tables = Vec::with_capacity(self.sizes.len());
        for &size in &self.sizes {
            let (own, others) = rest.split_at(size);
            tables.push(self.table_of(own.iter().copied())?);
            rest = others;
        }
        Ok(tables)
    }

    /// Tables of cases drawn with replacement from each group.
    pub(super) fn resampled(&self, random: &mut ChaCha8Rng) -> Result<Vec<Table>> {
        let one = |group| {
            let cases = self.cases(group);
            let drawn: Vec<u32> = cases.clone().map(|_| random.random_range(cases.clone()) as u32).collect();
            self.table_of(drawn.into_iter())
        };
        (0..self.sizes.len()).map(one).collect()
    }

    /// The numbers of a group's cases.
    fn cases(&self, group: usize) -> std::ops::Range<usize> {
        let before = self.sizes[..group].iter().sum();
        before..before + self.sizes[group]
    }

    fn parts_of(&self, case: u32) -> &[(u32, f64)] {
        &self.parts[self.starts[case as usize]..self.starts[case as usize + 1]]
    }

    /// Rows in the order of their cells, so that equal sets of cases make equal tables.
    fn table_of(&self, cases: impl Iterator<Item = u32>) -> Result<Table> {
        let mut weights = vec![0.0; self.rows.len()];
        for case in cases {
            for &(row, weight) in self.parts_of(case) {
                weights[row as usize] += weight;
            }
        }
        let mut table = Table::new(self.columns.iter().cloned())?;
        for (row, weight) in self.rows.iter().zip(weights) {
            if weight > 0.0 {
                table.push(row, weight)?;
            }
        }
        Ok(table)
    }
}

/// For each column of the first table its place in another.
fn order_of(columns: &[String], first: &str, name: &str, table: &Table) -> Result<Vec<usize>> {
    let lacks = |who: &str, column: &str, other: &str| {
        let problem =
            format!("has no column '{column}', which group '{other}' has; groups have the same columns");
        Error::invalid(format!("group '{who}'"), problem)
    };
    if let Some(column) = table.columns().iter().find(|column| !columns.contains(column)) {
        return Err(lacks(first, column, name));
    }
    let place = |column: &String| {
        table.columns().iter().position(|own| own == column).ok_or_else(|| lacks(name, column, first))
    };
    columns.iter().map(place).collect()
}

/// The cases of a table: cells in the given order of columns, and a weight.
fn cases_of(name: &str, table: &Table, order: &[usize]) -> Result<Vec<(Vec<i8>, f64)>> {
    let total = table.total_weight();
    if total <= 0.0 {
        return Err(Error::invalid(format!("group '{name}'"), "the rows have no weight"));
    }
    let mut times = vec![0u32; table.distinct_count()];
    for &row in table.distinct_of() {
        times[row as usize] += 1;
    }
    let is_whole = (0..times.len()).all(|row| table.weight(row).fract() == 0.0);
    if is_whole && total > f64::from(u32::MAX) {
        let problem = format!("weights add up to {total:e}, expected at most 2^32 - 1 rows");
        return Err(Error::invalid(format!("group '{name}'"), problem));
    }
    let mut cases = Vec::new();
    for (row, &times) in times.iter().enumerate() {
        let weight = table.weight(row);
        if weight > 0.0 {
            let cells: Vec<i8> = order.iter().map(|&column| table.row(row)[column]).collect();
            let (count, each) =
                if is_whole { (weight as usize, 1.0) } else { (times as usize, weight / f64::from(times)) };
            cases.extend(std::iter::repeat_n((cells, each), count));
        }
    }
    Ok(cases)
}
