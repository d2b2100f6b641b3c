//! The layers of the core crate: which module may use which, and the graph of those that do.
//!
//! `cargo xtask layers` reads the paths of `crates/isinglass/src` that lead to the crate root,
//! fails on one that [`LAYERS`] does not allow, and writes the graph into `ARCHITECTURE.md`.

mod paths;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::written::{self, Mode};

/// The modules of the core from bottom to top. A module may use those of lower layers, and those
/// listed before it in its own.
const LAYERS: [&[&str]; 9] = [
    &["message", "cancel", "progress", "budget", "error", "settings", "note", "numeric"],
    &["graph", "optimize"],
    &["machine"],
    &["table"],
    &["engine"],
    &["search", "likelihood", "bracket", "complete"],
    &["learn"],
    &["score", "network"],
    &["prelude"],
];

const SOURCE: &str = "crates/isinglass/src";
const PAGE: &str = "ARCHITECTURE.md";

/// The comments between which the graph stands in the page.
const BEGIN: &str = "<!-- layers: written by `cargo xtask layers` -->";
const END: &str = "<!-- layers: end -->";

/// Checks the layers, and writes the graph into the page or checks it there.
pub(crate) fn run(mode: Mode) -> Result<(), String> {
    let mut files = Vec::new();
    collect(Path::new(SOURCE), &mut files)?;
    let graph = Graph::of(&files)?;
    let problems = graph.problems(&LAYERS);
    if !problems.is_empty() {
        return Err(format!(
            "{}\n{} problems with the layers (LAYERS in xtask/src/layers/mod.rs)",
            problems.join("\n"),
            problems.len()
        ));
    }
    written::section(mode, PAGE, (BEGIN, END), &graph.section(&LAYERS))
}

/// A source file: its path, and its text.
type File = (String, String);

fn collect(folder: &Path, files: &mut Vec<File>) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(problem)? {
        let path = entry.map_err(problem)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push((path.to_string_lossy().replace('\\', "/"), read(&path)?));
        }
    }
    files.sort();
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The module of a source file; empty for the crate root.
fn module_of(path: &str) -> Vec<String> {
    let inside = path.strip_prefix(SOURCE).unwrap_or(path).trim_start_matches('/');
    let mut module: Vec<String> = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
        module.pop();
    }
    module
}

/// Which of the top modules use which, and where.
#[derive(Debug, Default)]
struct Graph {
    modules: BTreeSet<String>,
    /// For each pair of modules, the places where the first uses the second.
    uses: BTreeMap<(String, String), BTreeSet<(String, usize)>>,
    /// Names that lead to no module.
    unknown: Vec<String>,
}

impl Graph {
    fn of(files: &[File]) -> Result<Self, String> {
        let root = files.iter().find(|(path, _)| module_of(path).is_empty());
        let (_, root) = root.ok_or_else(|| format!("{SOURCE}: expected a file lib.rs"))?;
        let (modules, exports) = paths::root(root);
        let modules: BTreeSet<String> = modules.into_iter().collect();
        let mut origins: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for export in &exports {
            // What comes from another crate belongs to no module.
            let origin = modules.get(&export.origin).map(String::as_str);
            if export.name == "*" {
                return Err(format!("{SOURCE}/lib.rs: `use {}::*` hides what it exports", export.origin));
            }
            origins.insert(&export.name, origin);
        }
        origins.extend(modules.iter().map(|module| (module.as_str(), Some(module.as_str()))));
        let scans = files.iter().map(|(path, text)| {
            let module = module_of(path);
            (path, paths::scan(text, &module), module)
        });
        let scans: Vec<_> = scans.collect();
        let tests: Vec<&Vec<String>> = scans.iter().flat_map(|(_, scan, _)| &scan.test_modules).collect();
        let mut graph = Self { modules: modules.clone(), ..Self::default() };
        for (path, scan, module) in &scans {
            let Some(from) = module.first() else { continue };
            if tests.iter().any(|test| module.starts_with(test)) {
                continue;
            }
            for name in &scan.names {
                match origins.get(name.text.as_str()) {
                    Some(Some(to)) if to != from => {
                        let edge = (from.clone(), (*to).to_owned());
                        graph.uses.entry(edge).or_default().insert(((*path).clone(), name.line));
                    }
                    Some(_) => {}
                    None => graph.unknown.push(format!(
                        "{path}:{}: crate::{} is neither a module nor a name that lib.rs exports from one",
                        name.line, name.text
                    )),
                }
            }
        }
        Ok(graph)
    }

    /// The modules that a module uses.
    fn used_by(&self, module: &str) -> impl Iterator<Item = &str> {
        self.uses.keys().filter(move |(from, _)| from == module).map(|(_, to)| to.as_str())
    }

    /// Everything that the layers do not allow, each with its place.
    fn problems(&self, layers: &[&[&str]]) -> Vec<String> {
        let rank = |module: &str| layers.iter().copied().flatten().position(|&known| known == module);
        let mut problems = self.unknown.clone();
        for module in self.modules.iter().filter(|module| rank(module).is_none()) {
            problems.push(format!("{SOURCE}/lib.rs: the module {module} has no layer"));
        }
        for module in layers.iter().copied().flatten().filter(|&&module| !self.modules.contains(module)) {
            problems.push(format!("{SOURCE}/lib.rs: there is no module {module}, and it has a layer"));
        }
        for ((from, to), places) in &self.uses {
            // What has no layer was reported above.
            if let (Some(user), Some(used)) = (rank(from), rank(to))
                && used >= user
            {
                problems.extend(places.iter().map(|(path, line)| {
                    format!("{path}:{line}: {from} may not use {to}, which is above it in the layers")
                }));
            }
        }
        problems
    }

