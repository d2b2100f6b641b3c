//! The page as HTML: one file with style, script and numbers.

use serde::Serialize;

const STYLE: &str = include_str!("page/style.css");

/// The script, its parts in order of dependence.
const SCRIPT: [&str; 14] = [
    include_str!("page/tools.js"),
    include_str!("page/view.js"),
    include_str!("page/overview.js"),
    include_str!("page/curve.js"),
    include_str!("page/heatmap.js"),
    include_str!("page/network.js"),
    include_str!("page/edges.js"),
    include_str!("page/centrality.js"),
    include_str!("page/stability.js"),
    include_str!("page/methods.js"),
    include_str!("page/scatter.js"),
    include_str!("page/rows.js"),
    include_str!("page/pictures.js"),
    include_str!("page/main.js"),
];

/// The content policy: the page loads nothing but what it contains.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Returns the page with a title and its numbers.
pub(super) fn page(title: &str, numbers: &impl Serialize) -> String {
    let title = escaped(title);
    let script = SCRIPT.concat();
    let numbers = as_script(numbers);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <main id=\"report\"><noscript>This page needs JavaScript for its figures.</noscript></main>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n\
         <script type=\"application/json\" id=\"numbers\">{numbers}</script>\n\
         <script>\n(function () {{\n'use strict';\n{script}}})();\n</script>\n</body>\n</html>\n"
    )
}

/// Serialises to JSON that cannot close its `<script>` element, whatever names contain.
fn as_script(numbers: &impl Serialize) -> String {
    // Only maps with keys other than strings could fail; the report has none.
    let text = serde_json::to_string(numbers).unwrap_or_else(|_| "null".into());
    // These characters occur inside JSON strings only.
    text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Escapes text as the content of an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_cannot_close_their_element() {
        let evil = "</script><b>&\u{2028}<!--";
        let page = page(evil, &json!({"name": evil}));
        assert!(page.contains("<title>&lt;/script&gt;&lt;b&gt;&amp;"));
        assert!(page.contains(r#"{"name":"\u003c/script>\u003cb>&\u2028\u003c!--"}"#));
        assert!(!page.contains("<b>") && !page.contains("<!--"));
        assert_eq!(page.matches("</script>").count(), 2);
    }

    #[test]
    fn the_page_is_self_contained() {
        let page = page("", &json!(null));
        for outside in ["http://", "https://", "url(", "@import", "src=", "href=", "fetch(", "XMLHttp"] {
            // The namespace of SVG is a name, not an address.
            let found = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!found.contains(outside), "{outside}");
        }
    }
}
