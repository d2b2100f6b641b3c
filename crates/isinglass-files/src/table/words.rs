//! The words that cells are written in, and which of them may share a column.

use super::problem::TableProblem;
use crate::error::{Fault, Hint, Quoted};

/// A set of the kinds of word that a column may be written in, one bit for each of [`NAMES`].
pub(crate) type Kinds = u8;

const PLUS_MINUS_ONE: Kinds = 1 << 0;
const ZERO_ONE: Kinds = 1 << 1;
const TRUE_FALSE: Kinds = 1 << 2;
const YES_NO: Kinds = 1 << 3;
const Y_N: Kinds = 1 << 4;
const SIGN: Kinds = 1 << 5;

/// All kinds: what is known of a column before its first word.
pub(crate) const ALL: Kinds = (1 << NAMES.len()) - 1;

/// The names of the kinds for users, in the order of their bits.
const NAMES: [&str; 6] = ["1/-1", "0/1", "true/false", "yes/no", "y/n", "+/-"];

pub(super) const MISSING_WORDS: &str = "nothing, NA, NaN or ? for a missing cell";

/// A cell that has been understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    /// The kinds that the word belongs to; none for something that is not a word.
    pub(crate) kinds: Kinds,
    /// −1, +1, or 0 for a missing cell.
    pub(crate) value: i8,
    /// How its letters are written.
    pub(crate) case: Case,
}

/// How the letters of a word are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Case {
    /// `yes`, or no letters at all.
    #[default]
    Lower,
    /// `Yes`.
    Capital,
    /// `YES`.
    Upper,
}

impl Case {
    fn of(word: &[u8]) -> Self {
        match word {
            [first, .., last] if first.is_ascii_uppercase() && !last.is_ascii_uppercase() => Self::Capital,
            [first, ..] if first.is_ascii_uppercase() => Self::Upper,
            _ => Self::Lower,
        }
    }
}

/// A cell without a value; it belongs to every kind.
pub(crate) const MISSING: Word = Word { kinds: ALL, value: 0, case: Case::Lower };

/// Anything that is not a word.
const UNKNOWN: Word = Word { kinds: 0, value: 0, case: Case::Lower };

const fn up(kinds: Kinds) -> Word {
    Word { kinds, value: 1, case: Case::Lower }
}

const fn down(kinds: Kinds) -> Word {
    Word { kinds, value: -1, case: Case::Lower }
}

/// All words in lower case.
const WORDS: [(&[u8], Word); 16] = [
    (b"", MISSING),
    (b"na", MISSING),
    (b"nan", MISSING),
    (b"?", MISSING),
    (b"1", up(PLUS_MINUS_ONE | ZERO_ONE)),
    (b"+1", up(PLUS_MINUS_ONE)),
    (b"-1", down(PLUS_MINUS_ONE)),
    (b"0", down(ZERO_ONE)),
    (b"true", up(TRUE_FALSE)),
    (b"false", down(TRUE_FALSE)),
    (b"yes", up(YES_NO)),
    (b"no", down(YES_NO)),
    (b"y", up(Y_N)),
    (b"n", down(Y_N)),
    (b"+", up(SIGN)),
    (b"-", down(SIGN)),
];

/// The words of one byte, in lower and upper case, by that byte.
static SINGLE: [Word; 256] = {
    let mut table = [UNKNOWN; 256];
    let mut k = 0;
    while k < WORDS.len() {
        if let ([byte], word) = WORDS[k] {
            let upper = byte.to_ascii_uppercase();
            let case = if upper == *byte { Case::Lower } else { Case::Upper };
            table[upper as usize] = Word { case, ..word };
            table[*byte as usize] = word;
        }
        k += 1;
    }
    // A cell of one space is an empty cell.
    table[b' ' as usize] = MISSING;
    table[b'\t' as usize] = MISSING;
    table
};

impl Word {
    /// The word of a cell of one byte.
    #[inline]
    pub(crate) fn of_byte(byte: u8) -> Self {
        SINGLE[usize::from(byte)]
    }

    /// The word of a cell, spaces around it and upper or lower case aside.
    pub(crate) fn of(cell: &[u8]) -> Self {
        match cell.trim_ascii() {
            [byte] => Self::of_byte(*byte),
            b"-1" => down(PLUS_MINUS_ONE),
            cell => {
                let known = WORDS.iter().find(|(text, _)| text.eq_ignore_ascii_case(cell));
                known.map_or(UNKNOWN, |&(_, word)| Word { case: Case::of(cell), ..word })
            }
        }
    }

