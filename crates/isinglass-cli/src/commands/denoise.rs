//! `isinglass denoise`: clean a black-and-white picture.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use isinglass::Budget;
use isinglass::topology::Neighbours;
use isinglass_files::{Output, Picture, check_picture_output, read_picture, write_picture};
use isinglass_lab::lattice::{Denoised, Denoiser, Lattice, Method, flip_pixels, log_odds_of_flips};
use isinglass_lab::sample::{SIDE, sample_picture};
use serde_json::json;

use crate::options::{Common, Usage, at_least, keep_apart, keep_inputs};
use crate::report::{self, count};

#[derive(ClapArgs)]
#[command(
    after_help = "Examples:\n  isinglass denoise --sample --add-noise 0.1 --noisy noisy.png -o clean.png\n  isinglass denoise noisy.png --engine bethe --flip 0.1 -o cleaner.png"
)]
pub(crate) struct Args {
    /// The picture (.png, .pgm and other .pnm, .bmp, .jpg)
    #[arg(required_unless_present = "sample")]
    image: Option<PathBuf>,
    /// Take a built-in picture instead of a file, to try things out
    #[arg(long, conflicts_with = "image")]
    sample: bool,
    /// The picture to write (.png)
    #[arg(short, long, value_name = "IMAGE")]
    output: PathBuf,
    /// How the hidden pixels are inferred
    #[arg(long, value_name = "ENGINE", default_value = "mean-field")]
    engine: EngineName,
    /// The share of pixels that are thought to be flipped: sets --data to half its log-odds, ½
    /// ln((1−P)/P) [default: 0.1]
    #[arg(long, value_name = "P", value_parser = share_of_flips, allow_hyphen_values = true)]
    flip: Option<f64>,
    /// The coupling of a pixel with what was seen of it, instead of --flip
    #[arg(long, value_name = "X", conflicts_with = "flip", allow_hyphen_values = true)]
    data: Option<f64>,
    /// The coupling of neighbours: more makes smoother pictures, and loses finer lines. What did
    /// best on the sample with 5 to 10 % of its pixels flipped is the default [default: 0.7; with 8
    /// neighbours 0.25]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    coupling: Option<f64>,
    /// How many neighbours a pixel has
    #[arg(long, value_name = "4|8", default_value = "4", value_parser = neighbours)]
    neighbours: Neighbours,
    /// mean-field, bethe: sweeps at most [default: 500]; gibbs: kept sweeps, at least 4 [default:
    /// 200]
    #[arg(long, value_name = "N", value_parser = at_least::<1>, allow_hyphen_values = true)]
    iterations: Option<usize>,
    /// mean-field, bethe: converged when no equation is violated by more than this [default: 1e-4]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    tolerance: Option<f64>,
    /// bethe: the share of the old message that is kept in every update [default: 0]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    damping: Option<f64>,
    /// gibbs: sweeps before the first kept one [default: 50]
    #[arg(long, value_name = "N")]
    burn_in: Option<usize>,
    /// Pixels at least this light, from 0 to 255, are white
    #[arg(long, value_name = "N", default_value_t = 128)]
    threshold: u8,
    /// Flip each pixel with this probability first, by --seed; the report then says how many pixels
    /// are wrong before and after
    #[arg(long, value_name = "P", value_parser = share, allow_hyphen_values = true)]
    add_noise: Option<f64>,
    /// Write the picture with the added noise, too (.png)
    #[arg(long, value_name = "IMAGE", requires = "add_noise")]
    noisy: Option<PathBuf>,
    /// Memory that the picture and the engine may take, such as 512MiB or 6GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    budget: Budget,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Independent pixels that come closest: a lower bound on log Z
    MeanField,
    /// Messages between neighbours: an approximation
    Bethe,
    /// Gibbs sampling: an estimate
    Gibbs,
}

impl From<EngineName> for Method {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::MeanField => Self::MeanField,
            EngineName::Bethe => Self::Bethe,
            EngineName::Gibbs => Self::Gibbs,
        }
    }
}

/// Couplings of neighbours that do well where 5 to 10 % of the pixels are flipped.
const COUPLING_OF_FOUR: f64 = 0.7;
const COUPLING_OF_EIGHT: f64 = 0.25;
const FLIP: f64 = 0.1;

