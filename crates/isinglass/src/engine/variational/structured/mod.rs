//! Engine `structured`: structured mean field.
//!
//! `skeleton` chooses the couplings that Q keeps; `plan` lays out what follows from that choice; `bound` computes the bound of a Q and its gradient, `climb` makes it large, `moments` reads
//! pair moments off it; `solver` brings machine and evidence to these and their results back.

mod bound;
mod climb;
mod moments;
mod plan;
mod settings;
mod skeleton;
mod solver;

pub use settings::StructuredSettings;

use self::solver::Solver;
use crate::engine::parts::{solve_in_parts, statistics_bytes};
use crate::engine::{Ask, Batch, BatchExpectations, Engine, Expectations, Group, PairMoments, Pairs};
use crate::numeric::lanes::LANES;
use crate::{Error, Evidence, Machine, Result};

/// Structured mean field: the best distribution that keeps a subgraph of treewidth up to 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Structured {
    /// The treewidth of the subgraph that is kept, 1 (a tree) to 3.
    pub width: usize,
    /// How the best Q is looked for.
    pub settings: StructuredSettings,
}

impl Default for Structured {
    fn default() -> Self {
        Self { width: 3, settings: StructuredSettings::default() }
    }
}

impl Structured {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "structured";
}

impl Engine for Structured {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        machine.check_evidence(evidence)?;
        let count = PairMoments::count(pairs, machine.graph());
        self.settings
            .budget
            .check(Self::NAME, 8 * count as u128, || format!("the moments of {count} pairs"))?;
        let free: Vec<usize> = evidence.free().collect();
        let solver = Solver::new(machine, &free, self, 1)?;
        let solved = solver.solve(evidence.cells(), pairs);
        Ok(Expectations {
            log_z: Some(solved.log_z),
            means: solved.means,
            correlations: PairMoments { pairs, values: solved.pairs },
            guarantee: solver.guarantee(),
            errors: None,
            diagnostics: solved.diagnostics,
        })
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        Error::check_length("units of the batch", batch.units(), machine.units())?;
        if ask.statistics {
            let edges = machine.graph().edges().len();
            let what = || format!("the sums of {edges} edge moments");
            self.settings.budget.check(Self::NAME, statistics_bytes(machine), what)?;
        }
        let threads = rayon::current_num_threads();
        let solvers: Vec<Solver<'_>> = batch
            .groups()
            .iter()
            .map(|group| Solver::new(machine, &group.free, self, threads))
            .collect::<Result<_>>()?;
        let pairs = if ask.statistics { Pairs::Edges } else { Pairs::None };
        let cost = |number: usize, _: &Group| LANES as f64 * solvers[number].cost();
        solve_in_parts(machine, batch, ask, cost, |pieces, part| {
            for piece in pieces {
                let solver = &solvers[piece.group];
                part.guarantee = part.guarantee.and(solver.guarantee());
                for place in piece.rows.clone() {
                    let solved = solver.solve(batch.row(place), pairs);
                    part.log_z.push(solved.log_z);
                    part.diagnostics = part.diagnostics.and(solved.diagnostics);
                    if let Some(sums) = &mut part.statistics {
                        sums.add(&solved.means, &solved.pairs, batch.weights()[place]);
                    }
                    if ask.means {
                        part.means.extend(solved.means);
                    }
                }
            }
            Ok(())
        })
    }
}
