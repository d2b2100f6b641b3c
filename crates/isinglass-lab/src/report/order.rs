//! An order of units that puts those with similar couplings together, by average linkage.

/// A row of the coupling matrix.
struct Profile {
    /// Units and weights, the unit itself included.
    places: Vec<(usize, f64)>,
    norm: f64,
}

/// Orders units group by group, similar couplings together within each group.
///
/// The distance of two units is `1 − |cos|` of the angle between their rows of the coupling matrix,
/// with a unit's strongest coupling on the diagonal, so that coupled units are close, whatever the
/// sign. Clusters are merged by average linkage (Sokal and Michener 1958) along chains of nearest
/// neighbours (Murtagh 1983, "A survey of recent advances in hierarchical clustering algorithms"),
/// which gives the same tree as merging the nearest two each time. Of the four ways to concatenate
/// two clusters, the one with the closest ends is used.
///
/// *Complexity*: `O(n² + n·edges)`; *memory*: 48 bytes per pair of units.
pub(crate) fn similarity_order(
    units: usize,
    edges: &[(usize, usize, f64)],
    groups: &[Vec<usize>],
) -> Vec<usize> {
    let distances = distances(units, edges);
    let of_group = |group: &Vec<usize>| {
        let row = |&a: &usize| group.iter().map(move |&b| (a, b));
        let own: Vec<f64> = group.iter().flat_map(row).map(|(a, b)| distances[a * units + b]).collect();
        order_of(group.len(), &own).into_iter().map(|k| group[k]).collect::<Vec<usize>>()
    };
    groups.iter().flat_map(of_group).collect()
}

/// Returns an order from a matrix of distances, row by row.
fn order_of(units: usize, distances: &[f64]) -> Vec<usize> {
    let mut clusters: Vec<Vec<usize>> = (0..units).map(|unit| vec![unit]).collect();
    average_linkage(units, distances, |into, from| {
        let right = std::mem::take(&mut clusters[from]);
        let left = std::mem::take(&mut clusters[into]);
        clusters[into] = side_by_side(left, right, |a, b| distances[a * units + b]);
    });
    // All are merged into the first; without units the order is empty.
    clusters.into_iter().next().unwrap_or_default()
}

/// Returns `1 − |cos|` between all rows, row by row.
fn distances(units: usize, edges: &[(usize, usize, f64)]) -> Vec<f64> {
    let mut strongest = vec![0f64; units];
    for &(a, b, weight) in edges {
        for unit in [a, b] {
            strongest[unit] = strongest[unit].max(weight.abs());
        }
    }
    let mut profiles: Vec<Profile> = strongest
        .iter()
        .enumerate()
        .map(|(unit, &own)| Profile { places: vec![(unit, own)], norm: 0.0 })
        .collect();
    for &(a, b, weight) in edges {
        profiles[a].places.push((b, weight));
        profiles[b].places.push((a, weight));
    }
    for (profile, &own) in profiles.iter_mut().zip(&strongest) {
        // Scaled by the strongest coupling, so that squares of huge numbers stay finite.
        let scale = if own > 0.0 { own } else { 1.0 };
        for (_, weight) in &mut profile.places {
            *weight /= scale;
        }
        profile.norm = profile.places.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    }
    let mut distances = vec![0.0; units * units];
    let mut row = vec![0.0; units];
    for a in 0..units {
        for &(other, weight) in &profiles[a].places {
            row[other] = weight;
        }
        for b in a + 1..units {
            let dot: f64 = profiles[b].places.iter().map(|&(other, weight)| row[other] * weight).sum();
            let size = profiles[a].norm * profiles[b].norm;
            let cosine = if size > 0.0 { (dot / size).abs().min(1.0) } else { 0.0 };
            let distance = 1.0 - cosine;
            distances[a * units + b] = distance;
            distances[b * units + a] = distance;
        }
        for &(other, _) in &profiles[a].places {
            row[other] = 0.0;
        }
    }
    distances
}

