//! Data of the panels on couplings, centralities and stability.

use isinglass::Machine;
use isinglass::network::{Kept, Stability, Study, UnitMeasure};
use serde::Serialize;

use super::rounding::{Short, short};

/// The most couplings in the table of the page.
const MAX_EDGES: usize = 3000;

/// The network of the machine in numbers.
#[derive(Debug, Serialize)]
pub(super) struct StudyCard {
    /// What the intervals rest on.
    bootstrap: Option<Resamples>,
    /// Couplings that are not 0, the strongest first.
    edges: Vec<Edge>,
    /// Those of them that are not in the list.
    hidden_edges: usize,
    measures: Vec<Column>,
    /// The units, in the order of the values.
    pub(super) units: Vec<usize>,
    stability: Option<Levels>,
}

#[derive(Debug, Serialize)]
struct Resamples {
    level: f64,
    #[serde(rename = "resamples")]
    count: usize,
    unconverged: usize,
    failed: usize,
}

/// Two units, the coupling, its interval, and the shares of resamples in which it is not 0 and has
/// the same sign.
#[derive(Debug, Serialize)]
struct Edge(usize, usize, Short, Option<[Short; 4]>);

#[derive(Debug, Serialize)]
struct Column {
    name: &'static str,
    values: Vec<Short>,
    interval: Option<[Vec<Short>; 2]>,
}

#[derive(Debug, Serialize)]
struct Levels {
    subsets: usize,
    dropped: Vec<Short>,
    measures: Vec<Level>,
}

#[derive(Debug, Serialize)]
struct Level {
    name: &'static str,
    coefficient: Short,
    mean: Vec<Short>,
    low: Vec<Short>,
    high: Vec<Short>,
}

impl StudyCard {
    pub(super) fn of(machine: &Machine, study: &Study) -> Self {
        let weights = machine.weights();
        let mut edges: Vec<usize> = (0..weights.len()).filter(|&edge| weights[edge] != 0.0).collect();
        edges.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()).then(a.cmp(&b)));
        let hidden_edges = edges.len().saturating_sub(MAX_EDGES);
        edges.truncate(MAX_EDGES);
        let bootstrap = study.bootstrap.as_ref();
        let edge = |&edge: &usize| {
            let (a, b) = machine.graph().edges()[edge];
            let interval = bootstrap.map(|found| {
                let found = &found.couplings[edge];
                [found.low, found.high, found.not_zero, found.same_sign].map(Short)
            });
            Edge(a, b, Short(weights[edge]), interval)
        };
        let column = |measure: UnitMeasure| Column {
            name: measure.word(),
            values: short(study.values(measure).iter().copied()),
            interval: study.intervals(measure).map(|intervals| {
                [short(intervals.iter().map(|i| i.low)), short(intervals.iter().map(|i| i.high))]
            }),
        };
        Self {
            bootstrap: bootstrap.map(|found| Resamples {
                level: found.level(),
                count: found.resamples,
                unconverged: found.unconverged,
                failed: found.failed,
            }),
            edges: edges.iter().map(edge).collect(),
            hidden_edges,
            measures: UnitMeasure::ALL.into_iter().filter(|&m| study.has(m)).map(column).collect(),
            units: (0..machine.unit_count()).collect(),
            stability: study.stability.as_ref().map(Levels::of),
        }
    }
}

impl Levels {
    fn of(found: &Stability) -> Self {
        let level = |(k, kept): (usize, &Kept)| Level {
            name: kept.word(),
            coefficient: Short(found.coefficients[k]),
            mean: short(found.levels.iter().map(|level| level.mean[k])),
            low: short(found.levels.iter().map(|level| level.low[k])),
            high: short(found.levels.iter().map(|level| level.high[k])),
        };
        Self {
            subsets: found.subsets,
            dropped: short(found.levels.iter().map(|level| level.dropped)),
            measures: Kept::ALL.iter().enumerate().map(level).collect(),
        }
    }
}
