//! Machines whose units are pixels: weights, means and draws as pictures.

use std::fmt;
use std::str::FromStr;

use isinglass::engine::Draws;
use isinglass::{Engine, Error, Evidence, Machine, Result, Role};
use serde::Serialize;

use super::rounding::{Short, short};

/// Rows and columns of a picture.
///
/// # Example
/// ```
/// use isinglass_lab::report::Shape;
/// let shape: Shape = "28x20".parse()?;
/// assert_eq!((shape.rows, shape.columns), (28, 20));
/// assert!("28".parse::<Shape>().is_err());
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let sides = text.split_once(['x', '×']).and_then(|(rows, columns)| {
            let side = |text: &str| text.trim().parse::<usize>().ok().filter(|side| *side > 0);
            Some(Self { rows: side(rows)?, columns: side(columns)? })
        });
        sides.ok_or_else(|| {
            Error::invalid("shape", format!("found '{text}', expected rows and columns such as 8x8"))
        })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.columns)
    }
}

/// The units that are pixels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pixels {
    pub(super) shape: Shape,
    /// Positions in the machine, row by row.
    pub(super) units: Vec<usize>,
}

impl Pixels {
    /// Takes all visible units, in the machine's order, as a picture of a given shape.
    ///
    /// # Errors
    /// A shape with another number of pixels.
    pub(super) fn all(machine: &Machine, shape: Shape) -> Result<Self> {
        let units: Vec<usize> = machine.with_role(Role::Visible).collect();
        if shape.rows.checked_mul(shape.columns) != Some(units.len()) {
            let problem = format!("found {shape}, expected {} pixels, one per visible unit", units.len());
            return Err(Error::invalid("shape", problem));
        }
        Ok(Self { shape, units })
    }

    /// Takes the visible units whose names contain row and column, such as `p07`, `r0c7`,
    /// `pixel_0_7`, if these form a complete picture.
    pub(super) fn by_name(machine: &Machine) -> Option<Self> {
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        let mut word = None;
        for unit in machine.with_role(Role::Visible) {
            let Some((letters, row, column)) = row_and_column(machine.name(unit)) else { continue };
            // Only the first kind of names can be the picture.
            if *word.get_or_insert(letters) == letters {
                found.push((row, column, unit));
            }
        }
        found.sort_unstable();
        let &(rows, _, _) = found.last()?;
        let columns = found.iter().map(|place| place.1).max()?;
        let &(top, left, _) = found.first()?;
        let shape = Shape { rows: (rows + 1).checked_sub(top)?, columns: (columns + 1).checked_sub(left)? };
        // Both counted from 0 or both from 1: the last ninety of x0 to x99 are not a picture.
        let is_whole = top <= 1
            && left == top
            && shape.rows > 1
            && shape.columns > 1
            && shape.rows.checked_mul(shape.columns) == Some(found.len())
            && found
                .iter()
                .enumerate()
                .all(|(k, place)| (place.0, place.1) == (top + k / shape.columns, left + k % shape.columns));
        is_whole.then(|| Self { shape, units: found.iter().map(|place| place.2).collect() })
    }
}

/// Splits a name into letters, row and column: two numbers with something between, or two digits.
fn row_and_column(name: &str) -> Option<((&str, &str), usize, usize)> {
    let digits = |c: char| c.is_ascii_digit();
    let start = name.find(digits)?;
    let (word, rest) = name.split_at(start);
    if word.is_empty() {
        return None;
    }
    let end = rest.find(|c| !digits(c)).unwrap_or(rest.len());
    let (first, after) = rest.split_at(end);
    if after.is_empty() && first.len() == 2 {
        let number = |k: usize| first[k..=k].parse().ok();
        return Some(((word, ""), number(0)?, number(1)?));
    }
    let next = after.find(digits)?;
    let (between, second) = after.split_at(next);
    Some(((word, between), first.parse().ok()?, second.parse().ok()?))
}

/// Pictures of a machine.
#[derive(Debug, Serialize)]
pub(super) struct Pictures {
    pub(super) shape: Shape,
    /// Positions of the pixels in the machine.
    pub(super) units: Vec<usize>,
    /// The biases of the pixels.
    biases: Vec<Short>,
    /// Hidden units and their couplings to the pixels, the strongest first.
    hidden: Vec<Hidden>,
    /// The number of hidden units, shown or not.
    hidden_count: usize,
    draws: Option<Drawn>,
    /// The reason if there are no draws.
    no_draws: Option<String>,
}

/// A hidden unit.
#[derive(Debug, Serialize)]
struct Hidden {
    name: String,
    weights: Vec<Short>,
}

/// Drawn states: a string of + and - for each.
#[derive(Debug, Serialize)]
struct Drawn {
    engine: &'static str,
    guarantee: &'static str,
    converged: bool,
    states: Vec<String>,
}

/// The largest number of hidden units shown.
const MAX_HIDDEN: usize = 100;

