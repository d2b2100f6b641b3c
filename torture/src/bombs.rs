//! Small files that unpack to a lot, and tables that are large for their budget: the program refuses
//! them or reads them, and its memory stays within the budget and 256 MiB.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use flate2::Compression;
use flate2::write::GzEncoder;
use rand::RngExt as _;

use crate::run::{Run, words};
use crate::trial::Trial;

const MARGIN: u64 = 256 << 20;

/// What files unpack to, in MiB.
const SIZE: usize = 1024;

pub(crate) fn run(trial: &mut Trial) -> anyhow::Result<()> {
    let place = tempfile::tempdir()?;
    let folder = place.path();
    pack(folder, "rows.csv.gz", &long("a,b\n", "1,0\n"))?;
    pack(folder, "line.csv.gz", &long("", "a"))?;
    pack(folder, "wide.csv.gz", &long("a", ",a"))?;
    pack(folder, "quote.tsv.gz", &long("a\tb\n1\t\"", "\n"))?;
    pack(folder, "space.json.gz", &long("{\"format\": \"isinglass/1\"", " "))?;
    pack(folder, "units.json.gz", &long("{\"format\": \"isinglass/1\", \"units\": [", "{},"))?;
    pack(folder, "numbers.uai.gz", &long("MARKOV\n", "2 "))?;
    let head = npy_head("|i1", &format!("({}, 2)", SIZE << 19));
    pack(folder, "rows.npy.gz", &|out| {
        out(&head);
        (0..SIZE).for_each(|_| out(&vec![1; 1 << 20]));
    })?;
    archive(&folder.join("bias.npz"))?;
    let lines = [
        ("fit rows.csv.gz -o x.json", "budget"),
        ("fit line.csv.gz -o x.json", "a line has more than"),
        ("fit wide.csv.gz -o x.json", "a line has more than"),
        ("fit quote.tsv.gz -o x.json", "a line has more than"),
        ("info space.json.gz", "unpacked, it has more than"),
        ("info units.json.gz", "unpacked, it has more than"),
        ("info numbers.uai.gz", "unpacked, it has more than"),
        ("fit rows.npy.gz -o x.json", "unpacked, it has more than"),
        ("info bias.npz", "array 'bias': has more than"),
    ];
    // All of them once, whatever the time, and again with other budgets while there is time.
    for round in 0.. {
        for (line, expected) in lines {
            if round > 0 && !trial.goes_on() {
                return Ok(());
            }
            let budget = if round == 0 { 64 } else { trial.random.random_range(1..=256u64) };
            let line = format!("{line} --budget {budget}MiB");
            let arguments = words(&line);
            let patience = Duration::from_secs(120);
            let run = Run { program: &trial.program, folder, arguments: &arguments, limits: "", patience };
            let ended = run.to_end()?;
            let (code, message) = (ended.code(), &ended.stderr);
            ensure!(code == 1 && message.contains(expected), "isinglass {line}: {code} {message}");
            ensure!(message.contains("hint: give more --budget"), "isinglass {line}: {message}");
            ensure!(ended.memory <= (budget << 20) + MARGIN, "isinglass {line}: {} MiB", ended.memory >> 20);
            trial.note_memory(ended.memory, budget << 20, &line);
            trial.count("files that unpack to a GiB, refused");
        }
    }
    Ok(())
}

/// Takes the next bytes of a content.
type Put<'a> = &'a mut dyn FnMut(&[u8]);

/// A head, and then the same text again and again.
fn long(head: &'static str, body: &'static str) -> impl Fn(Put<'_>) {
    move |out| {
        out(head.as_bytes());
        let piece = body.repeat((1 << 20) / body.len());
        (0..SIZE).for_each(|_| out(piece.as_bytes()));
    }
}

/// Writes a compressed file of a content that is made piece by piece.
fn pack(folder: &Path, name: &str, content: &dyn Fn(Put<'_>)) -> anyhow::Result<()> {
    let file = std::fs::File::create(folder.join(name))?;
    let mut encoder = GzEncoder::new(std::io::BufWriter::new(file), Compression::fast());
    let mut done = Ok(());
    content(&mut |bytes| {
        if done.is_ok() {
            done = encoder.write_all(bytes);
        }
    });
    done?;
    encoder.finish()?.flush()?;
    Ok(())
}

fn npy_head(kind: &str, shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes
}

fn archive(path: &Path) -> anyhow::Result<()> {
    use zip::write::{SimpleFileOptions, ZipWriter};
    let mut zip = ZipWriter::new(std::fs::File::create(path)?);
    zip.start_file("bias.npy", SimpleFileOptions::default())?;
    zip.write_all(&npy_head("|i1", &format!("({},)", SIZE << 20)))?;
    (0..SIZE).try_for_each(|_| zip.write_all(&vec![1; 1 << 20]))?;
    zip.finish()?;
    Ok(())
}
