//! Random command lines, made from the program's own definitions of its commands and options.
//!
//! Whatever is asked, the program must not panic, must exit with a code that is documented, print
//! one JSON document or nothing where `--json` is given, leave its inputs as they are, and leave no
//! file that is not whole. A line that fails is made shorter as long as it fails.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::builder::ValueRange;
use clap::{Arg, ArgAction, Command};
use rand::seq::IndexedRandom as _;
use rand::{Rng, RngExt as _};

use crate::files;
use crate::run::{Run, succeed};
use crate::trial::Trial;

/// How long a command may take before it gets a signal.
const PATIENCE: Duration = Duration::from_secs(10);

/// The promise: resident memory is the budget and this.
const MARGIN: u64 = 256 << 20;

/// Exit codes of work that ended by itself, and by SIGTERM.
const CODES: [i32; 3] = [0, 1, 2];
const TERMINATED: i32 = 143;

const INPUTS: &[&str] = &[
    "t.csv",
    "t.csv",
    "t.csv",
    "u.csv",
    "w.csv",
    "m.json",
    "m.json",
    "g.json",
    "r.json",
    "m.uai",
    "m.npz",
    "m.evid",
    "e.csv",
    "p.png",
    "broken.csv",
    "broken.json",
    "empty.csv",
    "cut.npz",
    "d",
    "none.csv",
    "none.json",
    "link.csv",
    "/dev/null",
    "",
];
const OUTPUTS: &[&str] = &[
    "o.json",
    "o.uai",
    "o.npz",
    "o.csv",
    "o.tsv",
    "o.npy",
    "o.html",
    "o.svg",
    "o.png",
    "o.json.gz",
    "o",
    "d/o.json",
    "d",
    "no/such/o.json",
    "t.csv",
    "./t.csv",
    "link.csv",
    "m.json",
    "o.ck",
    "/dev/null",
    "",
];
/// Options that write a file of a kind of their own.
const WRITES: [&str; 5] = ["output", "report", "noisy", "checkpoint", "figure"];
/// Options that write a table of numbers, whatever it is called.
const TABLES_WRITTEN: [&str; 7] =
    ["history", "component_history", "network", "centrality", "differences", "stability", "csv"];
const COUNTS: &[&str] = &["1", "2", "3", "4", "5", "7", "20"];
const NUMBERS: &[&str] = &["0.001", "0.1", "0.5", "0.9", "1", "2"];
const BUDGETS: &[&str] = &["1MiB", "4MiB", "16MiB", "64MiB"];
const HOSTILE: &[&str] = &[
    "0",
    "-1",
    "-0",
    "1000000000000",
    "18446744073709551615",
    "nan",
    "inf",
    "1e308",
    "1e-308",
    "x",
    "auto",
    "",
    "1",
];
const TEXTS: &[&str] = &[
    "a",
    "a,b",
    "a=+1,b=-1",
    "a=1",
    "x0",
    "x0,x1",
    "x1=+1",
    "f",
    "none",
    "full",
    "chain",
    "tree",
    "grid:2x3",
    "grid8:2x3",
    "edges:e.csv",
    "normal:0,0.5",
    "uniform:-1,1",
    "0.5:3:4",
    "1,2",
    "3x2",
    "auto",
    "5:2",
    "a,,b",
    "=",
    ",",
    "\\",
    "ä",
    "\u{1b}[2J",
    "",
];

/// A command line: the command, and groups of arguments that belong together.
#[derive(Clone, Debug, PartialEq)]
struct Line(Vec<Vec<String>>);

impl Line {
    fn arguments(&self) -> Vec<String> {
        self.0.iter().flatten().cloned().collect()
    }

    fn budget(&self) -> u64 {
        let groups = self.0.iter().filter(|group| group.first().is_some_and(|word| word == "--budget"));
        let budget = groups.filter_map(|group| group.get(1)?.parse::<isinglass::Budget>().ok()).next_back();
        budget.unwrap_or_default().0
    }
}

