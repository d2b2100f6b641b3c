//! Networks as GraphML, for Gephi, networkx, igraph, Cytoscape and yEd.

use std::fmt::Write as _;

use isinglass::Result;
use isinglass::network::Centrality;

use super::{Net, Places};

/// Writes the couplings of at least some size as GraphML.
///
/// Units have `label`, `role`, `bias`, `strength`, `expected_influence`, `closeness`, `betweenness`,
/// and their place as `x` and `y`; couplings have `weight` with its sign, `size` without, and
/// `sign`. The graph of a kinetic model is directed, and `kind` tells couplings at the `same-time`
/// from those with the `past`. Programs that lay out by weight mostly need sizes.
///
/// # Errors
/// A unit without a place.
pub fn graphml(net: &Net, places: &Places, least: f64) -> Result<String> {
    let machine = &net.machine;
    let at = places.for_machine(machine)?;
    let found = Centrality::of(machine);
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n",
    );
    let texts = ["label", "role", "group"];
    let numbers = ["bias", "strength", "expected_influence", "closeness", "betweenness", "x", "y"];
    let keys = texts.map(|name| ("node", name, "string"));
    let keys = keys.into_iter().chain(numbers.map(|name| ("node", name, "double"))).chain([
        ("edge", "weight", "double"),
        ("edge", "size", "double"),
        ("edge", "sign", "string"),
        ("edge", "kind", "string"),
    ]);
    // Writing to a string cannot fail.
    for (of, name, kind) in keys {
        let _ =
            writeln!(out, "  <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
    }
    let direction = if net.is_directed() { "directed" } else { "undirected" };
    let _ = writeln!(out, "  <graph edgedefault=\"{direction}\">");
    let data = |name: &str, value: &str| format!("<data key=\"{name}\">{value}</data>");
    for unit in 0..machine.unit_count() {
        let name = escaped(machine.name(unit));
        let _ = write!(out, "    <node id=\"{name}\">{}", data("label", &name));
        out.push_str(&data("role", machine.roles()[unit].word()));
        if let Some(group) = places.group(machine.name(unit)) {
            out.push_str(&data("group", &escaped(&places.groups[group])));
        }
        let values = [
            machine.biases()[unit],
            found.strength[unit],
            found.expected_influence[unit],
            found.closeness[unit],
            found.betweenness[unit],
            // Programs for graphs count y upwards, and space units by tens.
            100.0 * at[unit][0],
            -100.0 * at[unit][1],
        ];
        for (name, value) in numbers.iter().zip(values) {
            out.push_str(&data(name, &value.to_string()));
        }
        out.push_str("</node>\n");
    }
    let links = net.links(least).into_iter().map(|link| (link, "same-time"));
    let arrows = net.arrows(least).into_iter().map(|arrow| (arrow, "past"));
    for (k, ((a, b, weight), kind)) in links.chain(arrows).enumerate() {
        let ends = [a, b].map(|unit| escaped(machine.name(unit)));
        let sign = if weight > 0.0 { "positive" } else { "negative" };
        let _ = writeln!(
            out,
            "    <edge id=\"e{k}\" source=\"{}\" target=\"{}\">{}{}{}{}</edge>",
            ends[0],
            ends[1],
            data("weight", &weight.to_string()),
            data("size", &weight.abs().to_string()),
            data("sign", sign),
            data("kind", kind)
        );
    }
    out.push_str("  </graph>\n</graphml>\n");
    Ok(out)
}

/// A text as the content of an element or an attribute; characters that XML does not have become
/// U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
