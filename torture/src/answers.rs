//! What is called exact, and what is called a bound, against a plain sum over all states.

use anyhow::{Context as _, ensure};
use isinglass::engine::{Guarantee, Pairs};
use isinglass::{
    Decimate, Eliminate, Engine, Enumerate, Evidence, LogDet, Machine, MeanField, Spin, Structured, Trw, Unit,
};
use rand::seq::IndexedRandom as _;
use rand::{Rng, RngExt as _};

use crate::trial::Trial;

/// log Z, means and pair moments of the edges, by a loop over all states.
struct Plain {
    log_z: f64,
    means: Vec<f64>,
    pairs: Vec<f64>,
}

pub(crate) fn exact(trial: &mut Trial) -> anyhow::Result<()> {
    while trial.goes_on() {
        let (machine, evidence) = random_machine(&mut trial.random)?;
        let plain = Plain::of(&machine, &evidence);
        let engines: [&dyn Engine; 3] = [&Enumerate::default(), &Decimate::default(), &Eliminate::default()];
        for engine in engines {
            let found = match engine.expectations(&machine, &evidence, Pairs::Edges) {
                // Decimation refuses what is not decimatable.
                Err(isinglass::Error::CannotDo { .. }) => continue,
                found => found.with_context(|| format!("{}: {machine:?}", engine.name()))?,
            };
            if found.guarantee != Guarantee::Exact {
                trial.count("answers that exact engines called approximate");
                continue;
            }
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            let log_z = found.log_z.context("an exact engine has log Z")?;
            let agrees = close(log_z, plain.log_z)
                && found.means.iter().zip(&plain.means).all(|(a, b)| close(*a, *b))
                && found.correlations.iter(machine.graph()).zip(&plain.pairs).all(|((_, a), b)| close(a, *b));
            ensure!(
                agrees,
                "{}: log Z {log_z}, {} by a plain sum: {machine:?} {evidence:?}",
                engine.name(),
                plain.log_z
            );
            trial.count("answers called exact that agree with a plain sum to 1e-9");
        }
    }
    Ok(())
}

pub(crate) fn bounds(trial: &mut Trial) -> anyhow::Result<()> {
    while trial.goes_on() {
        let (machine, evidence) = random_machine(&mut trial.random)?;
        let plain = Plain::of(&machine, &evidence);
        let engines: [&dyn Engine; 4] =
            [&MeanField::default(), &Structured::default(), &Trw::default(), &LogDet::default()];
        for engine in engines {
            let found = engine.expectations(&machine, &evidence, Pairs::None);
            let found = found.with_context(|| format!("{}: {machine:?}", engine.name()))?;
            let log_z = found.log_z.context("a bound has log Z")?;
            let slack = 1e-9 * (1.0 + plain.log_z.abs());
            let (holds, what) = match found.guarantee {
                Guarantee::LowerBound => (log_z <= plain.log_z + slack, "lower bounds that hold"),
                Guarantee::UpperBound => (log_z >= plain.log_z - slack, "upper bounds that hold"),
                Guarantee::Exact => ((log_z - plain.log_z).abs() <= slack, "bounds that are exact, and are"),
                _ => (true, "answers without a guarantee"),
            };
            ensure!(
                holds,
                "{}: {} {log_z}, log Z is {}: {machine:?} {evidence:?}",
                engine.name(),
                found.guarantee,
                plain.log_z
            );
            trial.count(what);
        }
    }
    Ok(())
}

/// A machine of up to eleven units on a random graph, weak or strong, with some units clamped.
fn random_machine(random: &mut impl Rng) -> anyhow::Result<(Machine, Evidence)> {
    let n = random.random_range(1..12usize);
    let scale = *[0.1, 0.5, 1.0, 3.0, 20.0].choose(random).expect("scales");
    let density = random.random_range(0.0..1.0);
    let mut number = |most: f64| most * random.random_range(-1.0..1.0f64);
    let units: Vec<Unit> = (0..n).map(|k| Unit::new(format!("u{k}"), number(scale))).collect();
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let mut edges = Vec::new();
    for (a, b) in pairs {
        if random.random_range(0.0..1.0) < density {
            edges.push((a, b, scale * random.random_range(-1.0..1.0)));
        }
    }
    let machine =
        Machine::new(units, edges)?.with_temperature(*[0.5, 1.0, 2.0].choose(random).expect("some"))?;
    let mut evidence = Evidence::none(n);
    for unit in 0..n {
        if random.random_range(0..6) == 0 {
            evidence.clamp(unit, if random.random() { Spin::Up } else { Spin::Down });
        }
    }
    Ok((machine, evidence))
}

impl Plain {
    fn of(machine: &Machine, evidence: &Evidence) -> Self {
        let n = machine.unit_count();
        let edges = machine.graph().edges();
        let mut states: Vec<(f64, Vec<f64>)> = Vec::new();
        for state in 0..1usize << n {
            let spins: Vec<f64> = (0..n).map(|k| if state >> k & 1 == 1 { 1.0 } else { -1.0 }).collect();
            if (0..n).any(|k| evidence.get(k).is_some_and(|spin| f64::from(spin.value()) != spins[k])) {
                continue;
            }
            let pairs: f64 =
                edges.iter().zip(machine.weights()).map(|(&(a, b), w)| w * spins[a] * spins[b]).sum();
            let singles: f64 = machine.biases().iter().zip(&spins).map(|(h, s)| h * s).sum();
            states.push(((pairs + singles) / machine.temperature() + machine.offset(), spins));
        }
        let most = states.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = states.iter().map(|(log, _)| (log - most).exp()).sum();
        let mean = |value: &dyn Fn(&[f64]) -> f64| {
            states.iter().map(|(log, spins)| (log - most).exp() * value(spins)).sum::<f64>() / total
        };
        Self {
            log_z: most + total.ln(),
            means: (0..n).map(|k| mean(&|spins| spins[k])).collect(),
            pairs: edges.iter().map(|&(a, b)| mean(&|spins| spins[a] * spins[b])).collect(),
        }
    }
}
