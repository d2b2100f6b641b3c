//! Layout of a network: distances in the drawing follow path lengths along strong couplings.

use isinglass::network::distances as path_lengths;
use isinglass::numeric::streams::{Purpose, stream};
use rand::RngExt;

/// Strongest couplings per unit that shape the layout, in addition to a spanning forest.
const EDGES_PER_UNIT: usize = 2;

/// Rounds over all pairs of units.
const ROUNDS: usize = 40;

/// The step of the last round for the closest pairs, as a share of their error.
const LAST_STEP: f64 = 0.05;

/// Returns positions of the units: centred, neighbours about 1 apart, wider than high. A seed gives
/// the same positions on every computer.
///
/// The layout uses a maximum spanning forest and the strongest couplings, two per unit. A coupling
/// has length `2 / (1 + strength)`, with strengths relative to the largest. Positions minimise
/// `Σ (|x_a − x_b| − d_ab)² / d_ab²` over all pairs, where d is the shortest path length, by
/// stochastic gradient descent (Zheng, Pawar and Goodman 2019, "Graph drawing by stochastic
/// gradient descent"). Connected components are as far apart as they are wide.
///
/// *Complexity*: `O(n² + n·edges·log n)`, *memory*: 24 bytes per pair of units.
pub(crate) fn places(units: usize, edges: &[(usize, usize, f64)], seed: u64) -> Vec<[f64; 2]> {
    let mut random = stream(seed, Purpose::Drawing, 0);
    let side = (units as f64).sqrt();
    let mut places: Vec<[f64; 2]> =
        (0..units).map(|_| [side * random.random::<f64>(), side * random.random::<f64>()]).collect();
    let distances = distances(units, &skeleton(units, edges));
    let mut pairs: Vec<(u32, u32, f64)> = Vec::with_capacity(units * units.saturating_sub(1) / 2);
    for a in 0..units {
        for b in a + 1..units {
            pairs.push((a as u32, b as u32, distances[a * units + b]));
        }
    }
    let longest = pairs.iter().map(|pair| pair.2).fold(0.0, f64::max);
    let shortest = pairs.iter().map(|pair| pair.2).fold(f64::INFINITY, f64::min);
    let (first, last) = (longest * longest, LAST_STEP * shortest * shortest);
    for round in 0..ROUNDS {
        let rate = first * (last / first).powf(round as f64 / (ROUNDS - 1) as f64);
        for k in (1..pairs.len()).rev() {
            pairs.swap(k, random.random_range(0..=k));
        }
        for &(a, b, wanted) in &pairs {
            let (a, b) = (a as usize, b as usize);
            let step = (rate / (wanted * wanted)).min(1.0);
            let [x, y] = [places[a][0] - places[b][0], places[a][1] - places[b][1]];
            // Two units at one point are separated along the first axis.
            let length = x.hypot(y).max(1e-9);
            let move_by = 0.5 * step * (wanted - length) / length;
            let (dx, dy) = (move_by * if x == 0.0 && y == 0.0 { 1e-9 } else { x }, move_by * y);
            places[a][0] += dx;
            places[a][1] += dy;
            places[b][0] -= dx;
            places[b][1] -= dy;
        }
    }
    align(&mut places);
    places
}

/// Returns the couplings that shape the layout, with their lengths: those of a maximum spanning
/// forest, and the strongest.
fn skeleton(units: usize, edges: &[(usize, usize, f64)]) -> Vec<(usize, usize, f64)> {
    let mut by_strength: Vec<&(usize, usize, f64)> = edges.iter().filter(|edge| edge.2 != 0.0).collect();
    by_strength.sort_by(|x, y| y.2.abs().total_cmp(&x.2.abs()));
    let strongest = by_strength.first().map_or(1.0, |edge| edge.2.abs());
    let mut parents: Vec<usize> = (0..units).collect();
    let mut kept = Vec::new();
    for (rank, &&(a, b, weight)) in by_strength.iter().enumerate() {
        let (root_a, root_b) = (root(&mut parents, a), root(&mut parents, b));
        parents[root_a] = root_b;
        if root_a != root_b || rank < EDGES_PER_UNIT * units {
            kept.push((a, b, 2.0 / (1.0 + weight.abs() / strongest)));
        }
    }
    kept
}

/// Returns the root of a unit's tree, with path halving.
fn root(parents: &mut [usize], mut unit: usize) -> usize {
    while parents[unit] != unit {
        parents[unit] = parents[parents[unit]];
        unit = parents[unit];
    }
    unit
}

