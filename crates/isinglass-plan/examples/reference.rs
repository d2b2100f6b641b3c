//! Prints the page `docs/reference.md`, or, with the argument `python`, the parameters of Python's
//! estimators; `cargo xtask reference` writes both.

#[expect(clippy::print_stdout, reason = "this is what the program is for")]
fn main() {
    let is_python = std::env::args().nth(1).is_some_and(|argument| argument == "python");
    print!("{}", if is_python { isinglass_plan::python_parameters() } else { isinglass_plan::reference() });
}
