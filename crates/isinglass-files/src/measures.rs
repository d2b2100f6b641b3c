//! Tables of results: names in the first columns, numbers in the others.

use std::io::{self, Write};

use crate::table::{end_line, push_text};

/// Writes rows of names and numbers as CSV; a number that is NaN is an empty cell.
///
/// # Example
/// ```
/// let mut bytes = Vec::new();
/// let rows = [(vec!["ann"], vec![0.5, f64::NAN]), (vec!["b, c"], vec![2.0, -1.0])];
/// isinglass_files::write_measures(&["unit", "strength", "closeness"], rows, &mut bytes)?;
/// assert_eq!(String::from_utf8(bytes)?, "unit,strength,closeness\nann,0.5,\n\"b, c\",2,-1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The output cannot be written to.
pub fn write_measures<N: AsRef<str>>(
    header: &[&str],
    rows: impl IntoIterator<Item = (Vec<N>, Vec<f64>)>,
    output: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let mut line = Vec::new();
    for name in header {
        push_text(&mut line, name.as_bytes(), b',');
        line.push(b',');
    }
    end_line(&mut line);
    output.write_all(&line)?;
    for (names, numbers) in rows {
        line.clear();
        for name in names {
            push_text(&mut line, name.as_ref().as_bytes(), b',');
            line.push(b',');
        }
        for number in numbers {
            if !number.is_nan() {
                write!(line, "{number}")?;
            }
            line.push(b',');
        }
        end_line(&mut line);
        output.write_all(&line)?;
    }
    Ok(())
}
