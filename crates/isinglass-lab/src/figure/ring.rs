//! A network as a ring: names around it without overlap, couplings as lines across.

use std::f64::consts::{PI, TAU};

use plotters::style::Color;

use super::canvas::{Anchor, Canvas, Point, Rect, Stroke, Type};
use super::sheet::{Key, Part};
use super::{INK, PALETTE};

/// A network.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ring {
    /// Names of the units, clockwise from the top.
    pub(crate) names: Vec<String>,
    /// The index of a name in bold.
    pub(crate) bold: Option<usize>,
    /// Two positions on the ring, and a weight.
    pub(crate) links: Vec<(usize, usize, f64)>,
    /// Legend of weights above and below 0.
    pub(crate) signs: [String; 2],
    /// Legend of line widths.
    pub(crate) width: String,
}

/// The width of the line of the largest weight.
const WIDEST: f64 = 10.0;
/// The smallest width that is clearly visible.
const THINNEST: f64 = 0.8;
const DOT: f64 = 5.5;
/// The distance from the ring to a name.
const NAME_GAP: f64 = 18.0;
/// How strongly lines bend towards the centre: 0 is straight.
const PULL: f64 = 0.55;
/// Segments of a curved line.
const SEGMENTS: usize = 24;
const NAME: Type = Type::new(13.0, Anchor::Middle);
const SCALE: Type = Type::new(12.0, Anchor::Left);
/// Height of the legend of widths.
const FOOT: f64 = 30.0;
/// Space for a name above and below the ring.
const CAP: f64 = 30.0;

impl Ring {
    pub(crate) fn boxed(self) -> Box<dyn Part> {
        Box::new(self)
    }

    fn strongest(&self) -> f64 {
        self.links.iter().map(|link| link.2.abs()).fold(f64::MIN_POSITIVE, f64::max)
    }

    fn pen(&self, weight: f64) -> f64 {
        (WIDEST * weight.abs() / self.strongest()).max(THINNEST)
    }

    /// Returns the angle of a position: the first is at the top, the others follow clockwise.
    fn angle(&self, place: usize) -> f64 {
        TAU * place as f64 / self.names.len().max(1) as f64 - 0.5 * PI
    }

    /// Returns centre and radius, with space for the names beside the ring.
    fn circle(&self, place: Rect) -> (Point, f64) {
        let middle = (place.left + 0.5 * place.width, place.top + 0.5 * (place.height - FOOT));
        let longest = self.names.iter().map(|name| NAME.width_of(name)).fold(0.0, f64::max);
        (middle, (0.5 * (place.height - FOOT) - CAP).min(0.5 * place.width - NAME_GAP - longest))
    }

    /// Returns the point at the angle of a position, on a circle.
    fn at(&self, place: usize, middle: Point, radius: f64) -> Point {
        let (sin, cos) = self.angle(place).sin_cos();
        (middle.0 + radius * cos, middle.1 + radius * sin)
    }

    /// Returns the anchor of a name that points away from the ring.
    fn anchor(&self, place: usize) -> Anchor {
        match self.angle(place).cos() {
            ..-0.05 => Anchor::Right,
            0.05.. => Anchor::Left,
            _ => Anchor::Middle,
        }
    }

    /// Draws the legend of widths, for round weights.
    fn draw_scale(&self, canvas: &Canvas<'_>, place: Rect) {
        let y = place.bottom() - 0.5 * FOOT;
        let mut x = place.left;
        canvas.text(&self.width, (x, y), SCALE);
        x += SCALE.width_of(&self.width) + 16.0;
        for weight in round_weights(self.strongest()) {
            canvas.line(&[(x, y), (x + 34.0, y)], self.pen(weight), Stroke::Solid, INK.mix(0.55));
            let label = format!("{weight}");
            canvas.text(&label, (x + 41.0, y), SCALE);
            x += 41.0 + SCALE.width_of(&label) + 20.0;
        }
    }
}

/// Returns three round numbers up to the largest.
fn round_weights(largest: f64) -> [f64; 3] {
    let decade = 10f64.powf(largest.log10().floor());
    let top = [5.0, 2.0, 1.0].into_iter().map(|k| k * decade).find(|&x| x <= largest * 1.0001);
    let top = top.unwrap_or(decade);
    [0.25 * top, 0.5 * top, top]
}