pub(crate) fn run(trial: &mut Trial) -> anyhow::Result<()> {
    let root = isinglass_cli::command();
    let place = tempfile::tempdir()?;
    prepare(&trial.program, place.path())?;
    while trial.goes_on() {
        let line = random_line(&mut trial.random, &root);
        match attempt(&trial.program, place.path(), &line) {
            Ok((code, memory, timed_out)) => {
                trial.note_memory(memory, line.budget(), &line.arguments().join(" "));
                let how = if timed_out { "sent away after 10 s" } else { "ended by themselves" };
                trial.count(format!("lines that {how} with exit code {code}"));
            }
            Err(error) => {
                let (line, error) = shortest(&trial.program, place.path(), line, error);
                bail!("isinglass {:?}: {error:#}", line.arguments());
            }
        }
    }
    Ok(())
}

/// A folder to copy from, with files of every kind.
fn prepare(program: &Path, folder: &Path) -> anyhow::Result<()> {
    let at = |name: &str| folder.join(name);
    let mut table = String::from("a,b,c,d,e,f\n");
    for row in 0..40u32 {
        let cells: Vec<&str> = (0..6u32)
            .map(|column| match (row * 7 + column * 5 + row * column) % 11 {
                0 if row % 3 == 0 => "",
                0..=5 => "1",
                _ => "0",
            })
            .collect();
        table += &(cells.join(",") + "\n");
    }
    std::fs::write(at("t.csv"), &table)?;
    std::fs::write(
        at("u.csv"),
        table.replace("a,b,c,d,e,f", "x0,x1,x2,x3,x4,x5").replace("\n,", "\n1,").replace(",,", ",1,"),
    )?;
    std::fs::write(at("w.csv"), "a,b,weight\n1,0,2\n0,0,1.5\n1,1,0\n")?;
    std::fs::write(at("e.csv"), "a,b\nb,c\na,f\n")?;
    std::fs::write(at("m.evid"), "1 0 1\n")?;
    std::fs::write(at("broken.csv"), "a,b\n1,maybe\n\"")?;
    std::fs::write(at("broken.json"), "{\"format\": \"isinglass/1\", \"units\": [")?;
    std::fs::write(at("empty.csv"), "")?;
    std::fs::create_dir(at("d"))?;
    std::os::unix::fs::symlink("t.csv", at("link.csv"))?;
    for line in [
        "fit t.csv --l2 0.1 -o m.json",
        "make grid --rows 4 --columns 4 -o g.json",
        "make rbm --visible 6 --hidden 2 -o r.json",
        "convert m.json m.uai",
        "convert m.json m.npz",
        "denoise --sample --iterations 2 --engine bethe -o p.png",
    ] {
        succeed(program, folder, line)?;
    }
    let npz = std::fs::read(at("m.npz"))?;
    std::fs::write(at("cut.npz"), &npz[..npz.len() / 2])?;
    Ok(())
}

