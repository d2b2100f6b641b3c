//! Networks as a figure: units as discs, couplings as lines.

use isinglass::{Machine, Result, Role};
use plotters::style::{Color, RGBColor, WHITE};

use super::labels::{Label, place};
use super::{Net, Places};
use crate::figure::canvas::{self, Anchor, Canvas, Point, Rect, Stroke, Type};
use crate::figure::{GUIDE, INK, PALETTE};

/// A network to be drawn.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    /// The title above it.
    pub title: &'a str,
    /// Its units and couplings.
    pub net: &'a Net,
}

/// The width of a network in pixels, alone and beside others.
const ALONE: f64 = 720.0;
const BESIDE: f64 = 520.0;
/// The most networks in a row.
const IN_A_ROW: usize = 3;
const EDGE: f64 = 16.0;
const TITLE_HEIGHT: f64 = 30.0;
const FOOT: f64 = 44.0;
/// The width of the strongest coupling's line.
const WIDEST: f64 = 8.0;
const THINNEST: f64 = 0.7;
const TITLE: Type = Type::new(15.0, Anchor::Left).bold();
const NAME: Type = Type::new(13.0, Anchor::Middle);
const LEGEND: Type = Type::new(12.0, Anchor::Left);
const SMALL: Type = Type::new(10.5, Anchor::Middle);

/// The colours of couplings above and below 0.
const SIGNS: [RGBColor; 2] = [PALETTE[0], PALETTE[1]];
/// The colour of units without groups, and those of groups.
const PLAIN: RGBColor = RGBColor(236, 239, 243);
const GROUPS: [RGBColor; 8] = [
    RGBColor(190, 215, 235),
    RGBColor(247, 214, 180),
    RGBColor(196, 228, 205),
    RGBColor(233, 205, 223),
    RGBColor(245, 232, 170),
    RGBColor(214, 214, 214),
    RGBColor(214, 202, 232),
    RGBColor(222, 204, 190),
];

/// Draws networks side by side, as SVG, with one scale of widths.
///
/// Couplings are lines, wider for stronger ones; positive ones are blue and solid, negative ones
/// orange and dashed. Those below `least` in size are left out.
///
/// # Errors
/// A unit without a place.
///
/// # Example
/// ```
/// use isinglass::topology;
/// use isinglass_lab::network::{Drawn, Layout, Net, Places, figure};
/// let machine = topology::chain(3).with_parameters(vec![0.5, -0.2], vec![0.0; 3])?;
/// let places = Places::of(&[&machine], Layout::Spring, &[], 0)?;
/// let net = Net::of(&machine)?;
/// let svg = figure(&[Drawn { title: "a chain", net: &net }], &places, 0.0)?;
/// assert!(svg.starts_with("<svg") && svg.contains(">\nx2\n</text>"));
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn figure(networks: &[Drawn<'_>], places: &Places, least: f64) -> Result<String> {
    let width = if networks.len() == 1 { ALONE } else { BESIDE };
    let links: Vec<Vec<(usize, usize, f64)>> =
        networks.iter().map(|network| network.net.links(least)).collect();
    let arrows: Vec<Vec<(usize, usize, f64)>> =
        networks.iter().map(|network| network.net.arrows(least)).collect();
    let strongest = links.iter().chain(&arrows).flatten().map(|link| link.2.abs()).fold(0.0, f64::max);
    let at: Vec<Vec<[f64; 2]>> =
        networks.iter().map(|network| places.for_machine(&network.net.machine)).collect::<Result<_>>()?;
    let span = Span::of(&at.iter().flatten());
    // As high as the layout asks for, within limits.
    let margins: Vec<(f64, f64)> =
        networks.iter().map(|network| margins(&network.net.machine, width)).collect();
    let widest = |pick: fn(&(f64, f64)) -> f64| margins.iter().map(pick).fold(0.0, f64::max);
    let (side, cap) = (widest(|m| m.0), widest(|m| m.1));
    let drawn = (width - 2.0 * side) * span.size[1] / span.size[0];
    let height = drawn.clamp(0.35 * width, 0.85 * width) + 2.0 * cap;
    let across = networks.len().clamp(1, IN_A_ROW);
    let down = networks.len().div_ceil(IN_A_ROW).max(1);
    let sheet = (across as f64 * width, down as f64 * (height + TITLE_HEIGHT) + FOOT + EDGE);
    Ok(canvas::paint(sheet.0 as u32, sheet.1 as u32, |canvas| {
        for (k, network) in networks.iter().enumerate() {
            let left = (k % IN_A_ROW) as f64 * width;
            let top = (k / IN_A_ROW) as f64 * (height + TITLE_HEIGHT) + EDGE;
            canvas.text(network.title, (left + EDGE, top + 0.4 * TITLE_HEIGHT), TITLE);
            let frame = Rect { left: left + 6.0, top: top + TITLE_HEIGHT, width: width - 12.0, height };
            let (links, arrows) = (&links[k], &arrows[k]);
            let panel = Panel { machine: &network.net.machine, links, arrows, strongest, places, frame };
            // Names need room at the sides.
            let room = Rect {
                left: left + side,
                top: frame.top + cap,
                width: width - 2.0 * side,
                height: height - 2.0 * cap,
            };
            let at: Vec<Point> = at[k].iter().map(|place| span.onto(*place, room)).collect();
            panel.draw(canvas, &at);
        }
        let all = links.iter().chain(&arrows).flatten();
        let is_directed = arrows.iter().any(|arrows| !arrows.is_empty());
        legend(canvas, (EDGE, sheet.1 - FOOT), (strongest, is_directed), &all, places);
    }))
}

/// The rectangle that positions span.
struct Span {
    least: [f64; 2],
    size: [f64; 2],
}

impl Span {
    fn of<'a>(places: &(impl Iterator<Item = &'a [f64; 2]> + Clone)) -> Self {
        let fold = |axis: usize, start: f64, pick: fn(f64, f64) -> f64| {
            places.clone().map(|place| place[axis]).fold(start, pick)
        };
        let least = [0, 1].map(|axis| fold(axis, f64::INFINITY, f64::min));
        let most = [0, 1].map(|axis| fold(axis, f64::NEG_INFINITY, f64::max));
        let size = [0, 1].map(|axis| (most[axis] - least[axis]).max(1e-9));
        if size.iter().all(|x| x.is_finite()) {
            Self { least, size }
        } else {
            Self { least: [0.0, 0.0], size: [1.0, 1.0] }
        }
    }

    /// A position in the middle of a rectangle, both axes with one scale.
    fn onto(&self, place: [f64; 2], room: Rect) -> Point {
        let scale = (room.width / self.size[0]).min(room.height / self.size[1]);
        let middle = room.middle();
        let of = |axis: usize| scale * (place[axis] - self.least[axis] - 0.5 * self.size[axis]);
        (middle.0 + of(0), middle.1 + of(1))
    }
}

