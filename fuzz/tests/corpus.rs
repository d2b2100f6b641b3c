//! Every file of the corpus, and every one that once failed, is read as it should be.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use isinglass_fuzz::{TARGETS, run};

#[test]
fn the_corpus_and_the_found_cases_are_read() {
    for target in TARGETS {
        let report = run(target, Duration::ZERO, 0, 2).unwrap();
        assert!(report.found.is_none(), "{}: {:?}", target.name, report.found);
        assert!(report.corpus > 0, "{} has a corpus", target.name);
    }
}
