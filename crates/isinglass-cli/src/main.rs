//! The binary `isinglass`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(isinglass_cli::main(std::env::args_os()))
}
