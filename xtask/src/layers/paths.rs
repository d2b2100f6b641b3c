//! The paths in a file that lead to the crate root, outside tests.

use super::tokens::{Token, tokens};

/// What a file uses of the crate.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// Names that are looked up at the crate root, in the order of the file.
    pub(super) names: Vec<Name>,
    /// Modules that are declared for tests alone and are in files of their own.
    pub(super) test_modules: Vec<Vec<String>>,
}

/// A name at the crate root: `engine` in `crate::engine::Engine`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// The name; `*` where everything is imported.
    pub(super) text: String,
    /// The line on which it stands.
    pub(super) line: usize,
}

/// Finds the paths of a file that is the given module.
pub(super) fn scan(text: &str, module: &[String]) -> Scan {
    let tokens = tokens(text);
    let mut scanner = Scanner { tokens: &tokens, scopes: Vec::new(), module, scan: Scan::default() };
    scanner.run();
    scanner.scan
}

/// A name that the crate root exports, and the first segment of the path that it stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Export {
    /// The name; `*` where everything is exported.
    pub(super) name: String,
    /// A module of the crate, or another crate.
    pub(super) origin: String,
}

/// The modules that the crate root declares, and the names that it imports or re-exports.
pub(super) fn root(text: &str) -> (Vec<String>, Vec<Export>) {
    let tokens = tokens(text);
    let (mut modules, mut exports) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        if let Some(next) = test_item(&tokens, at) {
            at = next.end;
            continue;
        }
        match tokens[at].text {
            "mod" => {
                modules.push(word(&tokens, at + 1).to_owned());
                at += 2;
            }
            "use" => at = export(&tokens, at + 1, &[], &mut exports),
            _ => at += 1,
        }
    }
    (modules, exports)
}

/// Reads one tree of a `use` at the crate root below a path, and returns where it ends.
fn export<'a>(tokens: &[Token<'a>], mut at: usize, path: &[&'a str], exports: &mut Vec<Export>) -> usize {
    let mut path = path.to_vec();
    let mut alias = None;
    loop {
        match word(tokens, at) {
            "{" => {
                at += 1;
                while at < tokens.len() && word(tokens, at) != "}" {
                    at = export(tokens, at, &path, exports);
                    at += usize::from(word(tokens, at) == ",");
                }
                return at + 1;
            }
            "," | ";" | "}" | "" => break,
            "as" => {
                alias = Some(word(tokens, at + 1));
                at += 1;
            }
            "crate" | "self" | "::" => {}
            segment => path.push(segment),
        }
        at += 1;
    }
    if let (Some(origin), Some(last)) = (path.first(), path.last()) {
        exports.push(Export { name: alias.unwrap_or(last).to_owned(), origin: (*origin).to_owned() });
    }
    at
}

/// The text of a token, empty behind the last.
fn word<'a>(tokens: &[Token<'a>], at: usize) -> &'a str {
    tokens.get(at).map_or("", |token| token.text)
}

/// An item that is compiled for tests alone.
struct TestItem {
    /// The token behind it.
    end: usize,
    /// Its name, if it is a module in another file.
    module: Option<String>,
}