/// Sweeps that gibbs keeps: enough to decide all but pixels that are in doubt anyway.
const KEPT_SWEEPS: usize = 200;

fn neighbours(text: &str) -> Result<Neighbours, String> {
    match text {
        "4" => Ok(Neighbours::Four),
        "8" => Ok(Neighbours::Eight),
        _ => Err("expected 4 or 8".into()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x| (0.0..=1.0).contains(x));
    number.ok_or_else(|| "expected a number from 0 to 1".into())
}

fn share_of_flips(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|&x| log_odds_of_flips(x).is_ok());
    number.ok_or_else(|| "expected a number above 0 and below 1".into())
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    args.check_options()?;
    let outputs = || [Some(&args.output), args.noisy.as_ref()].into_iter().flatten();
    let inputs: Vec<_> = args.image.iter().map(PathBuf::as_path).collect();
    for output in outputs() {
        check_picture_output(output)?;
        keep_inputs(output, &inputs)?;
    }
    let noisy = args.noisy.as_deref().map(|path| ("--noisy", path));
    keep_apart([("--output", args.output.as_path())].into_iter().chain(noisy))?;
    let clean = args.picture(common)?;
    let seen = match args.add_noise {
        Some(share) => flip_pixels(&clean.pixels, share, common.seed)?,
        None => clean.pixels.clone(),
    };
    let output = Output::create(&args.output)?;
    let noisy = args.noisy.as_deref().map(Output::create).transpose()?;

    let lattice = args.lattice(&clean)?;
    let denoiser = args.denoiser(common.seed);
    let answer = denoiser.denoise(&lattice, &seen).map_err(|error| match error {
        // What is wrong with a setting is wrong with the option of its name.
        isinglass::Error::Invalid { .. } => Usage(format!("--{error}")).into(),
        other => {
            report::with_hint(other, "give more --budget, or take --engine mean-field, which needs the least")
        }
    })?;
    if !answer.converged {
        let data = json!({ "sweeps": answer.sweeps, "residual": answer.residual });
        common.warning("not-converged", args.not_converged(&answer), data);
    }
    let decisions = answer.decisions();
    write_picture(clean.rows, clean.columns, &decisions, output)?;
    if let Some(noisy) = noisy {
        write_picture(clean.rows, clean.columns, &seen, noisy)?;
    }

    let summary = Summary {
        changed: differing(&decisions, &seen),
        wrong: args
            .add_noise
            .map(|_| (differing(&seen, &clean.pixels), differing(&decisions, &clean.pixels))),
    };
    if common.json {
        return common.print_json(&document(args, &lattice, &clean, &answer, &summary));
    }
    for path in outputs() {
        common.line(&format!("wrote {}", path.display()));
    }
    report::text(&plain(denoiser.method, &clean, &answer, &summary))
}

impl Args {
    /// Refuse options that say something about another engine.
    fn check_options(&self) -> Result<(), Usage> {
        use EngineName::{Bethe, Gibbs, MeanField};
        let given: [(&str, bool, &[EngineName], &str); 3] = [
            ("tolerance", self.tolerance.is_some(), &[MeanField, Bethe], "mean-field and bethe"),
            ("damping", self.damping.is_some(), &[Bethe], "bethe"),
            ("burn-in", self.burn_in.is_some(), &[Gibbs], "gibbs"),
        ];
        if let Some((option, _, _, owners)) =
            given.iter().find(|(_, given, engines, _)| *given && !engines.contains(&self.engine))
        {
            let engine = Method::from(self.engine);
            return Err(Usage(format!("--{option} belongs to --engine {owners}, not to {engine}")));
        }
        Ok(())
    }

    fn picture(&self, common: &Common) -> anyhow::Result<Picture> {
        let Some(path) = &self.image else {
            return Ok(Picture { rows: SIDE, columns: SIDE, pixels: sample_picture(), toned: 0 });
        };
        let picture = read_picture(path, self.threshold, self.budget)?;
        if picture.toned > 0 {
            let (toned, pixels) = (picture.toned, picture.pixels.len());
            let text = format!(
                "{toned} of {pixels} pixels are neither black nor white; divided at {} (--threshold)",
                self.threshold
            );
            let data = json!({ "toned": toned, "pixels": pixels, "threshold": self.threshold });
            common.note("toned-pixels", text, data);
        }
        Ok(picture)
    }

