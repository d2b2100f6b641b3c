//! Networks in the language of graphviz.

use std::fmt::Write as _;

use isinglass::Result;
use plotters::style::RGBColor;

use super::{Net, Places};
use crate::figure::PALETTE;

/// The width of the strongest coupling's line, in points.
const WIDEST: f64 = 6.0;

/// Writes the couplings of at least some size in DOT: an undirected graph, or a directed one for a
/// kinetic model, with places in inches for
/// `neato -n`, widths and colours as in the figure, and each coupling as `coupling` and `tooltip`.
///
/// # Errors
/// A unit without a place.
pub fn dot(net: &Net, places: &Places, least: f64) -> Result<String> {
    let machine = &net.machine;
    let at = places.for_machine(machine)?;
    let (links, arrows) = (net.links(least), net.arrows(least));
    let strongest = links.iter().chain(&arrows).map(|link| link.2.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let (kind, joint) = if net.is_directed() { ("digraph", "->") } else { ("graph", "--") };
    let mut out = format!(
        "{kind} isinglass {{\n  graph [overlap=false];\n  node [shape=ellipse, fontname=\"Helvetica\", fontsize=11];\n",
    );
    // Writing to a string cannot fail.
    for (unit, [x, y]) in at.iter().enumerate() {
        let _ = writeln!(
            out,
            "  {} [pos=\"{:.3},{:.3}\", bias=\"{}\"];",
            quoted(machine.name(unit)),
            72.0 * x,
            -72.0 * y,
            machine.biases()[unit]
        );
    }
    let lines = links.into_iter().map(|link| (link, if net.is_directed() { ", dir=none" } else { "" }));
    for ((a, b, weight), more) in lines.chain(arrows.into_iter().map(|arrow| (arrow, ""))) {
        let RGBColor(red, green, blue) = PALETTE[usize::from(weight < 0.0)];
        let style = if weight < 0.0 { "dashed" } else { "solid" };
        let _ = writeln!(
            out,
            "  {} {joint} {} [coupling=\"{weight}\", tooltip=\"{weight}\", penwidth={:.2}, style={style}, color=\"#{red:02x}{green:02x}{blue:02x}\"{more}];",
            quoted(machine.name(a)),
            quoted(machine.name(b)),
            (WIDEST * weight.abs() / strongest).max(0.4)
        );
    }
    out.push_str("}\n");
    Ok(out)
}

/// A name between quotation marks; a backslash before a mark would hide it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
