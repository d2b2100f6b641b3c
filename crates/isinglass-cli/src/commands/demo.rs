//! `isinglass demo`: the tour on data built into the program.

mod digits;
mod files;
mod votes;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args as ClapArgs, ValueEnum};
use isinglass_files::create_folder;
use isinglass_lab::{Accuracy, Progress};
use serde_json::{Map, Value, json};

use self::files::{Content, Entry, Reserved};
use super::reproduce::Bar;
use crate::options::{Common, keep_files_apart};
use crate::report;

#[derive(ClapArgs)]
#[command(
    after_help = "Examples:\n  isinglass demo\n  isinglass demo --part votes -o votes-only\n\nThe tour ends by saying what to try next."
)]
pub(crate) struct Args {
    /// The folder for tables, models, pictures and pages
    #[arg(short, long, value_name = "DIR", default_value = "isinglass-demo")]
    output: PathBuf,
    /// Take one part of the tour [default: all of it]
    #[arg(long, value_name = "PART")]
    part: Option<Part>,
}

/// A part of the tour.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// How the US House voted in 1984: party, who votes with whom, hidden cells
    Votes,
    /// Handwritten digits: halves completed, digits drawn
    Digits,
}

/// What a part of the tour gives.
struct Stop {
    /// What is printed.
    story: String,
    /// What JSON reports.
    document: Map<String, Value>,
    /// For the part's files, in the order of its entries.
    contents: Vec<Content>,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Votes => "votes",
            Self::Digits => "digits",
        }
    }

    fn entries(self) -> &'static [Entry] {
        match self {
            Self::Votes => &votes::ENTRIES,
            Self::Digits => &digits::ENTRIES,
        }
    }

    fn visit(self, seed: u64, progress: &dyn Progress) -> anyhow::Result<Stop> {
        match self {
            Self::Votes => votes::visit(seed, progress),
            Self::Digits => digits::visit(seed, progress),
        }
    }

    /// Commands to try, with the folder in them.
    fn next(self, folder: &Path) -> Vec<String> {
        let folder = folder.display();
        match self {
            Self::Votes => votes::next(&folder),
            Self::Digits => digits::next(&folder),
        }
    }
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let folder = &args.output;
    let parts = args.part.map_or_else(|| Part::value_variants().to_vec(), |part| vec![part]);
    create_folder(folder)?;
    let paths: Vec<PathBuf> =
        parts.iter().flat_map(|part| part.entries()).flat_map(|entry| files::paths(folder, entry)).collect();
    keep_files_apart(&paths)?;
    // Everything is reserved before anything is computed.
    let reserved: Vec<Vec<Reserved>> = parts
        .iter()
        .map(|part| part.entries().iter().map(|entry| Reserved::new(folder, entry)).collect())
        .collect::<anyhow::Result<_>>()?;
    let mut document = Map::new();
    let (mut paths, mut seconds) = (Vec::new(), 0.0);
    for (k, (part, reserved)) in parts.iter().zip(reserved).enumerate() {
        let bar = Bar::start(part.name(), (k + 1, parts.len()), common)?;
        let began = Instant::now();
        let stop = part.visit(common.seed, &bar)?;
        bar.finish();
        for (reserved, content) in reserved.into_iter().zip(stop.contents) {
            paths.extend(reserved.write(content)?);
        }
        let taken = began.elapsed().as_secs_f64();
        seconds += taken;
        document.extend(stop.document);
        if !common.json {
            report::text(&format!("{}({taken:.1} s)\n\n", stop.story))?;
        }
    }
    if common.json {
        document.extend([
            ("seed".to_owned(), common.seed.into()),
            ("seconds".to_owned(), seconds.into()),
            ("files".to_owned(), json!(paths)),
        ]);
        return common.print_json(&document);
    }
    report::text(&ending(&parts, folder))
}

/// Which files there are, and what to try next.
fn ending(parts: &[Part], folder: &Path) -> String {
    let mut out = format!("In {}:\n\n", folder.display());
    let rows: Vec<Vec<String>> = parts
        .iter()
        .flat_map(|part| part.entries())
        .map(|entry| vec![entry.name.to_owned(), entry.what.to_owned()])
        .collect();
    out += &report::columns(&["file", "what it is"], &rows);
    if cfg!(feature = "png") {
        out += "\nEach picture is there as PNG, too.\n";
    }
    out += "\nWhat to try next:\n\n";
    for line in parts.iter().flat_map(|part| part.next(folder)) {
        out += &format!("  {line}\n");
    }
    out += "\nand then a table of your own: `isinglass fit TABLE.csv -o MODEL.json --report PAGE.html`\n";
    out
}

/// A table of guesses: who guesses, and how many per cent are right.
fn accuracies(guesses: &[(&str, &Accuracy)]) -> String {
    let rows: Vec<Vec<String>> = guesses
        .iter()
        .map(|(name, guess)| {
            vec![
                (*name).to_owned(),
                format!("{:.1}", 100.0 * guess.share()),
                format!("{:.1}", 100.0 * guess.error),
            ]
        })
        .collect();
    report::columns(&["guessed by", "right, %", "± s.e."], &rows)
}

/// A guess for JSON.
fn accuracy(guess: &Accuracy) -> Value {
    json!({"accuracy": guess.share(), "error": guess.error, "right": guess.correct, "asked": guess.total})
}
