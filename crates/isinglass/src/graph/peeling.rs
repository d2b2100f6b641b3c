//! Peeling: units with at most one edge are removed, layer after layer; what remains is the core.

/// Returns the core and then the peeled units, the last first; the core's size; the largest degree.
///
/// The core keeps its order and is empty in a forest. Each peeled unit has at most one neighbour
/// before it. `around` gives the neighbours of a unit with the numbers of the edges. Linear time.
pub(crate) fn peeled_last<I: Iterator<Item = (u32, usize)>>(
    units: usize,
    around: impl Fn(u32) -> I,
) -> (Vec<u32>, usize, usize) {
    let mut links: Vec<u32> = (0..units as u32).map(|k| around(k).count() as u32).collect();
    let degree = links.iter().copied().max().unwrap_or(0) as usize;
    let mut peeled: Vec<u32> = (0..units as u32).filter(|&k| links[k as usize] <= 1).collect();
    let mut next = 0;
    while next < peeled.len() {
        for (other, _) in around(peeled[next]) {
            let left = &mut links[other as usize];
            *left = left.saturating_sub(1);
            // From two to one; those with fewer are in the list already.
            if *left == 1 {
                peeled.push(other);
            }
        }
        next += 1;
    }
    let mut is_core = vec![true; units];
    for &k in &peeled {
        is_core[k as usize] = false;
    }
    let mut order: Vec<u32> = (0..units as u32).filter(|&k| is_core[k as usize]).collect();
    let core = order.len();
    order.extend(peeled.iter().rev());
    (order, core, degree)
}