    /// The graph for the page: a diagram of the uses that no others imply, and a table of all.
    fn section(&self, layers: &[&[&str]]) -> String {
        let mut text = String::from("```mermaid\ngraph BT\n");
        let all: Vec<&str> = layers.iter().copied().flatten().copied().collect();
        // Writing to a string cannot fail.
        for &module in &all {
            let direct: Vec<&str> = self.used_by(module).collect();
            for &used in &direct {
                if !direct.iter().any(|&other| other != used && self.reaches(other, used)) {
                    let _ = writeln!(text, "    {used} --> {module}");
                }
            }
        }
        text += "```\n\n| layer | module | uses |\n|---|---|---|\n";
        for (number, &layer) in layers.iter().enumerate() {
            for &module in layer {
                let used: BTreeSet<&str> = self.used_by(module).collect();
                let names: Vec<String> = all
                    .iter()
                    .filter(|&&module| used.contains(module))
                    .map(|module| format!("`{module}`"))
                    .collect();
                let names = if names.is_empty() { "–".to_owned() } else { names.join(", ") };
                let _ = writeln!(text, "| {} | `{module}` | {names} |", number + 1);
            }
        }
        text
    }

    /// Whether a module uses another, directly or through others. The graph has no cycle.
    fn reaches(&self, from: &str, to: &str) -> bool {
        self.used_by(from).any(|used| used == to || self.reaches(used, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: [&[&str]; 3] = [&["graph"], &["learn"], &["score"]];

    fn graph(files: &[(&str, &str)]) -> Graph {
        let root = "pub mod graph;\npub mod learn;\npub mod score;\npub use score::Score;\npub use learn::Fit;\n\
                    pub use num_complex::Complex64;\n";
        let files = [("lib.rs", root)].into_iter().chain(files.iter().copied());
        let files: Vec<File> =
            files.map(|(path, text)| (format!("{SOURCE}/{path}"), text.to_owned())).collect();
        Graph::of(&files).unwrap()
    }

    #[test]
    fn a_learner_may_not_use_scores() {
        let good = graph(&[("score/mod.rs", "use crate::learn::Fit;\nuse crate::Complex64;")]);
        assert_eq!(good.problems(&SMALL), [] as [&str; 0]);
        for text in ["\nuse crate::score;", "\nuse crate::{\nFit, Score};", "\nfn f() { super::score::g(); }"]
        {
            let line = if text.contains('{') && text.contains("Fit") { 3 } else { 2 };
            assert_eq!(
                graph(&[("learn/mod.rs", text)]).problems(&SMALL),
                [format!(
                    "{SOURCE}/learn/mod.rs:{line}: learn may not use score, which is above it in the layers"
                )]
            );
        }
    }

    #[test]
    fn order_counts_within_a_layer() {
        let layers: [&[&str]; 2] = [&["graph", "learn"], &["score"]];
        assert!(graph(&[("learn.rs", "use crate::graph;")]).problems(&layers).is_empty());
        assert_eq!(graph(&[("graph.rs", "use crate::learn;")]).problems(&layers).len(), 1);
    }

    #[test]
    fn modules_of_tests_are_left_out() {
        let declared = ("learn/mod.rs", "#[cfg(test)]\nmod tests;");
        let found = graph(&[declared, ("learn/tests.rs", "use crate::score;"), ("learn/a.rs", "")]);
        assert!(found.problems(&SMALL).is_empty());
        let found = graph(&[("learn/mod.rs", "mod tests;"), ("learn/tests.rs", "use crate::score;")]);
        assert_eq!(found.problems(&SMALL).len(), 1);
    }

    #[test]
    fn modules_without_a_layer_and_unknown_names_are_reported() {
        let problems =
            graph(&[("learn.rs", "use crate::Missing;")]).problems(&[&["graph"], &["score"], &["top"]]);
        assert_eq!(
            problems,
            [
                format!(
                    "{SOURCE}/learn.rs:1: crate::Missing is neither a module nor a name that lib.rs exports from one"
                ),
                format!("{SOURCE}/lib.rs: the module learn has no layer"),
                format!("{SOURCE}/lib.rs: there is no module top, and it has a layer"),
            ]
        );
    }

    #[test]
    fn the_page_shows_every_use_and_draws_those_that_no_others_imply() {
        let found = graph(&[
            ("learn.rs", "use crate::graph;"),
            ("score.rs", "use crate::graph;\nuse crate::learn;\nuse crate::learn::Fit;"),
        ]);
        let section = "```mermaid\ngraph BT\n    graph --> learn\n    learn --> score\n```\n\n\
                       | layer | module | uses |\n|---|---|---|\n| 1 | `graph` | – |\n\
                       | 2 | `learn` | `graph` |\n| 3 | `score` | `graph`, `learn` |\n";
        assert_eq!(found.section(&SMALL), section);
    }

    #[test]
    fn files_are_modules() {
        let module = |path: &str| module_of(&format!("{SOURCE}/{path}")).join("::");
        assert_eq!(module("lib.rs"), "");
        assert_eq!(module("error.rs"), "error");
        assert_eq!(module("engine/exact/mod.rs"), "engine::exact");
        assert_eq!(module("engine/exact/tape.rs"), "engine::exact::tape");
    }
}
