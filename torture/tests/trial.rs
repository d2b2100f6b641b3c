//! The trial runs, and says what it has tried.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::Command;

#[test]
fn parts_that_need_no_program_are_tried() {
    let trial = env!("CARGO_BIN_EXE_isinglass-torture");
    // They run no program, so any that exists will do.
    let output = Command::new(trial).args([trial, "2", "--seed", "3", "exact", "bounds"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}");
    for words in ["agree with a plain sum", "lower bounds that hold", "upper bounds that hold"] {
        assert!(told.contains(words), "{told}");
    }
    let wrong = Command::new(trial).args([trial, "1", "nothing"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}