impl Part for Ring {
    fn draw(&self, canvas: &Canvas<'_>, place: Rect) {
        let (middle, radius) = self.circle(place);
        let at = |unit: usize, radius: f64| self.at(unit, middle, radius);
        let mut links = self.links.clone();
        // Strong ones are drawn above weak ones.
        links.sort_by(|x, y| x.2.abs().total_cmp(&y.2.abs()));
        for (a, b, weight) in links {
            let (from, to) = (at(a, radius), at(b, radius));
            // Lines between neighbours are almost straight, so that they stay away from the centre.
            let apart = ((from.0 - to.0).hypot(from.1 - to.1) / (2.0 * radius)).min(1.0);
            let pull = PULL * apart;
            let bend = |x: f64, y: f64, centre: f64| f64::midpoint(x, y) * (1.0 - pull) + pull * centre;
            let knee = (bend(from.0, to.0, middle.0), bend(from.1, to.1, middle.1));
            let curve: Vec<Point> = (0..=SEGMENTS)
                .map(|k| {
                    let t = k as f64 / SEGMENTS as f64;
                    let mix =
                        |a: f64, b: f64, c: f64| (1.0 - t).powi(2) * a + 2.0 * t * (1.0 - t) * b + t * t * c;
                    (mix(from.0, knee.0, to.0), mix(from.1, knee.1, to.1))
                })
                .collect();
            let colour = PALETTE[usize::from(weight < 0.0)];
            canvas.line(&curve, self.pen(weight), Stroke::Solid, colour.mix(0.8));
        }
        for (unit, name) in self.names.iter().enumerate() {
            let bold = self.bold == Some(unit);
            let dot = if bold { 1.4 * DOT } else { DOT };
            canvas.disc(at(unit, radius), dot + 1.5, plotters::style::WHITE);
            canvas.disc(at(unit, radius), dot, INK);
            let look = if bold { NAME.bold() } else { NAME };
            canvas.text(name, at(unit, radius + NAME_GAP), Type { anchor: self.anchor(unit), ..look });
        }
        self.draw_scale(canvas, place);
    }

    fn keys(&self) -> Vec<Key> {
        let key = |(name, colour): (&String, _)| Key {
            name: name.clone(),
            colour,
            line: Some(Stroke::Solid),
            marker: None,
        };
        self.signs.iter().zip(PALETTE).map(key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legend_has_round_numbers() {
        assert_eq!(round_weights(1.79), [0.25, 0.5, 1.0]);
        assert_eq!(round_weights(0.5), [0.125, 0.25, 0.5]);
        assert_eq!(round_weights(73.0), [12.5, 25.0, 50.0]);
    }

    #[test]
    fn names_do_not_overlap_and_stay_on_the_sheet() {
        let names: Vec<String> = (0..17).map(|k| format!("a rather long name for it {k}")).collect();
        let ring = Ring { names, ..Ring::default() };
        let place = Rect { left: 18.0, top: 80.0, width: 864.0, height: 570.0 };
        let (middle, radius) = ring.circle(place);
        assert!(radius > 200.0);
        let boxes: Vec<Rect> = (0..17)
            .map(|k| {
                let (x, y) = ring.at(k, middle, radius + NAME_GAP);
                let width = NAME.width_of(&ring.names[k]);
                let left = match ring.anchor(k) {
                    Anchor::Left => x,
                    Anchor::Middle => x - 0.5 * width,
                    Anchor::Right => x - width,
                };
                Rect { left, top: y - 0.5 * NAME.size, width, height: NAME.size }
            })
            .collect();
        for (k, a) in boxes.iter().enumerate() {
            assert!(a.left >= place.left && a.right() <= place.right() && a.top >= place.top, "{k}");
            for b in &boxes[k + 1..] {
                let apart =
                    a.right() <= b.left || b.right() <= a.left || a.bottom() <= b.top || b.bottom() <= a.top;
                assert!(apart, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn the_widest_line_is_the_strongest_coupling() {
        let ring = Ring { links: vec![(0, 1, 0.5), (1, 2, -2.0), (0, 2, 1e-9)], ..Ring::default() };
        assert_eq!((ring.pen(-2.0), ring.pen(0.5), ring.pen(1e-9)), (WIDEST, 0.25 * WIDEST, THINNEST));
    }
}
