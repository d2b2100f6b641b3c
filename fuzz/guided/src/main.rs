//! The targets under libFuzzer; the environment variable ISINGLASS_FUZZ_TARGET names one.
#![no_main]

use std::sync::OnceLock;

use isinglass_fuzz::{Desk, Target, room, target};

static DESK: OnceLock<(&'static Target, Desk)> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (target, desk) = DESK.get_or_init(|| {
        let name = std::env::var("ISINGLASS_FUZZ_TARGET").expect("ISINGLASS_FUZZ_TARGET names a target");
        // It lives as long as the program, which libFuzzer ends.
        let folder = room().expect("temporary files can be written").keep();
        (target(&name).expect("a target of this name"), Desk::new(folder))
    });
    (target.run)(desk, bytes);
});