fn random_line(random: &mut impl Rng, root: &Command) -> Line {
    let commands: Vec<&Command> = root.get_subcommands().filter(|command| !serves(command)).collect();
    // A command takes from a fraction of a second to many, so the tour and the studies are rare.
    let mut command = *commands.choose(random).expect("there are commands");
    if matches!(command.get_name(), "demo" | "reproduce") && random.random_range(0..8) > 0 {
        command = commands.iter().find(|command| command.get_name() == "fit").expect("there is fit");
    }
    let mut groups = vec![vec![command.get_name().to_owned()]];
    let all: Vec<&Arg> = command.get_arguments().chain(root.get_arguments()).collect();
    for arg in all.iter().filter(|arg| arg.is_positional() || arg.is_required_set()) {
        if random.random_range(0..20) > 0 {
            groups.push(group(random, arg));
        }
    }
    let options: Vec<&&Arg> =
        all.iter().filter(|arg| !arg.is_positional() && !arg.is_required_set()).collect();
    for _ in 0..random.random_range(0..4) {
        let arg = options.choose(random).expect("there are options");
        if !matches!(arg.get_action(), ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong) {
            groups.push(group(random, arg));
        }
    }
    let has = |name: &str| all.iter().any(|arg| arg.get_long() == Some(name));
    if has("budget") && random.random_range(0..4) > 0 {
        groups.push(vec![
            "--budget".into(),
            ["4MiB", "16MiB", "64MiB"].choose(random).expect("some").to_string(),
        ]);
    }
    if has("iterations") && random.random() {
        groups.push(vec!["--iterations".into(), "5".into()]);
    }
    if matches!(command.get_name(), "reproduce") {
        groups.push(vec!["--quick".into()]);
    }
    groups.push(vec!["--no-sync".into()]);
    if random.random() {
        groups.push(vec!["--json".into()]);
    }
    Line(groups)
}

/// Whether a command waits for visitors.
fn serves(command: &Command) -> bool {
    command.get_name() == "studio"
}

/// An argument with a value that may or may not make sense.
fn group(random: &mut impl Rng, arg: &Arg) -> Vec<String> {
    let flag = arg.get_long().map(|long| format!("--{long}"));
    let flag = flag.or_else(|| arg.get_short().map(|short| format!("-{short}")));
    let takes = arg.get_num_args().is_some_and(|range: ValueRange| range.takes_values());
    let takes = takes || matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let value = takes.then(|| value(random, arg));
    flag.into_iter().chain(value).collect()
}

fn value(random: &mut impl Rng, arg: &Arg) -> String {
    let possible = arg.get_possible_values();
    let odd = random.random_range(0..16) == 0;
    if !possible.is_empty() && !odd {
        return possible.choose(random).expect("not empty").get_name().to_owned();
    }
    let name = arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    let id = arg.get_id().as_str();
    let pool = if odd {
        [INPUTS, OUTPUTS, HOSTILE, TEXTS].choose(random).expect("pools")
    } else if WRITES.contains(&id) || TABLES_WRITTEN.contains(&id) {
        match (id, name) {
            _ if random.random_range(0..4) == 0 => OUTPUTS,
            ("checkpoint", _) => &["o.ck", "c.ck"],
            _ if TABLES_WRITTEN.contains(&id) => &["n.csv", "h.csv", "o.csv"],
            (_, "MODEL") => &["o.json", "o.uai", "o.npz", "o.json.gz"],
            (_, "IMAGE") => &["o.png", "q.png"],
            (_, "TABLE") => &["o.csv", "o.tsv", "o.npy"],
            (_, "DIR") => &["o", "d"],
            (_, "FILE.html") => &["o.html"],
            _ => &["o.csv", "o.svg", "o.html"],
        }
    } else {
        match name {
            "SIZE" => BUDGETS,
            "N" | "B" | "R" | "L" | "K" => COUNTS,
            "X" | "P" | "T" => NUMBERS,
            "MODEL" => &[
                "m.json",
                "m.json",
                "m.json",
                "g.json",
                "r.json",
                "m.uai",
                "m.npz",
                "broken.json",
                "none.json",
            ],
            "TABLE" => &["t.csv", "t.csv", "t.csv", "u.csv", "w.csv", "link.csv", "broken.csv", "empty.csv"],
            "FILE" | "FILE.evid" | "FILE.csv" | "IMAGE" | "DIR" => INPUTS,
            _ if arg.is_positional() && id == "model" => &["m.json", "m.json", "g.json", "r.json", "m.uai"],
            _ if arg.is_positional() => INPUTS,
            _ => TEXTS,
        }
    };
    let value = (*pool.choose(random).expect("not empty")).to_owned();
    // What counts work must not count for hours.
    if matches!(id, "threads") { "2".to_owned() } else { value }
}