    fn lattice(&self, picture: &Picture) -> anyhow::Result<Lattice> {
        let data = match self.data {
            Some(data) => data,
            None => log_odds_of_flips(self.flip.unwrap_or(FLIP))?,
        };
        let coupling = self.coupling.unwrap_or(match self.neighbours {
            Neighbours::Four => COUPLING_OF_FOUR,
            Neighbours::Eight => COUPLING_OF_EIGHT,
        });
        let lattice = Lattice::new(picture.rows, picture.columns, coupling, data)
            .map_err(|error| Usage(format!("--{error}")))?;
        Ok(lattice.with_neighbours(self.neighbours))
    }

    fn denoiser(&self, seed: u64) -> Denoiser {
        let usual = Denoiser::default();
        Denoiser {
            method: self.engine.into(),
            iterations: self.iterations.unwrap_or(match self.engine {
                EngineName::MeanField | EngineName::Bethe => usual.iterations,
                EngineName::Gibbs => KEPT_SWEEPS,
            }),
            tolerance: self.tolerance.unwrap_or(usual.tolerance),
            damping: self.damping.unwrap_or(usual.damping),
            burn_in: self.burn_in.unwrap_or(usual.burn_in),
            seed,
            budget: self.budget,
        }
    }

    fn not_converged(&self, answer: &Denoised) -> String {
        match self.engine {
            EngineName::Gibbs => "the chain had not settled; take more --burn-in and --iterations".into(),
            EngineName::MeanField => format!(
                "not converged after {} sweeps (residual {:.1e}); take more --iterations",
                answer.sweeps, answer.residual
            ),
            EngineName::Bethe => format!(
                "not converged after {} sweeps (residual {:.1e}); take more --iterations, or --damping 0.5",
                answer.sweeps, answer.residual
            ),
        }
    }
}

/// Pixels that the report counts.
struct Summary {
    changed: usize,
    /// Before and after, where the truth is known.
    wrong: Option<(usize, usize)>,
}

fn differing(a: &[i8], b: &[i8]) -> usize {
    a.iter().zip(b).filter(|(x, y)| x != y).count()
}

fn document(
    args: &Args,
    lattice: &Lattice,
    picture: &Picture,
    answer: &Denoised,
    summary: &Summary,
) -> serde_json::Value {
    let mut document = json!({
        "engine": Method::from(args.engine).word(),
        "guarantee": answer.guarantee.word(),
        "rows": picture.rows,
        "columns": picture.columns,
        "toned": picture.toned,
        "neighbours": match args.neighbours { Neighbours::Four => 4, Neighbours::Eight => 8 },
        "coupling": lattice.coupling(),
        "data": lattice.data(),
        "changed": summary.changed,
        "sweeps": answer.sweeps,
        "converged": answer.converged,
        "residual": answer.residual,
        "output": args.output,
    });
    if args.engine == EngineName::MeanField {
        document["free_energy"] = json!(answer.free_energy);
    }
    if let Some((before, after)) = summary.wrong {
        document["wrong_before"] = json!(before);
        document["wrong_after"] = json!(after);
    }
    document
}

fn plain(method: Method, picture: &Picture, answer: &Denoised, summary: &Summary) -> String {
    let pixels = picture.pixels.len();
    let share = |count: usize| format!("{count} ({:.2} %)", 100.0 * count as f64 / pixels as f64);
    let mut out = format!("engine {method}: {}\n", answer.guarantee);
    let residual = match method {
        Method::Gibbs => "standard error of a mean",
        Method::MeanField | Method::Bethe => "residual",
    };
    let settled = if answer.converged { "converged" } else { "not converged" };
    out += &format!("{}, {settled}, {residual} {:.1e}\n", count(answer.sweeps, "sweep"), answer.residual);
    if let Some(energy) = answer.free_energy.last() {
        out += &format!("variational free energy {energy:.6}\n");
    }
    let mut rows = vec![vec!["pixels".to_owned(), format!("{} × {}", picture.rows, picture.columns)]];
    rows.push(vec!["changed".into(), share(summary.changed)]);
    if let Some((before, after)) = summary.wrong {
        rows.push(vec!["wrong before".into(), share(before)]);
        rows.push(vec!["wrong after".into(), share(after)]);
    }
    for row in rows {
        out += &format!("{:<14}{}\n", row[0], row[1]);
    }
    out
}
