//! Lattices: cells in rows, columns and layers, each joined with those a few fixed steps away.

use super::{Graph, Neighbours};
use crate::{Error, Result};

/// A lattice, open or periodic: its cells, their names and how they are joined.
///
/// Cells are numbered row by row, along a row column by column, and in a column layer by layer. On a
/// periodic lattice each side leads back to its other end, so that all cells have equally many
/// neighbours. A periodic side of 2 would join the same cells twice and is refused; a side of 1 has no
/// links along it, and is refused where links run across corners.
///
/// # Example
/// ```
/// use isinglass::topology::Lattice;
/// let torus = Lattice::grid(4, 5).periodic(true).graph()?;
/// assert_eq!(torus.edges().len(), 2 * 4 * 5);
/// assert!((0..20).all(|unit| torus.degree(unit) == 4));
/// assert_eq!(Lattice::grid3(2, 2, 2).names().last().unwrap(), "r1c1l1");
/// let error = Lattice::triangular(3, 2).periodic(true).graph().unwrap_err();
/// assert_eq!(error.to_string(), "columns: found 2, expected at least 3 on a periodic lattice of this kind");
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lattice {
    kind: Kind,
    /// Rows, columns and layers.
    sides: [usize; 3],
    periodic: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Chain,
    Grid,
    Grid8,
    Triangular,
    Grid3,
}

impl Lattice {
    /// A row of units, each joined with the next; periodic: a ring.
    pub fn chain(units: usize) -> Self {
        Self::new(Kind::Chain, [1, units, 1])
    }

    /// A square lattice: each cell joined with those to its left and right, above and below.
    pub fn grid(rows: usize, columns: usize) -> Self {
        Self::new(Kind::Grid, [rows, columns, 1])
    }

    /// A square lattice with both diagonals of each square.
    pub fn grid8(rows: usize, columns: usize) -> Self {
        Self::new(Kind::Grid8, [rows, columns, 1])
    }

    /// A square lattice with four or eight neighbours.
    pub fn with_neighbours(rows: usize, columns: usize, neighbours: Neighbours) -> Self {
        match neighbours {
            Neighbours::Four => Self::grid(rows, columns),
            Neighbours::Eight => Self::grid8(rows, columns),
        }
    }

    /// A triangular lattice with six neighbours: the square lattice with one diagonal of each square,
    /// from row r and column c to row r + 1 and column c + 1.
    pub fn triangular(rows: usize, columns: usize) -> Self {
        Self::new(Kind::Triangular, [rows, columns, 1])
    }

    /// A simple cubic lattice: each cell joined with the next along rows, columns and layers.
    pub fn grid3(rows: usize, columns: usize, layers: usize) -> Self {
        Self::new(Kind::Grid3, [rows, columns, layers])
    }

    fn new(kind: Kind, sides: [usize; 3]) -> Self {
        Self { kind, sides, periodic: false }
    }

    /// The same lattice, with its opposite ends joined or not.
    #[must_use]
    pub fn periodic(mut self, periodic: bool) -> Self {
        self.periodic = periodic;
        self
    }

    /// The number of units; it may be more than there can be.
    pub fn unit_count(&self) -> u128 {
        self.sides.iter().fold(1, |count: u128, &side| count.saturating_mul(side as u128))
    }

    /// An upper bound on the number of edges, reached on large periodic lattices.
    pub fn most_edges(&self) -> u128 {
        self.unit_count().saturating_mul(self.steps().len() as u128)
    }