impl Pictures {
    /// Collects weights of the pixels, and `count` draws if the engine can draw.
    pub(super) fn of(
        machine: &Machine,
        pixels: &Pixels,
        engine: &dyn Engine,
        count: usize,
        seed: u64,
    ) -> Result<Self> {
        let mut hidden: Vec<(f64, Hidden)> = machine
            .with_role(Role::Hidden)
            .map(|unit| {
                let weight = |&pixel: &usize| {
                    machine.graph().edge_between(unit, pixel).map_or(0.0, |edge| machine.weights()[edge])
                };
                let weights: Vec<f64> = pixels.units.iter().map(weight).collect();
                let size = weights.iter().map(|weight| weight.abs()).sum();
                (size, Hidden { name: machine.name(unit).to_owned(), weights: short(weights) })
            })
            .collect();
        hidden.sort_by(|x, y| y.0.total_cmp(&x.0));
        let hidden_count = hidden.len();
        hidden.truncate(MAX_HIDDEN);
        let (draws, no_draws) = match draw(machine, engine, count, seed) {
            Ok(draws) => (Some(draws), None),
            Err(error @ (Error::CannotDo { .. } | Error::OverBudget { .. })) => {
                (None, Some(error.to_string()))
            }
            Err(error) => return Err(error),
        };
        let state =
            |cells: &[i8]| pixels.units.iter().map(|&unit| if cells[unit] > 0 { '+' } else { '-' }).collect();
        let draws = draws.map(|draws| Drawn {
            engine: engine.name(),
            guarantee: draws.guarantee.word(),
            converged: draws.diagnostics.converged,
            states: draws.cells.chunks_exact(draws.units.max(1)).map(state).collect(),
        });
        Ok(Self {
            shape: pixels.shape,
            units: pixels.units.clone(),
            biases: short(pixels.units.iter().map(|&unit| machine.biases()[unit])),
            hidden: hidden.into_iter().map(|(_, hidden)| hidden).collect(),
            hidden_count,
            draws,
            no_draws,
        })
    }
}

fn draw(machine: &Machine, engine: &dyn Engine, count: usize, seed: u64) -> Result<Draws> {
    if machine.with_role(Role::Input).next().is_some() {
        return Err(Error::CannotDo {
            who: "report",
            what: "draw pictures".into(),
            why: "the machine has input units, whose distribution was not learned".into(),
        });
    }
    let sampler = engine.sampler().ok_or_else(|| Error::CannotDo {
        who: engine.name(),
        what: "draw states".into(),
        why: "the exact engines and gibbs can".into(),
    })?;
    sampler.draw(machine, &Evidence::none(machine.unit_count()), count, seed)
}

#[cfg(test)]
mod tests {
    use isinglass::topology;

    use super::*;

    fn named(names: &[String]) -> Machine {
        topology::chain(names.len()).with_names(names.iter().cloned()).unwrap()
    }

    fn grid(rows: usize, columns: usize, name: impl Fn(usize, usize) -> String) -> Vec<String> {
        (0..rows)
            .flat_map(|row| (0..columns).map(move |column| (row, column)))
            .map(|(r, c)| name(r, c))
            .collect()
    }

    #[test]
    fn names_with_row_and_column_form_a_picture() {
        let shape = |names: &[String]| Pixels::by_name(&named(names)).map(|pixels| pixels.shape.to_string());
        assert_eq!(shape(&grid(8, 8, |r, c| format!("p{r}{c}"))).as_deref(), Some("8x8"));
        assert_eq!(shape(&grid(12, 28, |r, c| format!("r{r}c{c}"))).as_deref(), Some("12x28"));
        assert_eq!(shape(&grid(3, 11, |r, c| format!("pixel_{}_{}", r + 1, c + 1))).as_deref(), Some("3x11"));
        let mut with_label = vec!["digit".to_owned(), "even".to_owned()];
        with_label.extend(grid(4, 5, |r, c| format!("p{r}_{c}")));
        let found = Pixels::by_name(&named(&with_label)).unwrap();
        assert_eq!((found.shape.to_string().as_str(), found.units[0], found.units[19]), ("4x5", 2, 21));
        // Not complete, not a grid, not two numbers.
        assert_eq!(shape(&grid(8, 8, |r, c| format!("p{r}{c}"))[1..]), None);
        assert_eq!(shape(&grid(1, 9, |r, c| format!("p{r}_{c}"))), None);
        assert_eq!(shape(&grid(3, 3, |r, c| format!("x{}", 3 * r + c))), None);
        assert_eq!(shape(&grid(4, 4, |r, c| format!("x{}", 10 + 4 * r + c))), None);
        assert_eq!(shape(&grid(10, 10, |r, c| format!("x{}", 10 * r + c))), None);
        assert_eq!(shape(&["a".into(), "b".into()]), None);
    }

    #[test]
    fn a_shape_must_match_the_visible_units() {
        let machine = topology::rbm(6, 2).unwrap();
        assert_eq!(Pixels::all(&machine, Shape { rows: 2, columns: 3 }).unwrap().units, [0, 1, 2, 3, 4, 5]);
        assert_eq!(
            Pixels::all(&machine, Shape { rows: 3, columns: 3 }).unwrap_err().to_string(),
            "shape: found 3x3, expected 6 pixels, one per visible unit"
        );
    }
}