/// Runs a line in a fresh copy of the folder. Returns exit code, memory and whether it took too long.
fn attempt(program: &Path, from: &Path, line: &Line) -> anyhow::Result<(i32, u64, bool)> {
    let place = tempfile::tempdir()?;
    let folder = place.path();
    copy(from, folder)?;
    let before = files::contents(folder)?;
    let arguments = line.arguments();
    let run = Run { program, folder, arguments: &arguments, limits: "", patience: PATIENCE };
    let ended = run.to_end()?;
    let (code, stderr) = (ended.code(), &ended.stderr);
    let allowed = CODES.contains(&code) || ended.timed_out && code == TERMINATED;
    ensure!(allowed, "exit code {code}: {stderr}");
    ensure!(!stderr.contains("panicked"), "{stderr}");
    ensure!(!stderr.contains('\u{1b}') || stderr.contains("\u{1b}["), "an escape on standard error");
    ensure!(code == 0 || ended.timed_out || !stderr.trim().is_empty(), "exit code {code} without a word");
    ensure!(code != 2 || ended.stdout.is_empty(), "a wrong line printed something on standard output");
    if arguments.iter().any(|word| word == "--json") && !ended.stdout.is_empty() && !asks_for_help(&arguments)
    {
        let parsed = serde_json::from_slice::<serde_json::Value>(&ended.stdout);
        parsed.with_context(|| format!("JSON: {}", String::from_utf8_lossy(&ended.stdout)))?;
    }
    ensure!(ended.memory <= line.budget() + MARGIN, "took {} MiB", ended.memory >> 20);
    let after = files::contents(folder)?;
    files::nothing_left(&after)?;
    for (name, content) in &before {
        let found = after.get(name).with_context(|| format!("{name} is gone"))?;
        // A machine may be replaced where a line says so; nothing else that is read.
        ensure!(
            found == content
                || name == "m.json"
                || !INPUTS.contains(&name.as_str())
                || is_written(&arguments, &WRITES, name)
                || is_written(&arguments, &TABLES_WRITTEN, name),
            "the input {name} was changed"
        );
    }
    for (name, content) in &after {
        if before.get(name) == Some(content) {
            continue;
        }
        // Tables of numbers may have any name.
        if is_written(&arguments, &TABLES_WRITTEN, name) {
            ensure!(content.last() == Some(&b'\n'), "{name}: cut");
        } else {
            files::is_whole(&folder.join(name)).with_context(|| format!("exit code {code}: {stderr}"))?;
        }
    }
    Ok((code, ended.memory, ended.timed_out))
}

/// Whether a line names a file as what one of some options writes.
fn is_written(arguments: &[String], options: &[&str], name: &str) -> bool {
    let is_option =
        |word: &str| word.strip_prefix("--").is_some_and(|id| options.contains(&&*id.replace('-', "_")));
    arguments.windows(2).any(|pair| is_option(&pair[0]) && pair[1].trim_start_matches("./") == name)
}

fn asks_for_help(arguments: &[String]) -> bool {
    arguments.iter().any(|word| matches!(word.as_str(), "--help" | "-h" | "--version" | "-V"))
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, new) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path())?, new)?;
        } else if kind.is_dir() {
            std::fs::create_dir(new)?;
        } else {
            std::fs::copy(entry.path(), new)?;
        }
    }
    Ok(())
}

/// Leaves arguments out as long as the line still fails.
fn shortest(program: &Path, from: &Path, mut line: Line, mut error: anyhow::Error) -> (Line, anyhow::Error) {
    let mut place = 1;
    while place < line.0.len() {
        let mut shorter = line.clone();
        shorter.0.remove(place);
        match attempt(program, from, &shorter) {
            Err(found) => (line, error) = (shorter, found),
            Ok(_) => place += 1,
        }
    }
    (line, error)
}