/// The item at a token, if it is marked `#[cfg(test)]`.
fn test_item(tokens: &[Token<'_>], at: usize) -> Option<TestItem> {
    let mut start = at;
    let mut is_test = false;
    while word(tokens, start) == "#" && word(tokens, start + 1) == "[" {
        let end = closing(tokens, start + 1);
        is_test |= is_for_tests(&tokens[start + 2..end]);
        start = end + 1;
    }
    if !is_test {
        return None;
    }
    if word(tokens, start) == "pub" {
        start += 1;
        if word(tokens, start) == "(" {
            start = closing(tokens, start) + 1;
        }
    }
    let is_function = word(tokens, start) == "const" && matches!(word(tokens, start + 1), "fn" | "unsafe");
    match word(tokens, start) {
        "use" | "const" | "static" | "type" if !is_function => {
            let end = end_of(tokens, start, |text| text == ";");
            Some(TestItem { end: end + 1, module: None })
        }
        keyword @ ("mod" | "fn" | "impl" | "struct" | "enum" | "trait" | "unsafe" | "async" | "const") => {
            let end = end_of(tokens, start, |text| text == ";" || text == "{");
            let is_block = word(tokens, end) == "{";
            let module = (keyword == "mod" && !is_block).then(|| word(tokens, start + 1).to_owned());
            let end = if is_block { closing(tokens, end) } else { end };
            Some(TestItem { end: end + 1, module })
        }
        // What cannot be delimited is counted.
        _ => None,
    }
}

/// Whether an attribute limits what follows to tests: `cfg(test)` or `cfg(all(…, test, …))`.
fn is_for_tests(attribute: &[Token<'_>]) -> bool {
    let words: Vec<&str> = attribute.iter().map(|token| token.text).collect();
    match words[..] {
        ["cfg", "(", "test", ")"] => true,
        ["cfg", "(", "all", "(", ref inner @ .., ")", ")"] => {
            let mut depth = 0_usize;
            inner.iter().any(|&word| {
                match word {
                    "(" => depth += 1,
                    ")" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0 && word == "test"
            })
        }
        _ => false,
    }
}

/// The bracket that closes the one at a token; the end of the file if none does.
fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// The first token from `at` on that is an end and stands within no brackets.
fn end_of(tokens: &[Token<'_>], mut at: usize, is_end: impl Fn(&str) -> bool) -> usize {
    while at < tokens.len() && !is_end(tokens[at].text) {
        at = if matches!(tokens[at].text, "(" | "[" | "{") { closing(tokens, at) + 1 } else { at + 1 };
    }
    at
}

struct Scanner<'a> {
    tokens: &'a [Token<'a>],
    /// For each open brace, the module that it opens, if any.
    scopes: Vec<Option<&'a str>>,
    module: &'a [String],
    scan: Scan,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) {
        if [0, 1, 2].map(|at| self.word(at)) == ["#", "!", "["]
            && is_for_tests(&self.tokens[3..closing(self.tokens, 2)])
        {
            return;
        }
        let mut at = 0;
        while at < self.tokens.len() {
            if let Some(item) = test_item(self.tokens, at) {
                if let Some(name) = item.module {
                    let mut path: Vec<String> = self.here().into_iter().map(str::to_owned).collect();
                    path.push(name);
                    self.scan.test_modules.push(path);
                }
                at = item.end;
                continue;
            }
            at = match self.word(at) {
                "mod" if self.word(at + 2) == "{" => {
                    self.scopes.push(Some(self.word(at + 1)));
                    at + 3
                }
                "{" => {
                    self.scopes.push(None);
                    at + 1
                }
                "}" => {
                    self.scopes.pop();
                    at + 1
                }
                "crate" if self.begins_path(at) => self.path(at + 2, &[], None),
                "super" if self.begins_path(at) => self.path(at, &self.here(), None),
                _ => at + 1,
            };
        }
    }

    fn word(&self, at: usize) -> &'a str {
        word(self.tokens, at)
    }

    /// The module in which the current token stands.
    fn here(&self) -> Vec<&'a str> {
        let inline = self.scopes.iter().flatten().copied();
        self.module.iter().map(String::as_str).chain(inline).collect()
    }

    /// Whether `crate` or `super` begins a path to an item here; in `pub(in …)` it names a scope.
    fn begins_path(&self, at: usize) -> bool {
        let is_visibility = at >= 3 && [3, 2, 1].map(|back| self.word(at - back)) == ["pub", "(", "in"];
        self.word(at + 1) == "::" && !is_visibility
    }

    /// Reads the rest of a path below a module, and returns where it ends. `first` is the name at
    /// the crate root, once it is known.
    fn path(&mut self, mut at: usize, module: &[&'a str], mut first: Option<Name>) -> usize {
        let mut module = module.to_vec();
        loop {
            match self.word(at) {
                "super" => {
                    module.pop();
                }
                "{" => {
                    at += 1;
                    while at < self.tokens.len() && self.word(at) != "}" {
                        let end = self.path(at, &module, first.clone());
                        // A comma, or a token that no path holds.
                        at = if end == at || self.word(end) == "," { end + 1 } else { end };
                    }
                    return at + 1;
                }
                text => {
                    let is_segment = text == "*" || text.starts_with(|c: char| c.is_alphabetic() || c == '_');
                    if first.is_none() && module.is_empty() && is_segment {
                        let line = self.tokens[at].line;
                        first = Some(Name { text: text.to_owned(), line });
                    }
                    if !is_segment {
                        break;
                    }
                    module.push(text);
                }
            }
            at += 1;
            if self.word(at) != "::" {
                break;
            }
            at += 1;
        }
        self.scan.names.extend(first);
        if self.word(at) == "as" { at + 2 } else { at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(path: &str) -> Vec<String> {
        path.split("::").map(str::to_owned).collect()
    }

    /// The names that a file uses, each with its line.
    fn names(path: &str, text: &str) -> Vec<(String, usize)> {
        scan(text, &module(path)).names.into_iter().map(|name| (name.text, name.line)).collect()
    }

    fn only_names(path: &str, text: &str) -> Vec<String> {
        names(path, text).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn paths_from_the_crate_root_are_found() {
        let text = "use crate::engine::Engine;\npub(crate) use crate::Machine;\nfn f() { crate::learn::fit(); }\n\
                    let x: Vec<crate::Graph> = $crate::table::<T>::new();";
        assert_eq!(
            names("score", text),
            [("engine", 1), ("Machine", 2), ("learn", 3), ("Graph", 4), ("table", 4)]
                .map(|(name, line)| (name.to_owned(), line))
        );
    }

    #[test]
    fn lists_are_taken_apart_with_their_lines() {
        let text = "use crate::{\n    engine::{self, Gibbs as G, exact::{Tape, Step}},\n    learn::*,\n    Result,\n};\n\
                    use crate::table::Table;";
        assert_eq!(
            names("score", text),
            [
                ("engine", 2),
                ("engine", 2),
                ("engine", 2),
                ("engine", 2),
                ("learn", 3),
                ("Result", 4),
                ("table", 6)
            ]
            .map(|(name, line)| (name.to_owned(), line))
        );
        assert_eq!(only_names("score", "use crate::*;"), ["*"]);
    }

    #[test]
    fn chains_of_super_count_where_they_leave_the_top_module() {
        assert_eq!(only_names("learn::closed_form", "use super::start::Start;"), [] as [&str; 0]);
        assert_eq!(only_names("learn::closed_form", "use super::super::engine::Engine;"), ["engine"]);
        assert_eq!(only_names("learn", "use super::{engine::Engine, Machine};"), ["engine", "Machine"]);
        // A module within the file is one step more.
        let text = "mod inner { use super::super::Machine; fn f() { super::g(); } } use super::Graph;";
        assert_eq!(only_names("learn", text), ["Machine", "Graph"]);
        assert_eq!(only_names("learn::a", "for x in super::super::score::rows() {}"), ["score"]);
    }

    #[test]
    fn scopes_of_visibility_comments_and_strings_do_not_count() {
        let text = "pub(crate) fn f() {} pub(in crate::engine) fn g() {} pub(in super::super) fn h() {}\n\
                    /// See [`crate::score`].\n//! crate::score\nconst X: &str = \"crate::score\";";
        assert_eq!(only_names("learn::a", text), [] as [&str; 0]);
    }

    #[test]
    fn tests_do_not_count() {
        for text in [
            "#[cfg(test)]\nmod tests { use crate::score::Score; }",
            "#[cfg(all(test, feature = \"x\"))]\n#[allow(unused)]\nuse crate::{score, engine};",
            "#[inline]\n#[cfg(test)]\npub(super) fn f(x: [u8; 3]) -> u8 { crate::score::f(x) }",
            "#[cfg(test)]\nconst fn f() { crate::score::f() }",
            "#[cfg(test)]\nconst X: u8 = { crate::score::f() };",
            "#![cfg(test)]\nuse crate::score;",
        ] {
            let text = format!("{text}\nuse crate::table;");
            let expected: &[&str] = if text.starts_with("#!") { &[] } else { &["table"] };
            assert_eq!(only_names("learn", &text), expected, "{text}");
        }
        assert_eq!(only_names("learn", "#[cfg(not(test))]\nuse crate::score;"), ["score"]);
        assert_eq!(only_names("learn", "#[cfg(any(test, unix))]\nuse crate::score;"), ["score"]);
        let found =
            scan("#[cfg(test)]\nmod tests;\nmod inner { #[cfg(test)] mod more; }", &module("learn::a"));
        assert_eq!(found.test_modules, [module("learn::a::tests"), module("learn::a::inner::more")]);
    }

    #[test]
    fn the_root_says_where_names_come_from() {
        let text = "pub mod engine;\nmod error;\n#[cfg(test)]\nmod tests;\n\
                    pub use engine::{Engine, exact::{self, Tape as T}};\npub use crate::error::*;\n\
                    pub use num_complex::Complex64;";
        let (modules, exports) = root(text);
        assert_eq!(modules, ["engine", "error"]);
        let exports: Vec<_> = exports.iter().map(|export| (&export.name[..], &export.origin[..])).collect();
        assert_eq!(
            exports,
            [
                ("Engine", "engine"),
                ("exact", "engine"),
                ("T", "engine"),
                ("*", "error"),
                ("Complex64", "num_complex")
            ]
        );
    }
}