fn radius(machine: &Machine) -> f64 {
    (110.0 / (machine.unit_count().max(1) as f64).sqrt()).clamp(3.0, 13.0)
}

/// The space that names need beside units, and above and below them.
fn margins(machine: &Machine, width: f64) -> (f64, f64) {
    let longest = machine.names().iter().map(|name| NAME.width_of(name)).fold(0.0, f64::max);
    ((longest + radius(machine) + 12.0).min(0.24 * width), radius(machine) + 24.0)
}

/// One network.
struct Panel<'a> {
    machine: &'a Machine,
    links: &'a [(usize, usize, f64)],
    arrows: &'a [(usize, usize, f64)],
    strongest: f64,
    places: &'a Places,
    frame: Rect,
}

impl Panel<'_> {
    fn draw(&self, canvas: &Canvas<'_>, at: &[Point]) {
        // The strongest last, on top.
        for &(a, b, weight) in self.links.iter().rev() {
            line(canvas, &[at[a], at[b]], weight, self.strongest);
        }
        let radius = radius(self.machine);
        let middle = at.iter().fold((0.0, 0.0), |sum, place| {
            (sum.0 + place.0 / at.len() as f64, sum.1 + place.1 / at.len() as f64)
        });
        for &(from, to, weight) in self.arrows.iter().rev() {
            arrow(canvas, (at[from], at[to]), (radius, middle), weight, self.strongest);
        }
        for unit in 0..self.machine.unit_count() {
            let group = self.places.group(self.machine.name(unit));
            let fill = group.map_or(PLAIN, |group| GROUPS[group % GROUPS.len()]);
            canvas.disc(at[unit], radius, fill);
            let is_hidden = self.machine.roles()[unit] == Role::Hidden;
            canvas.ring(at[unit], radius, if is_hidden { 2.4 } else { 1.2 }, INK);
        }
        let labels: Vec<Label> = (0..self.machine.unit_count())
            .map(|unit| Label {
                at: at[unit],
                // A loop lies outside of its unit.
                radius: if self.arrows.iter().any(|a| (a.0, a.1) == (unit, unit)) {
                    2.5 * radius
                } else {
                    radius
                },
                width: 0.92 * NAME.width_of(self.machine.name(unit)) + 4.0,
                height: NAME.size + 2.0,
            })
            .collect();
        let lines: Vec<(Point, Point)> =
            self.links.iter().chain(self.arrows).take(400).map(|&(a, b, _)| (at[a], at[b])).collect();
        for (unit, rect) in place(&labels, &lines, self.frame).into_iter().enumerate() {
            let (from, middle) = (at[unit], rect.middle());
            let apart = (middle.0 - from.0).hypot(middle.1 - from.1);
            // A name that had to move away is tied to its unit.
            if apart > radius + 0.5 * rect.width + 14.0 {
                canvas.line(&[from, middle], 0.7, Stroke::Solid, GUIDE);
            }
            canvas.rectangle(rect, WHITE.mix(0.72));
            canvas.text(self.machine.name(unit), middle, NAME);
        }
    }
}