    /// Whether this is a word for −1 or +1.
    pub(crate) fn is_value(self) -> bool {
        self.value != 0
    }

    /// The word of a number, for formats whose cells are numbers.
    pub(crate) fn of_number(number: f64) -> Self {
        if number == 1.0 {
            up(PLUS_MINUS_ONE | ZERO_ONE)
        } else if number == -1.0 {
            down(PLUS_MINUS_ONE)
        } else if number == 0.0 {
            down(ZERO_ONE)
        } else if number.is_nan() {
            MISSING
        } else {
            UNKNOWN
        }
    }

    /// The word of a truth value.
    #[cfg(feature = "parquet")]
    pub(crate) fn of_truth(truth: bool) -> Self {
        if truth { up(TRUE_FALSE) } else { down(TRUE_FALSE) }
    }
}

/// The two words of a kind, in lower case: for −1 and for +1.
const PAIRS: [[&str; 2]; NAMES.len()] =
    [["-1", "1"], ["0", "1"], ["false", "true"], ["no", "yes"], ["n", "y"], ["-", "+"]];

/// What a column writes for −1 and for +1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    /// The words.
    pub(crate) words: [String; 2],
    /// The numbers, where only numbers can be written.
    pub(crate) numbers: [i64; 2],
}

impl Pair {
    fn new(kind: Kinds, case: Case) -> Self {
        let words = PAIRS[kind.trailing_zeros() as usize].map(|word| match case {
            Case::Lower => word.to_owned(),
            Case::Upper => word.to_uppercase(),
            Case::Capital => word[..1].to_uppercase() + &word[1..],
        });
        let low = if kind & (ZERO_ONE | TRUE_FALSE) == 0 { -1 } else { 0 };
        Self { words, numbers: [low, 1] }
    }

    /// What a column writes, from the kinds left to it and its case.
    ///
    /// A column that could be of several kinds follows the first column of the table that is of
    /// only one of these; where there is none, it writes `1/-1`.
    pub(crate) fn of_column(own: (Kinds, Case), table: &Known) -> Self {
        if own.0.is_power_of_two() {
            return Self::new(own.0, own.1);
        }
        let (kind, case) = table.first_of(own.0).unwrap_or((PLUS_MINUS_ONE, own.1));
        Self::new(kind, case)
    }
}

/// For each kind, the first column of a table that can be of no other: its place and its case.
#[derive(Debug, Default)]
pub(crate) struct Known([Option<(usize, Case)>; NAMES.len()]);

impl Known {
    /// Those of columns.
    pub(crate) fn of(columns: &[(Kinds, Case)]) -> Self {
        let mut known = Self::default();
        for (place, &(kinds, case)) in columns.iter().enumerate() {
            if kinds.is_power_of_two() {
                known.0[kinds.trailing_zeros() as usize].get_or_insert((place, case));
            }
        }
        known
    }

    /// The first column that is of one of these kinds.
    fn first_of(&self, kinds: Kinds) -> Option<(Kinds, Case)> {
        let fits = (0..NAMES.len()).filter(|bit| kinds >> bit & 1 == 1);
        let first =
            fits.filter_map(|bit| self.0[bit].map(|(place, case)| (place, bit, case))).min_by_key(|f| f.0);
        first.map(|(_, bit, case)| (1 << bit, case))
    }
}

/// What is wrong with a cell in a column whose cells above leave it the given kinds.
pub(crate) fn fault(cell: &[u8], above: Kinds) -> Fault {
    let found = Quoted::new(cell);
    if Word::of(cell).kinds != 0 {
        return TableProblem::MixedWords { found, above }.into();
    }
    let fault = Fault::from(TableProblem::UnknownWord { found, above });
    match hint(cell) {
        Some(hint) => fault.with_hint(hint),
        None => fault,
    }
}

/// What is wrong with a number in a column whose cells above leave it the given kinds.
pub(crate) fn number_problem(found: f64, above: Kinds) -> TableProblem {
    if Word::of_number(found).kinds != 0 {
        TableProblem::MixedNumbers { found, above }
    } else {
        TableProblem::UnknownNumber(found)
    }
}

fn hint(cell: &[u8]) -> Option<Hint> {
    let text = str::from_utf8(cell).ok()?.trim();
    if text.parse::<f64>().is_ok_and(|number| Word::of_number(number).kinds != 0) {
        return Some(Hint::FloatColumns);
    }
    text.chars().find(|c| matches!(c, ';' | '\t' | '|')).map(Hint::Separator)
}

