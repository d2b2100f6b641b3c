//! Intervals of fits to a table whose missing cells were filled several times.

use rayon::prelude::*;

use super::bootstrap::Sample;
use super::resampling::{Fits, Outcome, Rows};
use super::{Bootstrap, Bootstrapped, Fit, Interval, Learner, Measure, Progress};
use crate::{Error, Machine, Note, Result, Table};

const NAME: &str = "bootstrap";

/// The fewest resamples of a filled table: its variance needs some.
const LEAST: usize = 10;

impl Bootstrap {
    /// Computes intervals of couplings and biases from M filled versions of a table by Rubin's rules
    /// (1987, chapter 3), the variance within a version being that of resampled rows:
    ///
    /// ```text
    /// Q = mean of Q_m     W = mean of the variances over resamples     B = variance of Q_m
    /// T = W + (1 + 1/M) B         ν = (M − 1) (1 + W / ((1 + 1/M) B))²
    /// interval: Q ± t_ν √T
    /// ```
    ///
    /// Resamples are divided among the versions, at least ten for each.
    ///
    /// # Accuracy, and when it fails
    /// Intervals are symmetric around the mean over versions, which is not the fit of all versions
    /// together, though near to it. They are right if cells are missing at random and the machine that
    /// filled them holds; couplings that are 0 in many resamples are not normally distributed.
    ///
    /// # Errors
    /// Those of [`run`](Self::run); fewer than two versions.
    pub fn run_filled(
        &self,
        (learner, start): (&(dyn Learner + Sync), &Machine),
        fitted: &Machine,
        (table, versions): (&Table, &[Table]),
        measure: Measure<'_>,
        progress: &Progress<'_>,
    ) -> Result<Bootstrapped> {
        let count = versions.len();
        if count < 2 {
            return Err(Error::invalid("filled tables", format!("found {count}, expected at least two")));
        }
        self.check(fitted, &versions[0])?;
        let each = self.resamples.div_ceil(count).max(LEAST);
        let rows: Vec<Rows<'_>> =
            versions.iter().map(|version| Rows::of(NAME, version)).collect::<Result<_>>()?;
        let fits = Fits { name: NAME, learner, start, count: count * (each + 1), progress };
        // The first fit of a version is that of its own rows.
        let draw = |index: usize| {
            let (version, place) = (index / (each + 1), index % (each + 1));
            match place {
                0 => Ok(versions[version].clone()),
                _ => rows[version].draw(self.seed, (version * each + place - 1) as u64),
            }
        };
        let read = |fit: &Fit, table: &Table| Sample::of(fit, fitted, table, measure);
        let found = fits.read(&draw, &read)?;
        if found.iter().any(|outcome| matches!(outcome, Outcome::Stopped)) || found.len() < count * (each + 1)
        {
            let problem = "stopped on request before all filled tables were resampled".to_owned();
            return Err(Error::Numerical { method: NAME, problem });
        }
        let failures: Vec<&String> = found
            .iter()
            .filter_map(|outcome| if let Outcome::Failed(why) = outcome { Some(why) } else { None })
            .collect();
        let mut notes = Vec::new();
        if let Some(&first) = failures.first() {
            notes.push(Note::ResamplesFailed {
                failed: failures.len(),
                tried: found.len(),
                why: first.clone(),
            });
        }
        let parts: Vec<Part<'_>> = found.chunks(each + 1).filter_map(Part::of).collect();
        if parts.len() < 2 {
            let why = failures.first().map_or("too few resamples", |why| why.as_str());
            let problem =
                format!("fewer than two filled tables could be fitted and resampled; the first: {why}");
            return Err(Error::Numerical { method: NAME, problem });
        }
        let is_unconverged =
            |outcome: &&Outcome<Sample>| matches!(outcome, Outcome::Done(sample) if !sample.converged);
        let unconverged = found.iter().filter(is_unconverged).count();
        if unconverged > 0 {
            notes.push(Note::ResamplesUnconverged { unconverged, fitted: found.len() - failures.len() });
        }
        let of_fit = [fitted.weights(), fitted.biases(), &(measure.of)(fitted, table)?].concat();
        let interval = |(k, &fitted): (usize, &f64)| combined(&parts, k, fitted, self.level);
        let mut couplings: Vec<Interval> = of_fit.par_iter().enumerate().map(interval).collect();
        let mut biases = couplings.split_off(fitted.weights().len());
        let measures = biases.split_off(fitted.unit_count());
        let samples: Vec<Vec<f64>> =
            parts.iter().flat_map(|part| part.resamples.iter().map(|numbers| numbers.to_vec())).collect();
        let (resamples, failed, level) = (samples.len(), failures.len(), self.level);
        Ok(Bootstrapped {
            couplings,
            biases,
            measures,
            samples,
            level,
            resamples,
            unconverged,
            failed,
            notes,
        })
    }
}

