//! Outputs that cannot be written: a full disk, a limit on file sizes, a folder that is not there or
//! takes nothing. The job fails with a message that names the file, what was there before stays, and
//! nothing half-written is left.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;

use crate::files;
use crate::run::{Run, succeed, words};
use crate::trial::Trial;

/// Commands with the outputs that each writes; the first is named in the message if it fails.
const JOBS: &[(&str, &[&str])] = &[
    (
        "fit t.csv --l2 0.1 -o OUT/m.json --history OUT/h.csv --network OUT/n.csv --report OUT/p.html",
        &["m.json", "h.csv", "n.csv", "p.html"],
    ),
    ("make full -n 60 -o OUT/m.json", &["m.json"]),
    ("make full -n 60 -o OUT/m.npz", &["m.npz"]),
    ("make full -n 60 -o OUT/m.uai.gz", &["m.uai.gz"]),
    ("convert big.json OUT/m.uai", &["m.uai"]),
    ("sample big.json --engine gibbs -n 3000 -o OUT/d.csv", &["d.csv"]),
    ("complete m.json t.csv -o OUT/c.npy", &["c.npy"]),
    ("denoise --sample --iterations 2 -o OUT/p.png --add-noise 0.1 --noisy OUT/q.png", &["p.png", "q.png"]),
    ("scan m.json --temperatures 1:2:3 -o OUT/s.svg", &["s.svg"]),
    ("report m.json t.csv -o OUT/r.html", &["r.html"]),
];

#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A device that is always full.
    Full,
    /// No file may become larger than so many blocks of 512 bytes.
    Limit(u32),
    /// The folder does not exist.
    Missing,
    /// A file stands where the folder should be.
    NoFolder,
    /// A file system in which nothing can be made.
    ReadOnly,
    /// A folder stands where the file should be.
    Folder,
}

pub(crate) fn run(trial: &mut Trial) -> anyhow::Result<()> {
    let place = tempfile::tempdir()?;
    let from = place.path();
    std::fs::write(
        from.join("t.csv"),
        format!("a,b,c\n{}", "1,0,1\n,0,1\n1,1,0\n1,1,1\n0,1,\n0,0,1\n".repeat(20)),
    )?;
    succeed(&trial.program, from, "fit t.csv --l2 0.1 -o m.json")?;
    succeed(&trial.program, from, "make full -n 120 -o big.json")?;
    while trial.goes_on() {
        let (job, outputs) = *JOBS.choose(&mut trial.random).expect("jobs");
        let fault = match trial.random.random_range(0..6) {
            0 => Fault::Full,
            1 => Fault::Missing,
            2 => Fault::NoFolder,
            3 => Fault::ReadOnly,
            4 => Fault::Folder,
            _ => Fault::Limit(trial.random.random_range(0..3)),
        };
        let failed = attempt(&trial.program, from, job, outputs, fault)
            .with_context(|| format!("isinglass {job}, {fault:?}"))?;
        trial.count(match (fault, failed) {
            (Fault::Full, _) => "full disks",
            (Fault::Limit(_), true) => "limits on file sizes",
            (Fault::Limit(_), false) => "limits on file sizes that were not met",
            (Fault::Missing, _) => "missing folders",
            (Fault::NoFolder, _) => "files in the place of folders",
            (Fault::ReadOnly, _) => "folders that take nothing",
            (Fault::Folder, _) => "folders in the place of files",
        });
        if trial.random.random_range(0..4) == 0 {
            full_checkpoint(&trial.program, from)?;
            trial.count("checkpoints that could not be written later on");
        }
    }
    Ok(())
}

/// Runs a job under a fault. Returns whether it failed, as all must but those whose files are small.
fn attempt(program: &Path, from: &Path, job: &str, outputs: &[&str], fault: Fault) -> anyhow::Result<bool> {
    let place = tempfile::tempdir()?;
    let folder = place.path();
    for name in ["t.csv", "m.json", "big.json"] {
        std::fs::copy(from.join(name), folder.join(name))?;
    }
    let mut limits = String::new();
    let out = match fault {
        Fault::ReadOnly => "/proc/self".to_owned(),
        _ => "out".to_owned(),
    };
    match fault {
        Fault::Missing | Fault::ReadOnly => {}
        Fault::NoFolder => std::fs::write(folder.join("out"), "a file")?,
        _ => std::fs::create_dir(folder.join("out"))?,
    }
    match fault {
        // The first output goes to a full disk, the others wait for it in vain.
        Fault::Full => std::os::unix::fs::symlink("/dev/full", folder.join("out").join(outputs[0]))?,
        Fault::Folder => std::fs::create_dir(folder.join("out").join(outputs[0]))?,
        Fault::Limit(blocks) => {
            for name in outputs {
                std::fs::write(folder.join("out").join(name), "old")?;
            }
            // Without the trap the signal would end the program, as it ends any.
            limits = format!("trap '' XFSZ; ulimit -f {blocks}");
        }
        Fault::Missing | Fault::NoFolder | Fault::ReadOnly => {}
    }
    let before = files::contents(folder)?;
    let arguments = words(&job.replace("OUT", &out));
    // Standard output and error are files, too, and must fit the limit: nothing is printed but the error.
    let run =
        Run { program, folder, arguments: &arguments, limits: &limits, patience: Duration::from_secs(120) };
    let ended = run.to_end()?;
    let (code, message) = (ended.code(), &ended.stderr);
    ensure!(!message.contains("panicked"), "{message}");
    let after = files::contents(folder)?;
    files::nothing_left(&after)?;
    let is_limit = matches!(fault, Fault::Limit(_));
    ensure!(code == 1 || is_limit && code == 0, "exit code {code}: {message}");
    if code == 1 {
        let is_named = outputs.iter().any(|name| message.contains(name)) || is_limit && message.len() >= 512;
        ensure!(is_named || is_limit && message.is_empty(), "no file is named: {message}");
    }
    // Each file is as it was, or new and whole.
    for name in after.keys().filter(|name| after.get(*name) != before.get(*name)) {
        ensure!(is_limit || matches!(fault, Fault::Full), "{name} was changed: {message}");
        files::is_whole(&folder.join(name))?;
    }
    Ok(code == 1)
}

/// A checkpoint that can be written at first and not later: the fit goes on, and says so.
fn full_checkpoint(program: &Path, from: &Path) -> anyhow::Result<()> {
    let place = tempfile::tempdir()?;
    let folder = place.path();
    std::fs::copy(from.join("t.csv"), folder.join("t.csv"))?;
    // The history of the objective is in the checkpoint, which so grows beyond the limit.
    let line = "fit t.csv --optimizer momentum --rate 0.001 --tolerance 0 --iterations 400 -o m.json --checkpoint c.ck --every 1 --quiet --no-sync";
    let arguments = words(line);
    let limits = "trap '' XFSZ; ulimit -f 4";
    let run = Run { program, folder, arguments: &arguments, limits, patience: Duration::from_secs(120) };
    let ended = run.to_end()?;
    let message = &ended.stderr;
    ensure!(ended.code() == 0, "isinglass {line}: exit code {}: {message}", ended.code());
    ensure!(message.contains("warning: the checkpoint could not be written"), "isinglass {line}: {message}");
    let found = files::contents(folder)?;
    files::nothing_left(&found)?;
    files::is_whole(&folder.join("m.json"))?;
    // What is there is an older state, whole: the fit can be resumed from it.
    succeed(program, folder, &line.replace("--every 1", "--resume"))?;
    Ok(())
}
