//! Running the program, with limits and a watch on its memory.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use wait4::Wait4 as _;

/// After the second signal a command must end within this time, however busy the machine is.
const AT_ONCE: Duration = Duration::from_secs(10);

/// A run of the program.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Path,
    pub(crate) folder: &'a Path,
    pub(crate) arguments: &'a [String],
    /// Shell commands that limit it.
    pub(crate) limits: &'a str,
    /// When it gets SIGTERM, and soon after another.
    pub(crate) patience: Duration,
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// The largest resident memory, in bytes.
    pub(crate) memory: u64,
    /// Whether it had to be sent away.
    pub(crate) timed_out: bool,
}

impl Ended {
    /// The exit code; that of a signal as shells have it.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or_default())
    }
}

impl Run<'_> {
    /// Starts the program with its output in files beside the folder.
    pub(crate) fn start(&self) -> anyhow::Result<Started> {
        let place = tempfile::tempdir()?;
        let (out, err) = (place.path().join("out"), place.path().join("err"));
        let script =
            format!("{}; exec \"$0\" \"$@\"", if self.limits.is_empty() { ":" } else { self.limits });
        let child = Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(self.program)
            .args(self.arguments)
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?)
            .spawn()?;
        Ok(Started { child, out, err, _place: place })
    }

    /// Runs the program to its end, or sends it away.
    pub(crate) fn to_end(&self) -> anyhow::Result<Ended> {
        let mut started = self.start()?;
        let id = started.child.id();
        let (done, over) = mpsc::channel::<()>();
        let patience = self.patience;
        // Signals until it ends: TERM, TERM once more, and KILL if that is not enough.
        let watch = std::thread::spawn(move || -> Option<bool> {
            let mut obeyed = None;
            for (signal, wait) in [("TERM", patience), ("TERM", AT_ONCE), ("KILL", AT_ONCE)] {
                if over.recv_timeout(wait) != Err(mpsc::RecvTimeoutError::Timeout) {
                    return obeyed;
                }
                obeyed = Some(signal == "TERM");
                send(id, signal);
            }
            obeyed
        });
        let ended = started.wait();
        drop(done);
        let obeyed = watch.join().map_err(|_| anyhow::anyhow!("the watch panicked"))?;
        let mut ended = ended?;
        ended.timed_out = obeyed.is_some();
        ensure!(obeyed != Some(false), "did not end at once after two signals");
        Ok(ended)
    }
}

/// A program that runs.
pub(crate) struct Started {
    pub(crate) child: Child,
    out: PathBuf,
    err: PathBuf,
    _place: tempfile::TempDir,
}

impl Started {
    /// Waits until it has ended.
    pub(crate) fn wait(&mut self) -> anyhow::Result<Ended> {
        let used = self.child.wait4().context("waiting")?;
        let mut stdout = Vec::new();
        File::open(&self.out)?.read_to_end(&mut stdout)?;
        let stderr = String::from_utf8_lossy(&std::fs::read(&self.err)?).into_owned();
        let memory = used.rusage.maxrss;
        Ok(Ended { status: used.status, stdout, stderr, memory, timed_out: false })
    }

    /// Sends a signal after some time, if it still runs, and waits.
    pub(crate) fn signal_after(mut self, time: Duration, signal: &str) -> anyhow::Result<Ended> {
        let began = Instant::now();
        while began.elapsed() < time {
            if self.child.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        send(self.child.id(), signal);
        // It may be reaped already, and then has no account of its memory.
        let status = self.child.wait()?;
        let stdout = std::fs::read(&self.out)?;
        let stderr = String::from_utf8_lossy(&std::fs::read(&self.err)?).into_owned();
        Ok(Ended { status, stdout, stderr, memory: 0, timed_out: false })
    }
}

fn send(process: u32, signal: &str) {
    // A process that has just ended cannot get it, and need not.
    let _ = Command::new("kill")
        .args([&format!("-{signal}"), &process.to_string()])
        .stderr(Stdio::null())
        .status();
}

/// Splits a line of words that have no spaces.
pub(crate) fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Runs a line that must succeed.
pub(crate) fn succeed(program: &Path, folder: &Path, line: &str) -> anyhow::Result<Ended> {
    let arguments = words(line);
    let run = Run { program, folder, arguments: &arguments, limits: "", patience: Duration::from_secs(120) };
    let ended = run.to_end()?;
    if ended.code() != 0 {
        bail!("isinglass {line}: exit code {}: {}", ended.code(), ended.stderr);
    }
    Ok(ended)
}