/// The numbers of a filled table's fit, and of those of its resamples.
struct Part<'a> {
    own: &'a [f64],
    resamples: Vec<&'a [f64]>,
}

impl<'a> Part<'a> {
    /// `None` if the fit of the table itself failed, or all but one of its resamples did.
    fn of(found: &'a [Outcome<Sample>]) -> Option<Self> {
        let numbers = |outcome: &'a Outcome<Sample>| match outcome {
            Outcome::Done(sample) => Some(&sample.numbers[..]),
            Outcome::Failed(_) | Outcome::Stopped => None,
        };
        let (first, rest) = found.split_first()?;
        let own = numbers(first)?;
        let resamples: Vec<&[f64]> = rest.iter().filter_map(numbers).collect();
        (resamples.len() >= 2).then_some(Self { own, resamples })
    }
}

/// Rubin's rules for one number.
fn combined(parts: &[Part<'_>], k: usize, fitted: f64, level: f64) -> Interval {
    let count = parts.len() as f64;
    let own: Vec<f64> = parts.iter().map(|part| part.own[k]).collect();
    let variances = parts.iter().map(|part| {
        let values: Vec<f64> = part.resamples.iter().map(|numbers| numbers[k]).collect();
        mean_and_variance(&values).1
    });
    let within = variances.sum::<f64>() / count;
    let (mean, spread) = mean_and_variance(&own);
    let between = (1.0 + 1.0 / count) * spread;
    let degrees =
        if between > 0.0 { (count - 1.0) * (1.0 + within / between).powi(2) } else { f64::INFINITY };
    let reach = student(0.5 * (1.0 + level), degrees) * (within + between).sqrt();
    let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
    let all = || parts.iter().flat_map(|part| part.resamples.iter().map(|numbers| numbers[k]));
    let share =
        |holds: &dyn Fn(f64) -> bool| all().filter(|&x| holds(x)).count() as f64 / all().count() as f64;
    Interval {
        fitted,
        low: mean - reach,
        high: mean + reach,
        not_zero: share(&|x| x != 0.0),
        same_sign: share(&|x| sign(x) == sign(fitted)),
    }
}

/// The mean, and the variance with n − 1.
fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0))
}

/// The quantile of Student's distribution above the median, from the integral of its density.
fn student(share: f64, degrees: f64) -> f64 {
    const STEPS: usize = 1 << 14;
    // Beyond, it is the normal distribution to four digits.
    let degrees = degrees.min(1e4);
    // With x = √ν tan a, the density is proportional to cosᵛ⁻¹ a on (−π/2, π/2).
    let width = std::f64::consts::FRAC_PI_2 / STEPS as f64;
    let density: Vec<f64> =
        (0..=STEPS).map(|k| (k as f64 * width).cos().max(0.0).powf(degrees - 1.0)).collect();
    let slice = |k: usize| 0.5 * (density[k] + density[k + 1]);
    let whole: f64 = (0..STEPS).map(slice).sum();
    let mut left = (share - 0.5) * 2.0 * whole;
    for k in 0..STEPS {
        if left <= slice(k) {
            return degrees.sqrt() * ((k as f64 + left / slice(k)) * width).tan();
        }
        left -= slice(k);
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of Student's distribution.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, share, expected) in
            [(1.0, 0.975, 12.7062), (4.0, 0.975, 2.7764), (10.0, 0.95, 1.8125), (30.0, 0.995, 2.7500)]
        {
            let found = student(share, degrees);
            assert!((found - expected).abs() < 2e-4 * expected, "{degrees}, {share}: {found}");
        }
        assert!((student(0.975, f64::INFINITY) - 1.95996).abs() < 1e-3);
    }

    /// Two versions with estimates 1 and 3, and resamples of variance 2 each.
    #[test]
    fn an_example_by_hand() {
        let resamples: [[&[f64]; 2]; 2] = [[&[0.0], &[2.0]], [&[2.0], &[4.0]]];
        let own: [&[f64]; 2] = [&[1.0], &[3.0]];
        let parts: Vec<Part<'_>> = own
            .into_iter()
            .zip(&resamples)
            .map(|(own, resamples)| Part { own, resamples: resamples.to_vec() })
            .collect();
        let found = combined(&parts, 0, 1.5, 0.95);
        // W = 2, B = 2, T = 2 + 1.5·2 = 5, ν = (1 + 2/3)².
        let reach = student(0.975, 25.0 / 9.0) * 5f64.sqrt();
        assert!((found.low - (2.0 - reach)).abs() < 1e-9 && (found.high - (2.0 + reach)).abs() < 1e-9);
        assert_eq!((found.not_zero, found.same_sign), (0.75, 0.75));
    }
}
