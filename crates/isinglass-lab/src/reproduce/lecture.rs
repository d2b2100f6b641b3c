//! The lecture "Applied Machine Learning: Boltzmann Machines": its mean-field inference, applied to
//! a noisy picture.

use isinglass::Result;
use rayon::prelude::*;

use super::outcome::one_digit;
use super::{Check, Column, Experiment, Outcome, Settings};
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::pictures::{Picture, Pictures};
use crate::figure::sheet::Sheet;
use crate::figure::{INK, PALETTE};
use crate::lattice::{Denoised, Denoiser, Lattice, Method, flip_pixels, log_odds_of_flips};
use crate::sample::{SIDE, sample_picture};

pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "lecture-denoise",
    title: "Mean-field inference converges, and cleans a noisy picture",
    source: "lecture \"Applied Machine Learning\", Boltzmann machines",
    claim: "To estimate hidden units, set each π_i = e^p/(e^p + e^−p), where p is the field from the means 2π − 1 of hidden \
            neighbours and the values of observed ones, until the π change by less than some ε. Each update minimises the \
            variational free energy in its π_i.",
    run,
}];

/// The coupling of neighbours: the default of `isinglass denoise`.
const COUPLING: f64 = 0.7;
const SHARES: [f64; 7] = [0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3];
/// Index of the share of flips whose pictures are shown.
const SHOWN: usize = 2;
/// Sweeps kept by the Gibbs sampler, and the limit of sweeps of the other methods.
const KEPT: usize = 200;
const MAX_SWEEPS: usize = 5000;

/// The result for one share of flips: the observed picture, and the answer of each method.
struct Cleaned {
    seen: Vec<i8>,
    answers: Vec<Denoised>,
}

fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let clean = sample_picture();
    settings.progress.expect(SHARES.len());
    let found: Vec<Cleaned> = SHARES
        .par_iter()
        .map(|&share| {
            let seen = flip_pixels(&clean, share, settings.seed)?;
            let lattice = Lattice::new(SIDE, SIDE, COUPLING, log_odds_of_flips(share)?)?;
            let answers = Method::ALL.map(|method| {
                let usual = Denoiser::default();
                let iterations = if method == Method::Gibbs { KEPT } else { MAX_SWEEPS };
                Denoiser { method, iterations, seed: settings.seed, ..usual }.denoise(&lattice, &seen)
            });
            settings.progress.done();
            Ok(Cleaned { seen, answers: answers.into_iter().collect::<Result<_>>()? })
        })
        .collect::<Result<_>>()?;
    let wrong = |pixels: &[i8]| {
        100.0 * pixels.iter().zip(&clean).filter(|(a, b)| a != b).count() as f64 / clean.len() as f64
    };
    let before: Vec<f64> = found.iter().map(|cleaned| wrong(&cleaned.seen)).collect();
    let after = |method: usize| {
        found.iter().map(|cleaned| wrong(&cleaned.answers[method].decisions())).collect::<Vec<f64>>()
    };
    let (field, bethe, gibbs) = (after(0), after(1), after(2));
    let sweeps: Vec<f64> = found.iter().map(|cleaned| cleaned.answers[0].sweeps as f64).collect();
    let rise = found
        .iter()
        .flat_map(|cleaned| {
            cleaned.answers[0].free_energy.windows(2).map(|pair| (pair[1] - pair[0]) / pair[0].abs().max(1.0))
        })
        .fold(f64::NEG_INFINITY, f64::max);
    let converged = found.iter().filter(|cleaned| cleaned.answers[0].converged).count();
    let mean_fields = || found.iter().map(|cleaned| &cleaned.answers[0]);
    let residual = mean_fields().map(|answer| answer.residual).fold(0.0, f64::max);
    let fallen = mean_fields().filter(|answer| {
        answer.free_energy.first().zip(answer.free_energy.last()).is_some_and(|(first, last)| last < first)
    });
    let fallen = fallen.count();
    let checks = vec![
        Check::new(
            "the updates converge",
            converged == SHARES.len() && residual <= Denoiser::default().tolerance,
            format!(
                "after {} to {} sweeps; residual of the means 2π − 1 at most {}",
                sweeps.iter().copied().fold(f64::INFINITY, f64::min),
                sweeps.iter().copied().fold(0.0, f64::max),
                one_digit(residual)
            ),
        ),
        Check::new(
            "the variational free energy falls",
            rise < 1e-6 && fallen == SHARES.len(),
            format!(
                "on {fallen} of {} pictures; largest relative rise in a sweep: {}",
                SHARES.len(),
                one_digit(rise.max(0.0))
            ),
        ),
    ];
    let remarks = format!(
        "The picture is our application: the lecture claims nothing about pictures or noise. With {:.1} % of the pixels flipped, \
         {:.2} % are wrong after mean field (belief propagation {:.2} %, Gibbs sampling {:.2} %); with {:.1} % flipped, {:.1} %.",
        before[SHOWN],
        field[SHOWN],
        bethe[SHOWN],
        gibbs[SHOWN],
        before[before.len() - 1],
        field[field.len() - 1]
    );
    let points = |y: &[f64]| -> Vec<(f64, f64)> { before.iter().copied().zip(y.iter().copied()).collect() };
    let dark = |pixels: &[i8]| Picture {
        columns: SIDE,
        darkness: pixels.iter().map(|&x| if x < 0 { 1.0 } else { 0.0 }).collect(),
    };
    let shown = &found[SHOWN];
    let pictures = Pictures {
        scale: 1.0,
        gap: 18.0,
        above: vec!["clean".into(), "10 % of the pixels flipped".into(), "after mean-field inference".into()],
        rows: vec![vec![dark(&clean), dark(&shown.seen), dark(&shown.answers[0].decisions())]],
        ..Pictures::default()
    };
    let figure = Sheet::new("A black-and-white picture cleaned by inference on a lattice")
        .wide(860.0)
        .row(pictures.height(), [pictures.boxed()])
        .row(
            330.0,
            [Chart::new(Axis::new("pixels flipped (%)").within(0.0, 31.0), Axis::log("pixels wrong (%)"))
                .with(
                    Series::line("not cleaned", INK, points(&before))
                        .stroke(crate::figure::canvas::Stroke::Dashed)
                        .thin(),
                )
                .with(Series::line("mean field", PALETTE[1], points(&field)).marked(Marker::Ring))
                .with(Series::line("belief propagation", PALETTE[0], points(&bethe)).marked(Marker::Disc))
                .with(Series::line("Gibbs sampling", PALETTE[2], points(&gibbs)).marked(Marker::Plus))
                .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        method: format!(
            "The built-in sample picture of {SIDE}×{SIDE} pixels with 2 to 30 % of the pixels flipped; coupling of neighbours \
             {COUPLING}, coupling to the observed pixels ½ ln((1−p)/p). A unit is estimated as 1 where π ≥ ½. Picture, lattice and \
             couplings are ours: the lecture has no example. Belief propagation and Gibbs sampling on the same lattice, for \
             comparison."
        ),
        columns: vec![
            Column::new("flipped", "share of pixels flipped, %", before.clone()),
            Column::new("mean_field", "share of pixels wrong after mean field, %", field),
            Column::new("bethe", "share of pixels wrong after belief propagation, %", bethe),
            Column::new("gibbs", "share of pixels wrong after Gibbs sampling, %", gibbs),
            Column::new("sweeps", "sweeps of mean field", sweeps),
        ],
        figure,
        checks,
        remarks,
    })
}
