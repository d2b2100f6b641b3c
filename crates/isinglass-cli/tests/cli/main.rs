//! The command line as its users meet it: one test binary, one file for each concern.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod aliases;
mod answers;
mod approximate;
mod bad_input;
mod bounds;
mod checkpoint;
mod comparing;
mod completing;
mod covariates;
mod denoising;
mod diagnostics;
mod encoding;
mod fitting;
mod gaps;
mod growing;
mod help;
mod learners;
mod limits;
mod networks;
mod reporting;
mod reproducible;
mod reproducing;
mod scanning;
mod touring;

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own for a test, with the program run in it.
struct Room {
    folder: TempDir,
}

impl Room {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path().join(name), content).unwrap();
        self
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Names of all files, sorted.
    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Run with a command line as a user would type it.
    fn run(&self, line: &str) -> Output {
        let program = Command::cargo_bin("isinglass");
        program.unwrap().current_dir(self.path()).args(line.split_whitespace()).output().unwrap()
    }

    #[track_caller]
    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "isinglass {line}\n{stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn json(&self, line: &str) -> Value {
        let text = self.ok(&format!("{line} --json"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error}\n{text}"))
    }

    /// Exit code and message of a command line that must fail, and must not panic.
    #[track_caller]
    fn fails(&self, line: &str) -> (i32, String) {
        let output = self.run(line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!message.contains("panicked"), "isinglass {line}\n{message}");
        assert!(output.stdout.is_empty(), "isinglass {line}: a failure prints nothing on standard output");
        (output.status.code().unwrap(), message)
    }
}