/// Returns the shortest path lengths between all units, row by row; units that no path joins are as
/// far apart as their components are wide.
fn distances(units: usize, edges: &[(usize, usize, f64)]) -> Vec<f64> {
    let mut distances = path_lengths(units, edges);
    // Between components: half the width of each, plus 1.
    let radius = |unit: usize| {
        let row = &distances[unit * units..(unit + 1) * units];
        0.5 * row.iter().filter(|length| length.is_finite()).copied().fold(0.0, f64::max)
    };
    let radii: Vec<f64> = (0..units).map(radius).collect();
    for a in 0..units {
        for b in 0..units {
            let length = &mut distances[a * units + b];
            if length.is_infinite() {
                *length = radii[a] + radii[b] + 1.0;
            }
        }
    }
    distances
}

/// Centres the positions and rotates the widest direction onto the first axis.
fn align(places: &mut [[f64; 2]]) {
    let count = places.len().max(1) as f64;
    let middle = [0, 1].map(|k| places.iter().map(|place| place[k]).sum::<f64>() / count);
    for place in &mut *places {
        *place = [place[0] - middle[0], place[1] - middle[1]];
    }
    let moment = |i: usize, j: usize| places.iter().map(|place| place[i] * place[j]).sum::<f64>();
    let (xx, xy, yy) = (moment(0, 0), moment(0, 1), moment(1, 1));
    // The larger eigenvalue of the moments, and its direction.
    let half = 0.5 * (xx - yy);
    let size = half.hypot(xy);
    let (x, y) = if half >= 0.0 { (half + size, xy) } else { (xy, size - half) };
    let length = x.hypot(y);
    if length > 0.0 {
        let (cos, sin) = (x / length, y / length);
        for place in places {
            *place = [cos * place[0] + sin * place[1], cos * place[1] - sin * place[0]];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(places: &[[f64; 2]], a: usize, b: usize) -> f64 {
        (places[a][0] - places[b][0]).hypot(places[a][1] - places[b][1])
    }

    #[test]
    fn the_same_seed_gives_the_same_places() {
        let edges: Vec<_> = (0..40).map(|k| (k, (k * 7 + 1) % 41, 0.1 * k as f64 - 1.0)).collect();
        assert_eq!(places(41, &edges, 3), places(41, &edges, 3));
        assert_ne!(places(41, &edges, 3), places(41, &edges, 4));
    }

    #[test]
    fn a_chain_is_drawn_as_a_line() {
        let edges: Vec<_> = (0..29).map(|k| (k, k + 1, if k % 2 == 0 { 0.5 } else { -0.5 })).collect();
        let places = places(30, &edges, 0);
        // All couplings are equally strong, so each is 1 long, and the ends are 29 apart.
        for k in 0..29 {
            let step = between(&places, k, k + 1);
            assert!((0.8..1.2).contains(&step), "{step} from {k}");
        }
        assert!((27.0..30.0).contains(&between(&places, 0, 29)), "{}", between(&places, 0, 29));
        assert!(places.iter().all(|place| place[1].abs() < 1.5), "the chain is along the first axis");
    }

    #[test]
    fn strong_couplings_are_short_and_components_are_apart() {
        // Two triangles, one with a weak side, and a unit alone.
        let edges = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 0.05), (3, 4, -1.0), (4, 5, 1.0), (3, 5, 1.0)];
        let places = places(7, &edges, 0);
        assert!(between(&places, 0, 1) < between(&places, 0, 2));
        for a in 0..3 {
            for b in 3..7 {
                assert!(between(&places, a, b) > 1.0, "{a} and {b}");
            }
        }
        assert!(places.iter().flatten().all(|x| x.is_finite()));
    }

    #[test]
    fn paths_are_the_shortest() {
        let edges = [(0, 1, 1.0), (1, 2, 0.5), (0, 2, 2.0), (2, 3, 1.0)];
        let found = distances(5, &edges);
        assert_eq!(&found[..5], [0.0, 1.0, 1.5, 2.5, 1.25 + 1.0]);
    }

    #[test]
    fn machines_without_units_or_couplings_have_a_layout() {
        assert_eq!(places(0, &[], 0).len(), 0);
        assert_eq!(places(1, &[], 0), [[0.0, 0.0]]);
        assert!(places(3, &[(0, 1, 0.0)], 0).iter().flatten().all(|x| x.is_finite()));
    }
}
