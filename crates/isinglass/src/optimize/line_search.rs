//! A line search for the strong Wolfe conditions, by brackets and secants of the slope.
//!
//! With φ(α) = L(x + αd), a step α is accepted if the objective has risen enough and the line is
//! flat:
//!
//! ```text
//! φ(α) ≥ φ(0) + c₁ α φ'(0)        |φ'(α)| ≤ c₂ φ'(0)        c₁ = 10⁻⁴
//! ```
//!
//! In the bracket [a, b], φ rises at a and has risen enough there, and is lower or falling at b:
//! such a step lies between. Near the optimum, where values differ by rounding alone, the first
//! condition is relaxed by that much, and the slopes decide.

use super::{Objective, Point, dot, rounding};
use crate::Result;

/// c₁: the share of the expected rise that is enough.
const RISE: f64 = 1e-4;
/// Most evaluations.
const MOST: usize = 40;
/// Least distance of secants from the ends of the bracket, in its widths.
const MARGIN: f64 = 0.02;
/// Steps without an upper end grow by factors between these.
const STRETCH: (f64, f64) = (2.0, 10.0);

/// Finds a step along an ascent direction, and the point there; `None` if no step is better than
/// none.
///
/// *Arguments*: the first step to try; c₂, the share of the slope that may be left.
pub(super) fn search(
    objective: &dyn Objective,
    here: &Point,
    direction: &[f64],
    first: f64,
    flat: f64,
) -> Result<Option<(f64, Point)>> {
    let slope = dot(&here.gradient, direction);
    if !(slope.is_finite() && slope > 0.0) {
        return Ok(None);
    }
    let tolerance = rounding(here.value);
    let mut low = End { step: 0.0, value: here.value, slope };
    let mut low_point = None;
    let mut high: Option<End> = None;
    // The number of consecutive moves of the same end of the bracket.
    let mut same = 0;
    let mut moved_low = true;
    let mut step = first;
    for _ in 0..MOST {
        let point = Point::trial(objective, here.moved(step, direction))?;
        if point.parameters == here.parameters {
            break;
        }
        let tried = End { step, value: point.value, slope: dot(&point.gradient, direction) };
        let enough = here.value + RISE * step * slope;
        let good = tried.value.is_finite() && tried.value >= enough.max(low.value) - tolerance;
        if good && tried.slope.abs() <= flat * slope {
            return Ok(Some((step, point)));
        }
        let moves_low = good && tried.slope > 0.0;
        same = if moves_low == moved_low { same + 1 } else { 0 };
        moved_low = moves_low;
        if moves_low {
            low = tried;
            low_point = Some(point);
        } else {
            high = Some(tried);
        }
        let next = match &high {
            None => low.beyond(slope),
            Some(high) => low.between(high, same >= 2),
        };
        // The bracket is empty.
        if next == step || next == low.step || !next.is_finite() {
            break;
        }
        step = next;
    }
    // Not flat, but higher: good enough to continue from.
    Ok(low_point.filter(|point| point.value > here.value).map(|point| (low.step, point)))
}

struct End {
    step: f64,
    value: f64,
    slope: f64,
}

impl End {
    /// The zero of the slope, extrapolated from 0 and here.
    fn beyond(&self, slope_at_zero: f64) -> f64 {
        let secant = self.step * slope_at_zero / (slope_at_zero - self.slope);
        let (least, most) = (self.step * STRETCH.0, self.step * STRETCH.1);
        if secant.is_finite() && secant > 0.0 { secant.clamp(least, most) } else { most }
    }

    /// A step between the ends: the zero of the slope by a secant if reliable, otherwise the
    /// middle.
    fn between(&self, high: &Self, halve: bool) -> f64 {
        let width = high.step - self.step;
        let share = self.slope / (self.slope - high.slope);
        let trusted = !halve && high.value.is_finite() && high.slope < 0.0;
        self.step + width * if trusted { share.clamp(MARGIN, 1.0 - MARGIN) } else { 0.5 }
    }
}
