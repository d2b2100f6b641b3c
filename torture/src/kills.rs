//! Fits that are killed and interrupted at random moments, and resumed: model and history are, byte
//! for byte, those of a fit that nobody disturbed.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use rand::seq::IndexedRandom as _;
use rand::{Rng, RngExt as _};

use crate::files;
use crate::run::{Run, words};
use crate::trial::Trial;

const PATIENCE: Duration = Duration::from_secs(300);

/// The most disturbances of one fit.
const MOST: usize = 6;

pub(crate) fn run(trial: &mut Trial) -> anyhow::Result<()> {
    while trial.goes_on() {
        let place = tempfile::tempdir()?;
        let folder = place.path();
        std::fs::write(folder.join("t.csv"), table(&mut trial.random))?;
        let fit = random_fit(&mut trial.random);
        let began = Instant::now();
        let whole = format!("{fit} -o whole.json --history whole.csv --no-sync");
        let ended = to_end(&trial.program, folder, &whole)?;
        let taken = began.elapsed();
        if ended != 0 {
            // Not every random fit is possible; refusals are looked at elsewhere.
            trial.count("fits that were refused");
            continue;
        }
        let sync = if trial.random.random_range(0..4) == 0 { "" } else { "--no-sync" };
        let every = trial.random.random_range(1..5);
        let line =
            format!("{fit} -o m.json --history h.csv --checkpoint fit.ckpt --every {every} --resume {sync}");
        for _ in 0..trial.random.random_range(1..=MOST) {
            let arguments = words(&line);
            let run = Run {
                program: &trial.program,
                folder,
                arguments: &arguments,
                limits: "",
                patience: PATIENCE,
            };
            let time = taken.mul_f64(trial.random.random_range(0.0..1.2));
            let signal = *["KILL", "KILL", "INT", "TERM"].choose(&mut trial.random).expect("signals");
            let ended = run.start()?.signal_after(time, signal)?;
            let (code, message) = (ended.code(), &ended.stderr);
            let allowed = match signal {
                "KILL" => [0, 137],
                "INT" => [0, 130],
                _ => [0, 143],
            };
            ensure!(allowed.contains(&code), "isinglass {line}, {signal}: exit code {code}: {message}");
            ensure!(!message.contains("panicked"), "isinglass {line}, {signal}: {message}");
            trial.count(if code == 0 {
                "disturbances that came too late"
            } else {
                "fits that were disturbed"
            });
            if code == 137 {
                trial.count("of these killed");
            }
        }
        let code = to_end(&trial.program, folder, &line)?;
        ensure!(code == 0, "isinglass {line}: exit code {code} at the end");
        let found = files::contents(folder)?;
        for (whole, name) in [("whole.json", "m.json"), ("whole.csv", "h.csv")] {
            ensure!(
                found[whole] == found[name],
                "isinglass {line}: {name} differs from an undisturbed fit's"
            );
        }
        files::nothing_left(&found)?;
        trial.count("fits resumed to the same bytes");
    }
    Ok(())
}

fn to_end(program: &Path, folder: &Path, line: &str) -> anyhow::Result<i32> {
    let arguments = words(line);
    let run = Run { program, folder, arguments: &arguments, limits: "", patience: PATIENCE };
    let ended = run.to_end()?;
    if ended.stderr.contains("panicked") {
        bail!("isinglass {line}: {}", ended.stderr);
    }
    Ok(ended.code())
}

/// A table of a few columns that go together, perhaps with gaps.
fn table(random: &mut impl Rng) -> String {
    let (columns, rows) = (random.random_range(3..9usize), random.random_range(20..200));
    let gaps = random.random_range(0..3) == 0;
    let names: Vec<String> = (0..columns).map(|k| format!("c{k}")).collect();
    let mut text = names.join(",") + "\n";
    for _ in 0..rows {
        let common: bool = random.random();
        let cells: Vec<&str> = (0..columns)
            .map(|_| match random.random_range(0..10) {
                0 if gaps => "",
                0..=2 => ["0", "1"][random.random_range(0..2)],
                _ => ["0", "1"][usize::from(common)],
            })
            .collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

fn random_fit(random: &mut impl Rng) -> String {
    let fits = [
        "fit t.csv --hidden 2 --visible-links none --optimizer momentum --rate 0.01 --iterations 600 --tolerance 0 --l2 0.01",
        "fit t.csv --hidden 1 --restarts 3 --optimizer adaptive --iterations 200 --tolerance 0 --l2 0.01",
        "fit t.csv --optimizer cg --l2 0.01 --iterations 200 --tolerance 0",
        "fit t.csv --l2 0.001 --iterations 300 --tolerance 0 --hidden 2",
        "fit t.csv --engine mean-field --optimizer momentum --rate 0.003 --iterations 800 --tolerance 0 --no-check",
        "fit t.csv --engine gibbs --samples 200 --optimizer momentum --rate 0.05 --iterations 60 --tolerance 0 --no-check",
        "fit t.csv --learner pl-em --hidden 2 --iterations 60 --l2 0.01",
        "fit t.csv --learner contrastive-divergence --hidden 3 --iterations 800",
        "fit t.csv --learner contrastive-divergence --persistent --hidden 2 --iterations 800",
        "fit t.csv --learner mean-field-cd --iterations 400 --tolerance 0",
        "fit t.csv --learner likelihood --engine temper --iterations 8 --l2 0.01",
        "fit t.csv --learner likelihood --l1 0.02",
        "fit t.csv --learner pseudo-likelihood --l2 auto",
    ];
    let fit = fits.choose(random).expect("fits");
    format!("{fit} --seed {} --threads {}", random.random_range(0..100), random.random_range(1..3))
}