/// Merges clusters until one is left. Calls `join(into, from)` at each merge; `into` is the smaller
/// number.
fn average_linkage(units: usize, distances: &[f64], mut join: impl FnMut(usize, usize)) {
    let mut between = distances.to_vec();
    let mut sizes = vec![1.0; units];
    let mut alive: Vec<usize> = (0..units).collect();
    let mut chain: Vec<usize> = Vec::new();
    while alive.len() > 1 {
        let tip = match chain.last() {
            Some(&tip) => tip,
            None => {
                chain.push(alive[0]);
                alive[0]
            }
        };
        let before = chain.len().checked_sub(2).map(|k| chain[k]);
        // The previous cluster wins ties, so that the chain ends; otherwise the first wins.
        let mut nearest = before;
        let mut least = before.map_or(f64::INFINITY, |k| between[tip * units + k]);
        for &other in alive.iter().filter(|&&other| other != tip) {
            let distance = between[tip * units + other];
            if distance < least {
                (least, nearest) = (distance, Some(other));
            }
        }
        // At least two clusters are left, and distances are at most 1, so one is nearest.
        let Some(nearest) = nearest else { return };
        if Some(nearest) != before {
            chain.push(nearest);
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (into, from) = (tip.min(nearest), tip.max(nearest));
        let total = sizes[into] + sizes[from];
        alive.retain(|&cluster| cluster != from);
        for &other in alive.iter().filter(|&&other| other != into) {
            let mean = (sizes[into] * between[into * units + other]
                + sizes[from] * between[from * units + other])
                / total;
            between[into * units + other] = mean;
            between[other * units + into] = mean;
        }
        sizes[into] = total;
        join(into, from);
    }
}

/// Concatenates two clusters, each reversed if that brings closer ends together.
fn side_by_side(
    mut left: Vec<usize>,
    mut right: Vec<usize>,
    distance: impl Fn(usize, usize) -> f64,
) -> Vec<usize> {
    let ends = |list: &[usize]| [list[0], list[list.len() - 1]];
    let (of_left, of_right) = (ends(&left), ends(&right));
    // Without reversal first: only a closer pair of ends is worth one.
    let ways = [(1, 0), (0, 0), (1, 1), (0, 1)];
    let mut best = (f64::INFINITY, (1, 0));
    for (l, r) in ways {
        let gap = distance(of_left[l], of_right[r]);
        if gap < best.0 {
            best = (gap, (l, r));
        }
    }
    let (_, (l, r)) = best;
    if l == 0 {
        left.reverse();
    }
    if r == 1 {
        right.reverse();
    }
    left.append(&mut right);
    left
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Returns every cluster formed by the plain rule: merge the two with the smallest average
    /// distance.
    fn plain_clusters(units: usize, distances: &[f64]) -> BTreeSet<Vec<usize>> {
        let mut clusters: Vec<Vec<usize>> = (0..units).map(|unit| vec![unit]).collect();
        let mut seen = BTreeSet::new();
        while clusters.len() > 1 {
            let mut best = (f64::INFINITY, 0, 0);
            for a in 0..clusters.len() {
                for b in a + 1..clusters.len() {
                    let pairs = clusters[a].iter().flat_map(|i| clusters[b].iter().map(move |j| (i, j)));
                    let sum: f64 = pairs.map(|(i, j)| distances[i * units + j]).sum();
                    let mean = sum / (clusters[a].len() * clusters[b].len()) as f64;
                    if mean < best.0 {
                        best = (mean, a, b);
                    }
                }
            }
            let mut joined = clusters.swap_remove(best.2);
            joined.extend(&clusters[best.1]);
            joined.sort_unstable();
            seen.insert(joined.clone());
            clusters[best.1] = joined;
        }
        seen
    }

    fn machine() -> impl Strategy<Value = (usize, Vec<(usize, usize, f64)>)> {
        (1usize..14).prop_flat_map(|units| {
            let pairs = units * (units - 1) / 2;
            proptest::collection::vec((proptest::bool::weighted(0.8), -1.0..1.0f64), pairs).prop_map(
                move |drawn| {
                    let all = (0..units).flat_map(|a| (a + 1..units).map(move |b| (a, b)));
                    let edges =
                        all.zip(drawn).filter(|(_, (there, _))| *there).map(|((a, b), (_, w))| (a, b, w));
                    (units, edges.collect())
                },
            )
        })
    }

    proptest! {
        #[test]
        fn nearest_neighbour_chains_find_the_tree_of_the_plain_rule((units, edges) in machine()) {
            let distances = distances(units, &edges);
            // Ties can be broken either way; the other tests cover them.
            let mut values: Vec<u64> = (0..units).flat_map(|a| (a + 1..units).map(move |b| (a, b)))
                .map(|(a, b)| distances[a * units + b].to_bits()).collect();
            values.sort_unstable();
            prop_assume!(values.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 64));
            let mut clusters: Vec<Vec<usize>> = (0..units).map(|unit| vec![unit]).collect();
            let mut seen = BTreeSet::new();
            average_linkage(units, &distances, |into, from| {
                let right = std::mem::take(&mut clusters[from]);
                clusters[into].extend(right);
                clusters[into].sort_unstable();
                seen.insert(clusters[into].clone());
            });
            prop_assert_eq!(seen, plain_clusters(units, &distances));
        }

        #[test]
        fn the_order_is_a_permutation((units, edges) in machine()) {
            let mut order = similarity_order(units, &edges, &[(0..units).collect()]);
            order.sort_unstable();
            prop_assert_eq!(order, (0..units).collect::<Vec<_>>());
        }

        #[test]
        fn distances_are_invariant_under_flips_of_units((units, edges) in machine(), flips in any::<u16>()) {
            let sign = |unit: usize| if flips >> unit & 1 == 1 { -1.0 } else { 1.0 };
            let flipped: Vec<_> = edges.iter().map(|&(a, b, w)| (a, b, sign(a) * w * sign(b))).collect();
            let turned = distances(units, &flipped);
            for (plain, turned) in distances(units, &edges).iter().zip(turned) {
                prop_assert!((plain - turned).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn shuffled_blocks_are_recovered() {
        // Units of the same remainder are coupled strongly, others weakly.
        let strength = |a: usize, b: usize| if a % 3 == b % 3 { 1.0 } else { 0.02 };
        let edges: Vec<_> = (0..15).flat_map(|a| (a + 1..15).map(move |b| (a, b, strength(a, b)))).collect();
        let order = similarity_order(15, &edges, &[(0..15).collect()]);
        let changes = order.windows(2).filter(|pair| pair[0] % 3 != pair[1] % 3).count();
        assert_eq!(changes, 2, "{order:?}");
        let groups = [vec![14, 1, 3, 5, 0], vec![2, 4, 6, 8]];
        let order = similarity_order(15, &edges, &groups);
        let sorted = |units: &[usize]| {
            let mut units = units.to_vec();
            units.sort_unstable();
            units
        };
        assert_eq!((sorted(&order[..5]), sorted(&order[5..])), (vec![0, 1, 3, 5, 14], vec![2, 4, 6, 8]));
    }

    #[test]
    fn absent_and_huge_couplings_have_an_order() {
        let order = |units: usize, edges: &[_]| similarity_order(units, edges, &[(0..units).collect()]);
        assert!(order(0, &[]).is_empty());
        assert_eq!(order(1, &[]), [0]);
        assert_eq!(order(4, &[]).len(), 4);
        assert_eq!(order(3, &[(0, 1, 1e300), (1, 2, -1e-300)]).len(), 3);
    }
}