/// The kinds of a set in words.
pub(super) fn list(kinds: Kinds) -> String {
    let names: Vec<_> = (0..NAMES.len()).filter(|bit| kinds >> bit & 1 == 1).map(|bit| NAMES[bit]).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_two_words() {
        let pairs: [(&str, &str); 6] =
            [("1", "-1"), ("1", "0"), ("True", "FALSE"), (" yes ", "No"), ("Y", "n"), ("+", "-")];
        for (bit, (plus, minus)) in pairs.into_iter().enumerate() {
            let (plus, minus) = (Word::of(plus.as_bytes()), Word::of(minus.as_bytes()));
            assert_eq!((plus.value, minus.value), (1, -1));
            assert_eq!(plus.kinds & minus.kinds, 1 << bit, "{}", NAMES[bit]);
        }
        assert_eq!(Word::of(b"+1"), Word { kinds: PLUS_MINUS_ONE, value: 1, case: Case::Lower });
        for missing in ["", "  ", "NA", "nan", "NaN", "?", " ? ", "\t"] {
            assert_eq!(Word { case: Case::Lower, ..Word::of(missing.as_bytes()) }, MISSING);
        }
        for unknown in ["maybe", "2", "1.0", "t", "f", "on", "null", "N/A", "++", "truee", "\u{2212}1"] {
            assert_eq!(Word::of(unknown.as_bytes()).kinds, 0, "{unknown}");
        }
    }

    #[test]
    fn single_bytes_are_the_words_of_one_letter() {
        for byte in 0..=u8::MAX {
            let text = [byte.to_ascii_lowercase()];
            let known = WORDS.iter().find(|(word, _)| *word == text.trim_ascii());
            let expected = known.map_or(UNKNOWN, |&(_, word)| Word { case: Case::of(&[byte]), ..word });
            assert_eq!(
                Word::of_byte(byte),
                if b"\n\r\x0c".contains(&byte) { UNKNOWN } else { expected },
                "{byte}"
            );
        }
    }

    #[test]
    fn columns_write_the_words_that_they_hold() {
        let column = |cells: &[&str]| {
            let words: Vec<Word> = cells.iter().map(|cell| Word::of(cell.as_bytes())).collect();
            (words.iter().fold(ALL, |kinds, word| kinds & word.kinds), words[0].case)
        };
        let written = |columns: &[&[&str]]| -> Vec<String> {
            let columns: Vec<_> = columns.iter().map(|cells| column(cells)).collect();
            columns.iter().map(|own| Pair::of_column(*own, &Known::of(&columns)).words.join("/")).collect()
        };
        for (up, expected) in [
            ("1,-1", "-1/1"),
            ("1,0", "0/1"),
            ("True", "False/True"),
            ("NO", "NO/YES"),
            ("n", "n/y"),
            ("Y", "N/Y"),
            ("+", "-/+"),
        ] {
            assert_eq!(written(&[&up.split(',').collect::<Vec<_>>()]), [expected]);
        }
        // A column without values, and one of ones only, are written as the first unambiguous one.
        assert_eq!(
            written(&[&["?"], &["1"], &["TRUE"], &["1", "0"]]),
            ["FALSE/TRUE", "0/1", "FALSE/TRUE", "0/1"]
        );
        assert_eq!(written(&[&["1"], &["yes"]]), ["-1/1", "no/yes"]);
        assert_eq!(Pair::of_column(column(&["0"]), &Known::of(&[column(&["y"])])).numbers, [0, 1]);
        assert_eq!(Pair::of_column(column(&["y"]), &Known::of(&[column(&["0"])])).numbers, [-1, 1]);
    }

    #[test]
    fn kinds_are_listed_in_words() {
        assert_eq!(list(PLUS_MINUS_ONE), "1/-1");
        assert_eq!(list(PLUS_MINUS_ONE | ZERO_ONE), "1/-1 or 0/1");
        assert_eq!(list(ALL), "1/-1, 0/1, true/false, yes/no, y/n or +/-");
    }

    #[test]
    fn numbers_are_the_words_of_their_digits() {
        for number in [-1, 0, 1, 2] {
            assert_eq!(Word::of_number(f64::from(number)), Word::of(number.to_string().as_bytes()));
        }
        assert_eq!(Word::of_number(f64::NAN), MISSING);
        assert_eq!(Word::of_number(0.5).kinds, 0);
    }
}
