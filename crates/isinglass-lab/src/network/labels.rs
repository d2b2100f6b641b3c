//! Where the names of units are written, so that they cover neither each other nor units.

use crate::figure::canvas::{Point, Rect};

/// A name to be placed: the middle of its unit, the unit's radius, and the size of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label {
    pub(super) at: Point,
    pub(super) radius: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Directions and distances that are tried for each name.
const DIRECTIONS: usize = 24;
const DISTANCES: [f64; 7] = [3.0, 8.0, 15.0, 24.0, 36.0, 52.0, 72.0];

/// What makes a place bad: covering something, crossing a line, being far from its unit, pointing
/// inwards.
const COVERS: f64 = 1000.0;
const CROSSES: f64 = 2.0;
const FAR: f64 = 0.35;
const INWARDS: f64 = 2.5;

/// Finds the rectangle of each name within a frame: the best of a ring of places, one name after the
/// other, the most crowded first.
///
/// A name covers another name or a unit only if all its places would.
pub(super) fn place(labels: &[Label], lines: &[(Point, Point)], frame: Rect) -> Vec<Rect> {
    let disc = |label: &Label| Rect {
        left: label.at.0 - label.radius,
        top: label.at.1 - label.radius,
        width: 2.0 * label.radius,
        height: 2.0 * label.radius,
    };
    let discs: Vec<Rect> = labels.iter().map(disc).collect();
    let count = labels.len().max(1) as f64;
    let middle = labels.iter().fold((0.0, 0.0), |sum, l| (sum.0 + l.at.0 / count, sum.1 + l.at.1 / count));
    let crowding = |k: usize| -> f64 {
        let distance = |other: &Label| {
            let at = labels[k].at;
            (other.at.0 - at.0).hypot(other.at.1 - at.1)
        };
        labels.iter().map(distance).filter(|d| *d > 0.0).map(|d| 1.0 / (d * d)).sum()
    };
    let mut order: Vec<usize> = (0..labels.len()).collect();
    let crowded: Vec<f64> = order.iter().map(|&k| crowding(k)).collect();
    order.sort_by(|&a, &b| crowded[b].total_cmp(&crowded[a]).then(a.cmp(&b)));
    let mut placed: Vec<Option<Rect>> = vec![None; labels.len()];
    for k in order {
        let label = labels[k];
        let outwards = (label.at.0 - middle.0, label.at.1 - middle.1);
        let length = outwards.0.hypot(outwards.1).max(1e-9);
        let mut best: Option<(f64, Rect)> = None;
        for (ring, distance) in DISTANCES.into_iter().enumerate() {
            for step in 0..DIRECTIONS {
                let angle = std::f64::consts::TAU * step as f64 / DIRECTIONS as f64;
                let (x, y) = (angle.cos(), angle.sin());
                let rect = beside(&label, (x, y), distance);
                if !is_inside(rect, frame) {
                    continue;
                }
                let covers = placed.iter().flatten().chain(&discs).filter(|other| overlap(rect, **other));
                let crosses = lines.iter().filter(|line| crosses(rect, **line)).count();
                let inwards = 1.0 - (x * outwards.0 + y * outwards.1) / length;
                let cost = COVERS * covers.count() as f64
                    + CROSSES * crosses as f64
                    + FAR * distance
                    + INWARDS * inwards;
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, rect));
                }
            }
            // Farther places are for names that would cover something.
            if ring > 0 && best.is_some_and(|(cost, _)| cost < COVERS) {
                break;
            }
        }
        let (_, rect) = best.unwrap_or((0.0, beside(&label, (1.0, 0.0), DISTANCES[0])));
        placed[k] = Some(rect);
    }
    placed.into_iter().flatten().collect()
}

/// The rectangle of a name in a direction, its nearest point a distance away from the unit's edge.
fn beside(label: &Label, (x, y): Point, distance: f64) -> Rect {
    let reach = label.radius + distance;
    // The corner or side that faces the unit lies in the direction.
    let (half_width, half_height) = (0.5 * label.width, 0.5 * label.height);
    let left = label.at.0 + reach * x + half_width * x.clamp(-0.5, 0.5) * 2.0 - half_width;
    let top = label.at.1 + reach * y + half_height * y.clamp(-0.5, 0.5) * 2.0 - half_height;
    Rect { left, top, width: label.width, height: label.height }
}

fn overlap(a: Rect, b: Rect) -> bool {
    a.left < b.right() && b.left < a.right() && a.top < b.bottom() && b.top < a.bottom()
}

fn is_inside(rect: Rect, frame: Rect) -> bool {
    rect.left >= frame.left
        && rect.right() <= frame.right()
        && rect.top >= frame.top
        && rect.bottom() <= frame.bottom()
}

/// Whether a line passes through a rectangle (Liang and Barsky 1984).
fn crosses(rect: Rect, ((x, y), (to_x, to_y)): (Point, Point)) -> bool {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for (start, way, low, high) in
        [(x, to_x - x, rect.left, rect.right()), (y, to_y - y, rect.top, rect.bottom())]
    {
        if way.abs() < 1e-12 {
            if start < low || start > high {
                return false;
            }
            continue;
        }
        let (a, b) = ((low - start) / way, (high - start) / way);
        (from, to) = (from.max(a.min(b)), to.min(a.max(b)));
    }
    from < to
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Rect = Rect { left: 0.0, top: 0.0, width: 500.0, height: 400.0 };

    #[test]
    fn names_cover_neither_each_other_nor_units() {
        // Thirty units in a lattice that leaves little space.
        let labels: Vec<Label> = (0..30)
            .map(|k| Label {
                at: (60.0 + 75.0 * f64::from(k % 6), 60.0 + 70.0 * f64::from(k / 6)),
                radius: 8.0,
                width: 50.0,
                height: 14.0,
            })
            .collect();
        let lines: Vec<_> = labels.windows(2).map(|pair| (pair[0].at, pair[1].at)).collect();
        let placed = place(&labels, &lines, FRAME);
        for (k, a) in placed.iter().enumerate() {
            assert!(is_inside(*a, FRAME));
            assert!(placed[k + 1..].iter().all(|b| !overlap(*a, *b)), "name {k}");
            for label in &labels {
                let disc = Rect { left: label.at.0 - 8.0, top: label.at.1 - 8.0, width: 16.0, height: 16.0 };
                assert!(!overlap(*a, disc), "name {k}");
            }
        }
    }

    #[test]
    fn lines_through_rectangles_are_found() {
        let rect = Rect { left: 10.0, top: 10.0, width: 20.0, height: 10.0 };
        assert!(crosses(rect, ((0.0, 15.0), (50.0, 15.0))));
        assert!(crosses(rect, ((15.0, 12.0), (16.0, 13.0))));
        assert!(!crosses(rect, ((0.0, 15.0), (9.0, 15.0))));
        assert!(!crosses(rect, ((0.0, 0.0), (50.0, 5.0))));
        assert!(!crosses(rect, ((5.0, 0.0), (5.0, 50.0))));
    }
}
