//! Drawings of small networks: units as labelled circles, couplings as labelled lines.

use super::canvas::{Anchor, Canvas, Point, Rect, Stroke, Type};
use super::sheet::Part;
use super::{INK, PALETTE};

/// The emphasis of a unit or a coupling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Emphasis {
    #[default]
    Plain,
    /// Is removed next.
    Removed,
    /// Was added or changed in the last step.
    New,
}

/// A unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) name: String,
    /// Position from 0 to 1 in both directions, from the top left.
    pub(crate) at: Point,
    pub(crate) emphasis: Emphasis,
}

/// A coupling between two units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Link {
    /// Indices into the nodes.
    pub(crate) ends: (usize, usize),
    pub(crate) label: String,
    /// Position of the label on the line, from the first end (0) to the second (1).
    pub(crate) label_at: f64,
    pub(crate) emphasis: Emphasis,
}

/// A network.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Network {
    pub(crate) title: String,
    /// The line below the drawing.
    pub(crate) caption: String,
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
}

const RADIUS: f64 = 12.0;
const TITLE: Type = Type::new(13.0, Anchor::Left).bold();
const CAPTION: Type = Type::new(11.5, Anchor::Left);
const NAME: Type = Type::new(12.0, Anchor::Middle);
const WEIGHT: Type = Type::new(11.0, Anchor::Middle);
const HEAD: f64 = 24.0;
const FOOT: f64 = 24.0;
const SIDE: f64 = 30.0;

impl Network {
    pub(crate) fn boxed(self) -> Box<dyn Part> {
        Box::new(self)
    }
}

impl Emphasis {
    fn colour(self) -> plotters::style::RGBColor {
        match self {
            Self::Plain => INK,
            Self::Removed => PALETTE[1],
            Self::New => PALETTE[0],
        }
    }
}

impl Part for Network {
    fn draw(&self, canvas: &Canvas<'_>, place: Rect) {
        canvas.text(&self.title, (place.left, place.top + 8.0), TITLE);
        canvas.text(&self.caption, (place.left, place.bottom() - 6.0), CAPTION);
        let (width, height) = (place.width - 2.0 * SIDE, place.height - HEAD - FOOT - 2.0 * RADIUS);
        let at = |node: &Node| {
            (place.left + SIDE + width * node.at.0, place.top + HEAD + RADIUS + height * node.at.1)
        };
        for link in &self.links {
            let (a, b) = (at(&self.nodes[link.ends.0]), at(&self.nodes[link.ends.1]));
            let width = if link.emphasis == Emphasis::Plain { 1.4 } else { 2.2 };
            canvas.line(&[a, b], width, Stroke::Solid, link.emphasis.colour());
        }
        for link in &self.links {
            let (a, b) = (at(&self.nodes[link.ends.0]), at(&self.nodes[link.ends.1]));
            let along = |from: f64, to: f64| from + link.label_at * (to - from);
            let middle = (along(a.0, b.0), along(a.1, b.1));
            let width = WEIGHT.width_of(&link.label) + 2.0;
            let paper = Rect { left: middle.0 - 0.5 * width, top: middle.1 - 7.0, width, height: 14.0 };
            canvas.rectangle(paper, plotters::style::WHITE);
            canvas.text(&link.label, middle, WEIGHT.coloured(link.emphasis.colour()));
        }
        for node in &self.nodes {
            canvas.disc(at(node), RADIUS, plotters::style::WHITE);
            canvas.ring(at(node), RADIUS, 1.6, node.emphasis.colour());
            canvas.text(&node.name, at(node), NAME.coloured(node.emphasis.colour()));
        }
    }
}
