//! What is written from the definitions that the command line uses: the reference of all settings,
//! and the parameters of Python's estimators.

use std::fmt::Write as _;

use crate::groups::{Definition, EngineGroup, LearnerGroup};
use crate::{EngineName, LearnerName};

const HEAD: &str = "\
# Reference: settings of engines and learners

<!-- Written by `cargo xtask reference` from the settings structs. -->

A setting has one name: `--max-sweeps` on the command line, the keyword `max_sweeps` in Python, the method `max_sweeps` of the engine or learner in Rust. \
Engines and learners that are not listed under *Settings* have none. All of them have a seed (`--seed`; `seed`, in estimators `random_state`) and a memory budget (`--budget`, `budget`) where they need one.
";

/// The page `docs/reference.md`: every engine and learner with its settings.
#[must_use]
pub fn reference() -> String {
    let engines = EngineName::ALL.iter().map(|name| (name.word(), name.about()));
    let learners = LearnerName::ALL.iter().map(|name| (name.word(), name.about()));
    let mut page = HEAD.to_owned();
    part(&mut page, ("Engines", "--engine", "engine"), engines, &EngineGroup::definitions());
    part(&mut page, ("Learners", "--learner", "learner"), learners, &LearnerGroup::definitions());
    page
}

/// The settings as parameters of Python's estimators, each name once.
#[must_use]
pub fn python_parameters() -> String {
    let mut lines: Vec<String> = Vec::new();
    for Definition { arg, description, .. } in
        LearnerGroup::definitions().into_iter().chain(EngineGroup::definitions())
    {
        let line = format!("    {}: {} | None = None\n", arg.get_id(), description.python);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.concat()
}

/// All engines or all learners: their names, then their settings.
fn part(
    page: &mut String,
    (title, flag, keyword): (&str, &str, &str),
    names: impl Iterator<Item = (&'static str, String)>,
    definitions: &[Definition],
) {
    let _ = writeln!(page, "\n## {title}\n\n| `{flag}`, `{keyword}` | |\n|---|---|");
    for (word, about) in names {
        let _ = writeln!(page, "| `{word}` | {} |", cell(&about));
    }
    for settings in definitions.chunk_by(|a, b| a.owners == b.owners) {
        let _ = writeln!(page, "\n### Settings of {}\n", settings[0].owners.join(", "));
        let _ = writeln!(page, "| flag | keyword | default | accepted | meaning |\n|---|---|---|---|---|");
        page.extend(settings.iter().map(row));
    }
}

fn row(Definition { arg, description, .. }: &Definition) -> String {
    let (keyword, flag) = (arg.get_id(), arg.get_long().unwrap_or_default());
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let default = description.default.as_ref().map_or_else(|| "–".into(), |default| format!("`{default}`"));
    let (default, accepted) = if arg.get_action().takes_values() {
        (default, cell(&description.accepted))
    } else {
        ("off".into(), "a switch; in Python True or False".into())
    };
    format!("| `--{flag}` | `{keyword}` | {default} | {accepted} | {} |\n", cell(&help))
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_learner_and_setting_is_listed() {
        let page = reference();
        let engines = EngineName::ALL.iter().map(|name| name.word());
        for word in engines.chain(LearnerName::ALL.iter().map(|name| name.word())) {
            assert!(page.contains(&format!("\n| `{word}` | ")), "{word}");
        }
        for Definition { arg, .. } in EngineGroup::definitions().iter().chain(&LearnerGroup::definitions()) {
            assert!(page.contains(&format!(" | `{}` | ", arg.get_id())), "{}", arg.get_id());
        }
        let damping = "\n| `--damping` | `damping` | `0` | a number of at least 0 and below 1 | Share of";
        assert!(page.contains(damping), "{page}");
    }

    #[test]
    fn parameters_of_python_have_one_type_each() {
        let parameters = python_parameters();
        let mut names: Vec<&str> =
            parameters.lines().map(|line| line.split_once(':').map_or(line, |(name, _)| name)).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{parameters}");
        assert!(parameters.contains("    anneal: str | tuple[float, int] | None = None\n"), "{parameters}");
    }
}
