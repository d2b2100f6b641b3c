//! Random regular graphs: every unit has the same number of neighbours.

use hashbrown::HashSet;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::{Error, Graph, Result};

/// Switches that are tried for each edge, and at least; an edge is changed by twice as many.
const SWITCHES: usize = 16;
const LEAST_SWITCHES: usize = 256;

/// A random graph in which every unit has `degree` neighbours.
///
/// A regular arrangement of the units in random order is changed by switches: two edges a–b and c–d
/// become a–d and c–b unless a pair would be joined twice or a unit with itself. The chain of switches
/// reaches every such graph and is symmetric, so that its draws tend to the uniform distribution
/// (McKay 1981; sixteen switches an edge, after Milo et al. 2003).
///
/// # Errors
/// A degree that is not below the number of units, or an odd product of the two.
pub(super) fn regular(units: usize, degree: usize, random: &mut impl Rng) -> Result<Graph> {
    if units > Graph::MAX {
        let problem = format!("found {units}, expected at most {}", Graph::MAX);
        return Err(Error::invalid("units", problem));
    }
    if degree > 0 && degree >= units {
        let problem = format!("found {degree}, expected less than the number of units, {units}");
        return Err(Error::invalid("degree", problem));
    }
    if units % 2 == 1 && degree % 2 == 1 {
        let problem = format!(
            "found {degree} with {units} units, expected one of them to be even: every edge has two ends"
        );
        return Err(Error::invalid("degree", problem));
    }
    // Of a dense graph, the pairs that are not joined are fewer.
    if 2 * degree >= units && degree > 0 {
        let absent = regular(units, units - 1 - degree, random)?;
        let pairs = (0..units).flat_map(|a| (a + 1..units).map(move |b| (a, b)));
        return Graph::from_sorted(
            units,
            pairs.filter(|&(a, b)| absent.edge_between(a, b).is_none()).collect(),
        );
    }
    let mut edges = arranged(units, degree, random);
    switch(&mut edges, random);
    Graph::new(units, edges.into_iter().map(|[a, b]| (a as usize, b as usize)))
}

/// Units on a circle in random order, each joined with the nearest on both sides; of an odd degree,
/// also with the one opposite.
fn arranged(units: usize, degree: usize, random: &mut impl Rng) -> Vec<[u32; 2]> {
    let mut circle: Vec<u32> = (0..units as u32).collect();
    circle.shuffle(random);
    let mut edges = Vec::with_capacity(units * degree / 2);
    for k in 0..units {
        edges.extend((1..=degree / 2).map(|step| [circle[k], circle[(k + step) % units]]));
        if degree % 2 == 1 && k < units / 2 {
            edges.push([circle[k], circle[k + units / 2]]);
        }
    }
    edges
}

fn switch(edges: &mut [[u32; 2]], random: &mut impl Rng) {
    let key = |[a, b]: [u32; 2]| (u64::from(a.min(b)) << 32) | u64::from(a.max(b));
    let mut joined: HashSet<u64> = edges.iter().map(|&edge| key(edge)).collect();
    if edges.len() < 2 {
        return;
    }
    for _ in 0..(SWITCHES * edges.len()).max(LEAST_SWITCHES) {
        let (one, two) = (random.random_range(0..edges.len()), random.random_range(0..edges.len()));
        let ([a, b], mut other) = (edges[one], edges[two]);
        if random.random() {
            other.reverse();
        }
        let [c, d] = other;
        let (first, second) = ([a, d], [c, b]);
        if one == two || a == d || c == b || joined.contains(&key(first)) || joined.contains(&key(second)) {
            continue;
        }
        joined.remove(&key(edges[one]));
        joined.remove(&key(edges[two]));
        joined.insert(key(first));
        joined.insert(key(second));
        (edges[one], edges[two]) = (first, second);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::numeric::streams::{Purpose, stream};

    fn drawn(units: usize, degree: usize, seed: u64) -> Result<Graph> {
        regular(units, degree, &mut stream(seed, Purpose::Structure, 0))
    }

    #[test]
    fn every_unit_has_the_degree() {
        for units in 0..14 {
            for degree in 0..units.max(1) {
                let graph = drawn(units, degree, 3);
                if units % 2 == 1 && degree % 2 == 1 {
                    assert!(graph.is_err());
                    continue;
                }
                // A graph has neither loops nor double edges: its construction refuses them.
                let graph = graph.unwrap();
                assert!((0..units).all(|unit| graph.degree(unit) == degree), "{units} {degree}");
            }
        }
        let large = drawn(20_000, 3, 1).unwrap();
        assert!((0..20_000).all(|unit| large.degree(unit) == 3));
        assert_eq!(large, drawn(20_000, 3, 1).unwrap());
        assert_ne!(large, drawn(20_000, 3, 2).unwrap());
        // The expected number of triangles of a random cubic graph is 4/3 (Bollobás 1980).
        let triangles = large.edges().iter().filter(|&&(a, b)| {
            large.neighbours(a).any(|(other, _)| other != b && large.edge_between(other, b).is_some())
        });
        assert!(triangles.count() <= 3 * 12);
    }

    /// Each of the 70 cubic graphs of six labelled units (10 of one kind, 60 of the other) is as
    /// frequent, and so is each of the 70 ways to cover six units by cycles.
    #[test]
    fn graphs_are_equally_frequent() {
        for degree in [2, 3] {
            let mut counts: BTreeMap<Vec<(usize, usize)>, u32> = BTreeMap::new();
            for seed in 0..7000 {
                *counts.entry(drawn(6, degree, seed).unwrap().edges().to_vec()).or_default() += 1;
            }
            assert_eq!(counts.len(), 70);
            let chi: f64 = counts.values().map(|&count| (f64::from(count) - 100.0).powi(2) / 100.0).sum();
            // 69 degrees of freedom: mean 69, standard deviation 11.7.
            assert!(chi < 69.0 + 4.0 * 11.8, "degree {degree}: {chi}");
        }
    }

    #[test]
    fn impossible_degrees_are_refused() {
        let message = |units, degree| drawn(units, degree, 0).unwrap_err().to_string();
        assert_eq!(message(5, 5), "degree: found 5, expected less than the number of units, 5");
        assert_eq!(
            message(5, 3),
            "degree: found 3 with 5 units, expected one of them to be even: every edge has two ends"
        );
    }
}