fn line(canvas: &Canvas<'_>, points: &[Point], weight: f64, strongest: f64) {
    let share = if strongest > 0.0 { weight.abs() / strongest } else { 0.0 };
    let colour = SIGNS[usize::from(weight < 0.0)].mix(0.35 + 0.6 * share);
    let stroke = if weight < 0.0 { Stroke::Dashed } else { Stroke::Solid };
    canvas.line(points, (WIDEST * share).max(THINNEST), stroke, colour);
}

/// An arrow that bends, so that both directions can be seen; a loop on the outer side for a unit's
/// own past.
fn arrow(
    canvas: &Canvas<'_>,
    (from, to): (Point, Point),
    (radius, middle): (f64, Point),
    weight: f64,
    strongest: f64,
) {
    let share = if strongest > 0.0 { weight.abs() / strongest } else { 0.0 };
    // Arrows are thinner than lines, for their heads.
    let (width, head) = (0.6 * WIDEST * share, 4.0 + 5.0 * share);
    let steps = 20;
    let points: Vec<Point> = if from == to {
        let away = (from.0 - middle.0, from.1 - middle.1);
        let length = away.0.hypot(away.1).max(1e-9);
        let turned = away.1.atan2(away.0);
        let loop_radius = 0.9 * radius;
        let centre = (from.0 + 1.55 * radius * away.0 / length, from.1 + 1.55 * radius * away.1 / length);
        // The part of the loop outside of the unit.
        let angle = |k: usize| turned - 2.2 + 4.4 * k as f64 / f64::from(steps);
        (0..=steps as usize)
            .map(|k| (centre.0 + loop_radius * angle(k).cos(), centre.1 + loop_radius * angle(k).sin()))
            .collect()
    } else {
        let way = (to.0 - from.0, to.1 - from.1);
        let length = way.0.hypot(way.1).max(1e-9);
        let bend = (0.5 * (from.0 + to.0) - 0.12 * way.1, 0.5 * (from.1 + to.1) + 0.12 * way.0);
        let on_curve = |t: f64| {
            let (u, v, w) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
            (u * from.0 + v * bend.0 + w * to.0, u * from.1 + v * bend.1 + w * to.1)
        };
        let last = (1.0 - (radius + 1.0) / length).max(0.5);
        (0..=steps as usize).map(|k| on_curve(last * k as f64 / f64::from(steps))).collect()
    };
    let colour = SIGNS[usize::from(weight < 0.0)].mix(0.35 + 0.6 * share);
    let stroke = if weight < 0.0 { Stroke::Dashed } else { Stroke::Solid };
    canvas.line(&points, width.max(THINNEST), stroke, colour);
    if let [.., before, tip] = points[..] {
        let angle = (tip.1 - before.1).atan2(tip.0 - before.0);
        let side = |turn: f64| (tip.0 - head * (angle + turn).cos(), tip.1 - head * (angle + turn).sin());
        let colour = SIGNS[usize::from(weight < 0.0)];
        canvas.line(&[side(0.45), tip, side(-0.45)], width.max(1.3), Stroke::Solid, colour);
    }
}

/// What widths, colours and fills mean.
fn legend<'a>(
    canvas: &Canvas<'_>,
    (left, top): Point,
    (strongest, is_directed): (f64, bool),
    links: &(impl Iterator<Item = &'a (usize, usize, f64)> + Clone),
    places: &Places,
) {
    let mut x = left;
    let y = top + 14.0;
    let words = if is_directed {
        ["positive: followed by the same", "negative: followed by the other"]
    } else {
        ["positive: tend to agree", "negative: tend to differ"]
    };
    for (sign, text) in [(1.0, words[0]), (-1.0, words[1])] {
        if links.clone().any(|link| link.2 * sign > 0.0) {
            line(canvas, &[(x, y), (x + 30.0, y)], 0.5 * sign * strongest, strongest);
            canvas.text(text, (x + 38.0, y), LEGEND);
            x += 38.0 + 0.9 * LEGEND.width_of(text) + 16.0;
        }
    }
    if strongest > 0.0 {
        for share in [0.25, 0.5, 1.0] {
            canvas.line(&[(x, y), (x + 30.0, y)], WIDEST * share, Stroke::Solid, INK.mix(0.6));
            canvas.text(&format!("{:.2}", share * strongest), (x + 15.0, y + 15.0), SMALL);
            x += 44.0;
        }
    }
    for (k, name) in places.groups.iter().enumerate() {
        canvas.disc((x + 6.0, y), 6.0, GROUPS[k % GROUPS.len()]);
        canvas.ring((x + 6.0, y), 6.0, 1.0, INK);
        canvas.text(name, (x + 17.0, y), LEGEND);
        x += 17.0 + 0.9 * LEGEND.width_of(name) + 14.0;
    }
}
