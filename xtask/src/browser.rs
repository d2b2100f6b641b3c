//! Reports in a browser: written by the program, opened in headless Chromium, used as by a reader.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::say;
use crate::steps::{REQUIRE_ALL, run};

/// The script that opens and uses the pages.
const SCRIPT: &str = "xtask/browser/check.mjs";

/// The driver of the browser, from the registry of Node packages.
const DRIVER: &str = "playwright-core@1";

/// The largest page of a machine of a thousand units that are all coupled.
const MOST_BYTES: u64 = 10_000_000;

/// Where pages, screenshots and the driver are kept.
fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    target.join("browser")
}

/// Installs what is missing, writes pages and tests them; screenshots stay in `target/browser`.
pub(crate) fn all() -> Result<(), String> {
    install()?;
    run("cargo", &["build", "--quiet", "--package", "isinglass-cli"], &[])?;
    test_pages(&folder(), &[&votes, &digits, &sparse, &dense, &names])
}

/// Installs what is missing: the browser from Debian's packages, its driver from the registry of
/// Node packages.
pub(crate) fn install() -> Result<(), String> {
    let folder = folder();
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    if !is_installed("chromium") {
        run("apt-get", &["--quiet", "update"], &[])?;
        let packages = ["chromium", "fonts-dejavu-core"];
        let options = ["install", "--yes", "--quiet", "--no-install-recommends"];
        run("apt-get", &[&options[..], &packages].concat(), &[])?;
    }
    if !driver_is_installed(&folder) {
        let place = folder.display().to_string();
        run("npm", &["install", "--no-save", "--no-audit", "--no-fund", "--prefix", &place, DRIVER], &[])?;
    }
    Ok(())
}

/// Tests the small pages alone, with the program that the tests have built, if a browser and its
/// driver are installed. Otherwise it prints that nothing was tested.
pub(crate) fn if_installed() -> Result<(), String> {
    let folder = folder();
    if is_installed("chromium") && is_installed("node") && driver_is_installed(&folder) {
        return test_pages(&folder, &[&votes, &names]);
    }
    let missing = "reports in a browser (no Chromium or no driver; cargo xtask browser installs them)";
    if std::env::var_os(REQUIRE_ALL).is_some() {
        return Err(format!("every check is required here: {missing}"));
    }
    say(&format!("SKIPPED: {missing}"));
    Ok(())
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success())
}

fn driver_is_installed(folder: &Path) -> bool {
    folder.join("node_modules/playwright-core").is_dir()
}

/// Writes a page with the program.
type Maker<'a> = &'a dyn Fn(&Program) -> Result<(), String>;

fn test_pages(folder: &Path, makers: &[Maker<'_>]) -> Result<(), String> {
    let pages = folder.join("pages");
    let problem = |error: std::io::Error| format!("{}: {error}", pages.display());
    if pages.exists() {
        fs::remove_dir_all(&pages).map_err(problem)?;
    }
    fs::create_dir_all(&pages).map_err(problem)?;
    let program = Program { pages: pages.clone() };
    for make in makers {
        make(&program)?;
    }
    // Node looks for the driver beside the script.
    let script = folder.join("check.mjs");
    fs::copy(SCRIPT, &script).map_err(|error| format!("{SCRIPT}: {error}"))?;
    run("node", &[&script.display().to_string(), &pages.display().to_string()], &[])?;
    say(&format!("   {} holds pages and screenshots", pages.display()));
    Ok(())
}

/// The program, run in the folder of the pages.
struct Program {
    pages: PathBuf,
}

impl Program {
    fn run(&self, line: &str) -> Result<(), String> {
        say(&format!("── isinglass {line}"));
        // The pages are in target/browser, the program in target/debug.
        let program = self.pages.join("../../debug/isinglass").canonicalize();
        let program = program.map_err(|error| format!("isinglass: {error}"))?;
        let status = Command::new(program)
            .current_dir(&self.pages)
            .args(line.split_whitespace())
            .arg("--quiet")
            .status();
        let status = status.map_err(|error| format!("isinglass {line}: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("isinglass {line}: {status}")) }
    }

    fn write(&self, name: &str, content: &str) -> Result<(), String> {
        let path = self.pages.join(name);
        fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Copies a table of the project beside the pages.
    fn copy(&self, table: &str) -> Result<(), String> {
        let content =
            fs::read_to_string(format!("data/{table}")).map_err(|error| format!("{table}: {error}"))?;
        self.write(table, &content)
    }
}

/// All pairs of votes coupled; missing cells; a learning curve.
fn votes(program: &Program) -> Result<(), String> {
    program.copy("house_votes_84.csv")?;
    program.run("fit house_votes_84.csv --l2 0.003 -o votes.json --report votes.html")
}

/// Hidden units and pixels.
fn digits(program: &Program) -> Result<(), String> {
    program.copy("digits_8x8.csv")?;
    let fit = "fit digits_8x8.csv --drop digit --visible-links none --hidden 16 --l2 0.0005 --iterations 60";
    program.run(&format!("{fit} -o digits.json --report digits.html"))
}

/// A thousand units, three couplings each on average.
fn sparse(program: &Program) -> Result<(), String> {
    let units: u64 = 1000;
    let mut edges = String::new();
    let mut state: u64 = 1;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut known = std::collections::BTreeSet::new();
    // A chain, and further couplings, most of them short.
    known.extend((1..units).map(|unit| (unit - 1, unit)));
    while known.len() < 3 * units as usize / 2 {
        let a = next(units);
        let b = if next(10) == 0 { next(units) } else { (a + 2 + next(6)) % units };
        if a != b {
            known.insert((a.min(b), a.max(b)));
        }
    }
    for (a, b) in known {
        // Writing to a string cannot fail.
        let _ = writeln!(edges, "unit {a},unit {b}");
    }
    program.write("edges.csv", &edges)?;
    program.run("make edges --edges edges.csv --coupling normal:0,0.4 --bias normal:0,0.2 -o sparse.json")?;
    program.run("sample sparse.json -n 1000 -o sparse.csv")?;
    program.run("report sparse.json sparse.csv -o sparse.html")
}

/// A thousand units, all coupled: the page stays small enough.
fn dense(program: &Program) -> Result<(), String> {
    program.run("make sk -n 1000 --bias normal:0,0.1 -o dense.json")?;
    program.run("report dense.json -o dense.html")?;
    let path = program.pages.join("dense.html");
    let bytes = fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?.len();
    if bytes > MOST_BYTES {
        return Err(format!("{}: {bytes} bytes, expected at most {MOST_BYTES}", path.display()));
    }
    Ok(())
}

/// Names that HTML would misread.
fn names(program: &Program) -> Result<(), String> {
    let table = "</script><b>,\"<img src=x onerror=alert(1)>\",a&amp;b,\"it's, \"\"quoted\"\"\",<!--\n\
                 1,0,1,0,1\n0,1,0,1,0\n1,1,1,,0\n0,0,1,0,1\n1,0,0,0,0\n0,1,1,1,1\n";
    program.write("names.csv", table)?;
    program.run("fit names.csv --l2 0.1 -o names.json --report names.html")
}