    /// From a cell to half of its neighbours: the others step back.
    fn steps(&self) -> &'static [[isize; 3]] {
        match self.kind {
            Kind::Chain => &[[0, 1, 0]],
            Kind::Grid => &[[0, 1, 0], [1, 0, 0]],
            Kind::Grid8 => &[[0, 1, 0], [1, -1, 0], [1, 0, 0], [1, 1, 0]],
            Kind::Triangular => &[[0, 1, 0], [1, 0, 0], [1, 1, 0]],
            Kind::Grid3 => &[[0, 0, 1], [0, 1, 0], [1, 0, 0]],
        }
    }

    /// The name of each unit: `x7` on a chain, `r0c7` in row 0 and column 7, `r0c7l2` also in layer 2.
    pub fn names(&self) -> Vec<String> {
        let name = |[row, column, layer]: [usize; 3]| match self.kind {
            Kind::Chain => format!("x{column}"),
            Kind::Grid3 => format!("r{row}c{column}l{layer}"),
            _ => format!("r{row}c{column}"),
        };
        self.cells().map(name).collect()
    }

    fn cells(&self) -> impl Iterator<Item = [usize; 3]> {
        let [rows, columns, layers] = self.sides;
        let of_row = move |row| {
            (0..columns).flat_map(move |column| (0..layers).map(move |layer| [row, column, layer]))
        };
        (0..rows).flat_map(of_row)
    }

    /// The graph of the cells.
    ///
    /// # Errors
    /// A periodic side along which cells would be joined twice, or with themselves; too many cells.
    pub fn graph(&self) -> Result<Graph> {
        self.check()?;
        let units = usize::try_from(self.unit_count()).unwrap_or(usize::MAX);
        if units > Graph::MAX {
            let problem = format!("found {} units, expected at most {}", self.unit_count(), Graph::MAX);
            return Err(Error::invalid("lattice", problem));
        }
        let number = |cell: [usize; 3]| (cell[0] * self.sides[1] + cell[1]) * self.sides[2] + cell[2];
        let mut edges = Vec::new();
        for cell in self.cells() {
            let here = number(cell);
            let others = self.steps().iter().filter_map(|step| self.after(cell, step)).map(number);
            // A periodic side of 1 leads back at once.
            edges.extend(
                others.filter(|&other| other != here).map(|other| (here.min(other), here.max(other))),
            );
        }
        edges.sort_unstable();
        Graph::from_sorted(units, edges)
    }

    /// The cell after a step, if it is on the lattice.
    fn after(&self, cell: [usize; 3], step: &[isize; 3]) -> Option<[usize; 3]> {
        let mut other = [0; 3];
        for axis in 0..3 {
            let side = self.sides[axis];
            let place = cell[axis].checked_add_signed(step[axis]).filter(|&place| place < side);
            other[axis] = match (place, self.periodic) {
                (Some(place), _) => place,
                (None, true) if step[axis] > 0 => 0,
                (None, true) => side - 1,
                (None, false) => return None,
            };
        }
        Some(other)
    }

    fn check(&self) -> Result<()> {
        let has_diagonals = self.steps().iter().any(|step| step.iter().filter(|&&by| by != 0).count() > 1);
        let names = if self.kind == Kind::Chain { ["", "units", ""] } else { ["rows", "columns", "layers"] };
        for axis in (0..3).filter(|&axis| self.periodic && self.steps().iter().any(|step| step[axis] != 0)) {
            let side = self.sides[axis];
            if side == 2 || (side == 1 && has_diagonals) {
                let expected = if has_diagonals {
                    "at least 3 on a periodic lattice of this kind"
                } else {
                    "1 or at least 3 on a periodic lattice: 2 would be joined twice"
                };
                return Err(Error::invalid(names[axis], format!("found {side}, expected {expected}")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of cells, by the distance that defines the kind; nothing is shared with the builder.
    fn by_distance(lattice: &Lattice) -> Vec<(usize, usize)> {
        let cells: Vec<[usize; 3]> = lattice.cells().collect();
        let joined = |a: [usize; 3], b: [usize; 3]| {
            // Differences along the axes, the shortest way around where there is one.
            let mut by = [0i64; 3];
            for axis in 0..3 {
                let side = lattice.sides[axis] as i64;
                by[axis] = b[axis] as i64 - a[axis] as i64;
                if lattice.periodic && 2 * by[axis].abs() > side {
                    by[axis] -= side * by[axis].signum();
                }
            }
            let length: i64 = by.iter().map(|x| x.abs()).sum();
            match lattice.kind {
                Kind::Chain | Kind::Grid | Kind::Grid3 => length == 1,
                Kind::Grid8 => by.iter().all(|x| x.abs() <= 1) && length > 0,
                Kind::Triangular => length == 1 || by == [1, 1, 0] || by == [-1, -1, 0],
            }
        };
        let all = (0..cells.len()).flat_map(|a| (a + 1..cells.len()).map(move |b| (a, b)));
        all.filter(|&(a, b)| joined(cells[a], cells[b])).collect()
    }

    #[test]
    fn cells_are_joined_where_they_are_near() {
        for rows in 1..6 {
            for columns in 1..6 {
                let flat = [
                    Lattice::chain(columns),
                    Lattice::grid(rows, columns),
                    Lattice::grid8(rows, columns),
                    Lattice::triangular(rows, columns),
                ];
                let deep = (1..5).map(|layers| Lattice::grid3(rows, columns, layers));
                for lattice in flat.into_iter().chain(deep) {
                    let open = lattice.graph().unwrap();
                    assert_eq!(open.edges(), by_distance(&lattice), "{lattice:?}");
                    let periodic = lattice.periodic(true);
                    let Ok(graph) = periodic.graph() else { continue };
                    assert_eq!(graph.edges(), by_distance(&periodic), "{periodic:?}");
                    let axes = (0..3).filter(|&axis| periodic.steps().iter().any(|step| step[axis] != 0));
                    if axes.into_iter().all(|axis| periodic.sides[axis] >= 3) {
                        assert_eq!(graph.edges().len() as u128, periodic.most_edges(), "{periodic:?}");
                        let degree = 2 * periodic.steps().len();
                        assert!((0..graph.unit_count()).all(|unit| graph.degree(unit) == degree));
                    }
                }
                assert_eq!(
                    Lattice::grid8(rows, columns).graph().unwrap(),
                    Graph::grid(rows, columns, Neighbours::Eight)
                );
                assert_eq!(
                    Lattice::grid(rows, columns).graph().unwrap(),
                    Graph::grid(rows, columns, Neighbours::Four)
                );
            }
        }
    }

    #[test]
    fn short_periodic_sides_are_refused_by_name() {
        let message = |lattice: Lattice| lattice.periodic(true).graph().unwrap_err().to_string();
        let rule = "expected 1 or at least 3 on a periodic lattice: 2 would be joined twice";
        assert_eq!(message(Lattice::chain(2)), format!("units: found 2, {rule}"));
        assert_eq!(message(Lattice::grid(2, 5)), format!("rows: found 2, {rule}"));
        assert_eq!(message(Lattice::grid3(3, 4, 2)), format!("layers: found 2, {rule}"));
        let rule = "expected at least 3 on a periodic lattice of this kind";
        assert_eq!(message(Lattice::grid8(5, 1)), format!("columns: found 1, {rule}"));
        // A torus of one row is a ring.
        let ring = Lattice::grid(1, 7).periodic(true).graph().unwrap();
        assert_eq!(ring, Lattice::chain(7).periodic(true).graph().unwrap());
        assert!(message(Lattice::grid(usize::MAX, 3)).starts_with("lattice: found"));
        assert_eq!(Lattice::grid3(0, 2, 2).periodic(false).graph().unwrap().unit_count(), 0);
    }

    #[test]
    fn names_tell_row_column_and_layer() {
        assert_eq!(Lattice::grid(2, 2).names(), ["r0c0", "r0c1", "r1c0", "r1c1"]);
        assert_eq!(Lattice::grid3(1, 2, 2).names(), ["r0c0l0", "r0c0l1", "r0c1l0", "r0c1l1"]);
        assert_eq!(Lattice::chain(2).names(), ["x0", "x1"]);
    }
}
