//! The figure of a scan: each quantity over temperature, and the overlap of two replicas.

use isinglass::engine::{Curves, Overlap, Scan};

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::{Part, Sheet};

/// The panels: the place of a quantity in [`Curves::NAMES`], its title, and its symbol.
const PANELS: [(usize, &str, &str); 6] = [
    (1, "energy", "U"),
    (2, "heat capacity", "C"),
    (3, "magnetisation", "M"),
    (4, "susceptibility", "χ"),
    (5, "entropy", "S"),
    (0, "log Z", "log Z"),
];

const HEIGHT: f64 = 200.0;
const WIDTH: f64 = 880.0;

/// Up to so many temperatures, each is marked.
const MARKED: usize = 60;

/// Distributions of the overlap that are drawn.
const DISTRIBUTIONS: usize = 5;

/// The quantities of a scan as small multiples, totals of all units, with standard errors; as SVG.
pub fn figure(title: &str, scan: &Scan) -> String {
    const { assert!(PANELS.len() == Curves::NAMES.len()) };
    let temperatures = &scan.temperatures;
    let panel = |&(place, name, symbol): &(usize, &str, &str)| {
        let values = scan.values.all()[place];
        let points = temperatures.iter().copied().zip(values.iter().copied()).collect();
        let mut series = Series::line("", PALETTE[0], points);
        // Errors that are unknown are not drawn.
        if let Some(errors) = scan.errors.as_ref().filter(|_| scan.diagnostics.converged) {
            series = series.with_errors(errors.all()[place].to_vec());
        }
        if temperatures.len() <= MARKED {
            series = series.marked(Marker::Disc);
        }
        Chart::new(Axis::new("T"), Axis::new(symbol)).titled(name).with(series.thin()).boxed()
    };
    let parts: Vec<Box<dyn Part>> = PANELS.iter().map(panel).collect();
    let mut parts = parts.into_iter();
    let mut sheet = Sheet::new(title).wide(WIDTH);
    for _ in 0..PANELS.len() / 2 {
        sheet = sheet.row(HEIGHT, parts.by_ref().take(2));
    }
    match &scan.overlaps {
        Some(overlaps) => sheet.row(HEIGHT, overlap(overlaps, scan.diagnostics.converged)).to_svg(),
        None => sheet.to_svg(),
    }
}

/// The distribution at a few temperatures, and the Binder ratio over all.
fn overlap(overlaps: &[Overlap], with_errors: bool) -> [Box<dyn Part>; 2] {
    let shown = overlaps.len().min(DISTRIBUTIONS);
    let mut distributions =
        Chart::new(Axis::new("q"), Axis::new("P(q)").including(0.0)).titled("overlap of two replicas");
    for k in 0..shown {
        let overlap = &overlaps[k * (overlaps.len() - 1) / (shown - 1).max(1)];
        let points = density(overlap);
        let name = format!("P(q) at T = {:.3}", overlap.temperature);
        distributions = distributions.with(Series::line(name, PALETTE[k % PALETTE.len()], points).thin());
    }
    let points = overlaps.iter().map(|overlap| (overlap.temperature, overlap.binder)).collect();
    let errors = overlaps.iter().filter(|_| with_errors).map(|overlap| overlap.binder_error).collect();
    let binder = Series::line("", PALETTE[0], points).with_errors(errors).thin();
    let binder = if overlaps.len() <= MARKED { binder.marked(Marker::Disc) } else { binder };
    let binder =
        Chart::new(Axis::new("T"), Axis::new("½ (3 − ⟨q⁴⟩/⟨q²⟩²)")).titled("Binder ratio").with(binder);
    [distributions.boxed(), binder.boxed()]
}

/// The probabilities over the widths of their bins, which are equal but for those at the ends.
fn density(overlap: &Overlap) -> Vec<(f64, f64)> {
    let (q, p) = (&overlap.q, &overlap.p);
    let [first, second, .., _] = q[..] else { return q.iter().copied().zip(p.iter().copied()).collect() };
    let middle = q.len() / 2;
    let width = q[middle] - q[middle - 1];
    let at_end = 2.0 * (second - first) - width;
    let width_of = |k: usize| if k == 0 || k + 1 == q.len() { at_end } else { width };
    (0..q.len()).map(|k| (q[k], p[k] / width_of(k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use isinglass::engine::{ScanRequest, Scanner};
    use isinglass::{Enumerate, Evidence, topology};

    #[test]
    fn every_quantity_has_a_panel() {
        let glass = topology::sherrington_kirkpatrick(8, 1.0, 0).expect("a machine");
        let request = ScanRequest::new(&[0.5, 1.0, 2.0]).expect("temperatures").overlap(true);
        let scan = Enumerate::default().scan(&glass, &Evidence::none(8), &request).expect("a scan");
        let svg = figure("glass", &scan);
        for name in
            ["energy", "heat capacity", "susceptibility", "entropy", "log Z", "Binder ratio", "T = 0.5"]
        {
            assert!(svg.contains(name), "{name}");
        }
        for overlap in scan.overlaps.iter().flatten() {
            let area: f64 = density(overlap).iter().map(|(_, p)| p * 2.0 / 8.0).sum();
            assert!((area - 1.0).abs() < 1e-12, "one bin for each of nine values: {area}");
        }
        let places: Vec<usize> = PANELS.iter().map(|panel| panel.0).collect();
        assert!((0..PANELS.len()).all(|place| places.contains(&place)));
    }
}
