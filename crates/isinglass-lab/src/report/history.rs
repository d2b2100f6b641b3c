//! The history of a fit, as written by `fit --history`.

use isinglass::learn::Step;
use isinglass::{Error, Result};

/// The columns of a history.
const COLUMNS: [&str; 3] = ["iteration", "objective", "gradient_norm"];

/// Reads the iterations of a fit from CSV with the columns `iteration`, `objective` and
/// `gradient_norm`.
///
/// # Errors
/// Another header, or a line that is not an integer and two numbers; with the number of the line.
///
/// # Example
/// ```
/// let steps = isinglass_lab::report::parse_history("iteration,objective,gradient_norm\n0,-2.5,0.1\n")?;
/// assert_eq!((steps[0].iteration, steps[0].objective), (0, -2.5));
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn parse_history(text: &str) -> Result<Vec<Step>> {
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or("", |(_, line)| line.trim_start_matches('\u{feff}').trim());
    if header.split(',').ne(COLUMNS) {
        let problem = format!("found the header '{header}', expected '{}'", COLUMNS.join(","));
        return Err(Error::invalid("line 1", problem));
    }
    let step = |line: &str| {
        let mut cells = line.trim().split(',');
        let step = Step {
            iteration: cells.next()?.parse().ok()?,
            objective: cells.next()?.parse().ok()?,
            gradient_norm: cells.next()?.parse().ok()?,
        };
        cells.next().is_none().then_some(step)
    };
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(k, line)| {
            step(line).ok_or_else(|| {
                let problem = format!("found '{line}', expected an iteration and two numbers");
                Error::invalid(format!("line {}", k + 1), problem)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_lines_are_named() {
        let message = |text: &str| parse_history(text).unwrap_err().to_string();
        let header = "iteration,objective,gradient_norm";
        assert_eq!(
            message("a,b\n0,1"),
            "line 1: found the header 'a,b', expected 'iteration,objective,gradient_norm'"
        );
        assert_eq!(
            message(&format!("{header}\n0,1,2\n1,x,2\n")),
            "line 3: found '1,x,2', expected an iteration and two numbers"
        );
        assert!(message(&format!("{header}\n0,1,2,3\n")).starts_with("line 2"));
        assert!(message("").starts_with("line 1"));
        assert_eq!(parse_history(&format!("{header}\r\n0,1,2\r\n\r\n")).unwrap().len(), 1);
    }
}
