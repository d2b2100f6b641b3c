//! Thermodynamics: log Z with its derivatives by temperature and field, from one forward pass at
//! each temperature.

use rayon::prelude::*;

use super::Solver;
use super::digits::guarantee;
use super::generic::{Number, partition_sum};
use super::plan::Form;
use super::prepare::Given;
use crate::engine::scan::{Curves, Point, Scan, ScanRequest, Slopes};
use crate::engine::{Diagnostics, Guarantee};
use crate::{Evidence, Machine, Result};

impl Solver<'_> {
    /// The quantities at each temperature, without overlaps.
    pub(super) fn scan(self, machine: &Machine, evidence: &Evidence, request: &ScanRequest) -> Result<Scan> {
        let mut points = Vec::with_capacity(request.temperatures().len());
        let mut worst = Guarantee::Exact;
        for temperatures in request.temperatures().chunks(rayon::current_num_threads()) {
            let mut given = Vec::new();
            for &temperature in temperatures {
                let machine = machine.clone().with_temperature(temperature)?;
                self.check(&machine, evidence)?;
                let found = self.given(&machine, evidence, Form::Tables)?;
                self.check_numbers(&found.plan, size_of::<Slopes>(), 1)?;
                worst = worst.and(guarantee(&machine, found.free.iter().copied()));
                given.push((machine, found));
            }
            // As many at the same time as the budget allows: all, or one.
            let fits = given
                .iter()
                .all(|(_, found)| self.check_numbers(&found.plan, size_of::<Slopes>(), given.len()).is_ok());
            let part: Vec<Point> = if fits {
                given.par_iter().map(|(machine, found)| at(machine, found)).collect()
            } else {
                given.iter().map(|(machine, found)| at(machine, found)).collect()
            };
            points.extend(part);
        }
        Ok(Scan {
            temperatures: request.temperatures().to_vec(),
            values: Curves::new(&points),
            errors: None,
            overlaps: None,
            guarantee: worst,
            diagnostics: Diagnostics::direct(),
        })
    }
}

fn at(machine: &Machine, given: &Given) -> Point {
    let Given { evidence, plan, fields, .. } = given;
    let temperature = machine.temperature();
    let bias = |local: usize| [-1.0, 1.0].map(|s| Slopes::of_unit(fields.free[local][0], s));
    let (mut sum, factor) = partition_sum(plan, |edge| machine.weights()[edge] / temperature, bias);
    sum.log += factor;
    sum.grow(fields.shifts[0]);
    sum.add_spins(evidence.cells().iter().map(|&s| f64::from(s)).sum());
    sum.point(temperature)
}

impl Number for Slopes {
    fn one() -> Self {
        Self::default()
    }

    fn times(&mut self, other: &Self) {
        self.times(other);
    }

    fn couple(&mut self, x: f64) {
        self.grow(x);
    }

    fn shift(&mut self, x: f64) {
        self.log += x;
    }

    fn log_size(&self) -> f64 {
        self.log
    }

    fn sum(a: Self, b: Self) -> Self {
        Self::sum(a, b)
    }
}
