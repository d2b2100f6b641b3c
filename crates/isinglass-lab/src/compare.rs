//! The figure of a comparison: the differences of couplings and biases, with their intervals.

use isinglass::Machine;
use isinglass::learn::{Compared, Tested};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::figure::{GUIDE, INK, PALETTE};

/// So many differences are drawn, those with the smallest p-values.
const SHOWN: usize = 40;

/// Differences with a corrected p-value of no more than this are filled.
const LEVEL: f64 = 0.05;

const WIDTH: i32 = 860;
const ROW: i32 = 24;
const TOP: i32 = 96;
const BOTTOM: i32 = 66;
const LEFT: i32 = 330;
const RIGHT: i32 = 40;

/// One difference.
struct Row<'a> {
    label: String,
    test: &'a Tested,
    is_bias: bool,
}

/// Draws the differences of a comparison as SVG: of couplings in one colour, of biases in another;
/// those with a p-value of at most 0.05 after Benjamini and Hochberg are filled.
pub fn figure(groups: &[String], machine: &Machine, compared: &Compared) -> String {
    let name = |unit: usize| machine.name(unit);
    let couplings = compared.couplings.iter().zip(&compared.overall.couplings);
    let couplings = couplings.map(|(&(a, b), test)| (format!("{} – {}", name(a), name(b)), test, false));
    let biases = compared.units.iter().zip(&compared.overall.biases);
    let biases = biases.map(|(&unit, test)| (name(unit).to_owned(), test, true));
    let mut rows: Vec<Row<'_>> =
        couplings.chain(biases).map(|(label, test, is_bias)| Row { label, test, is_bias }).collect();
    let size = |row: &Row<'_>| row.test.difference.abs();
    rows.sort_by(|a, b| {
        a.is_bias.cmp(&b.is_bias).then(a.test.p.total_cmp(&b.test.p)).then(size(b).total_cmp(&size(a)))
    });
    // Couplings first: biases have what is left of the places, but a quarter at least.
    let biases = rows.iter().filter(|row| row.is_bias).count();
    let of_couplings = (rows.len() - biases).min(SHOWN - biases.min(SHOWN / 4));
    let of_biases = biases.min(SHOWN - of_couplings);
    let first_bias = rows.len() - biases;
    let shown: Vec<&Row<'_>> =
        rows[..of_couplings].iter().chain(&rows[first_bias..first_bias + of_biases]).collect();
    let title = match groups {
        [first, second] => format!("{second} less {first}"),
        _ => format!("largest differences of {} groups", groups.len()),
    };
    let height = TOP + ROW * shown.len() as i32 + BOTTOM;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32)).into_drawing_area();
        // Drawing into a string cannot fail: there is no device behind it.
        draw(&area, height, &title, &shown).expect("an SVG in memory takes every element");
    }
    svg.trim().to_owned() + "\n"
}

fn draw(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    height: i32,
    title: &str,
    rows: &[&Row<'_>],
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let font = |size: i32| ("sans-serif", size).into_font().color(&INK);
    let at = |size: i32, h: HPos| font(size).pos(Pos::new(h, VPos::Center));
    let ends = |row: &&Row<'_>| {
        let (low, high) = row.test.interval.unwrap_or((row.test.difference, row.test.difference));
        low.abs().max(high.abs()).max(row.test.difference.abs())
    };
    let most = rows.iter().map(ends).fold(0.0, f64::max);
    let step = step_of(most);
    let limit = (most / step).ceil().max(1.0) * step;
    let x = |value: f64| {
        let share = 0.5 + 0.5 * value / limit;
        LEFT + (f64::from(WIDTH - LEFT - RIGHT) * share).round() as i32
    };
    let floor = height - BOTTOM;
    area.fill(&WHITE)?;
    area.draw_text(title, &at(20, HPos::Left), (24, 30))?;
    for (k, name) in ["couplings", "biases"].iter().enumerate() {
        let left = 24 + 110 * k as i32;
        area.draw(&Circle::new((left + 6, 62), 5, PALETTE[k].filled()))?;
        area.draw_text(name, &at(14, HPos::Left), (left + 20, 62))?;
    }
    area.draw_text("filled: p ≤ 0.05 (Benjamini–Hochberg)", &at(13, HPos::Left), (264, 62))?;
    let ticks = (limit / step).round() as i32;
    for tick in -ticks..=ticks {
        let value = f64::from(tick) * step;
        let colour = if tick == 0 { INK } else { GUIDE };
        area.draw(&PathElement::new([(x(value), TOP - 8), (x(value), floor)], colour))?;
        area.draw_text(&format!("{value:.2}"), &at(13, HPos::Center), (x(value), floor + 16))?;
    }
    area.draw_text("difference", &at(14, HPos::Center), (x(0.0), floor + 44))?;
    for (k, row) in rows.iter().enumerate() {
        let y = TOP + ROW * k as i32 + ROW / 2;
        let colour = PALETTE[usize::from(row.is_bias)];
        area.draw_text(&row.label, &at(13, HPos::Right), (LEFT - 14, y))?;
        if let Some((low, high)) = row.test.interval {
            area.draw(&PathElement::new([(x(low), y), (x(high), y)], colour.stroke_width(2)))?;
        }
        let point = (x(row.test.difference), y);
        if row.test.p_bh <= LEVEL {
            area.draw(&Circle::new(point, 5, colour.filled()))?;
        } else {
            area.draw(&Circle::new(point, 5, WHITE.filled()))?;
            area.draw(&Circle::new(point, 5, colour.stroke_width(2)))?;
        }
    }
    area.present()
}

/// The distance of ticks: 1, 2 or 5 times a power of ten, with two to five on each side.
fn step_of(most: f64) -> f64 {
    if most <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf((most / 4.0).log10().floor());
    let fitting = [1.0, 2.0, 5.0, 10.0].into_iter().map(|k| k * power).find(|step| most / step <= 4.0);
    fitting.unwrap_or(10.0 * power)
}
