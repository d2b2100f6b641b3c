//! The words that cells are written in, and which of them go together in one column.

use crate::error::{Fault, quoted};

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

/// The kinds as they are named to users, in the order of their bits.
const NAMES: [&str; 6] = ["1/-1", "0/1", "true/false", "yes/no", "y/n", "+/-"];

const MISSING_WORDS: &str = "nothing, NA, NaN or ? for a missing cell";

/// A cell that has been understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    /// The kinds that the word belongs to; none for something that is no word.
    pub(crate) kinds: Kinds,
    /// −1, +1, or 0 for a missing cell.
    pub(crate) value: i8,
}

/// A cell without a value; it goes with every kind.
pub(crate) const MISSING: Word = Word { kinds: ALL, value: 0 };

/// A one in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// What is none of the words.
const UNKNOWN: Word = Word { kinds: 0, value: 0 };

const fn up(kinds: Kinds) -> Word {
    Word { kinds, value: 1 }
}

const fn down(kinds: Kinds) -> Word {
    Word { kinds, value: -1 }
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

/// The longest word with quotation marks around it.
const LONGEST: usize = 7;

/// A factor that sends every word to a place of its own among the [`SLOTS`]; found when this is compiled.
const FACTOR: u64 = {
    let mut factor = 0x9e37_79b9_7f4a_7c15;
    while slots(factor).is_none() {
        factor = factor.wrapping_mul(0x5851_f42d_4c95_7f2d);
    }
    factor
};

/// The words, bare and in quotation marks, each at the place of its key.
static SLOTS: [(u64, Word); 256] = match slots(FACTOR) {
    Some(slots) => slots,
    None => unreachable!(),
};

/// A place that no key finds: keys have at most seven bytes.
const FREE: (u64, Word) = (u64::MAX, UNKNOWN);

/// The words at their places, if no two have the same.
const fn slots(factor: u64) -> Option<[(u64, Word); 256]> {
    let mut slots = [FREE; 256];
    let mut k = 0;
    while k < 2 * WORDS.len() {
        let (text, word) = WORDS[k / 2];
        let (bytes, length) = (pack(text), text.len());
        let key = if k % 2 == 0 { key(bytes, length) } else { key(in_quotes(bytes, length), length + 2) };
        let place = (key.wrapping_mul(factor) >> 56) as usize;
        if slots[place].0 != u64::MAX {
            return None;
        }
        slots[place] = (key, word);
        k += 1;
    }
    Some(slots)
}

/// A packed text with quotation marks around it.
const fn in_quotes(bytes: u64, length: usize) -> u64 {
    let mark = b'"' as u64;
    mark | (bytes << 8) | (mark << (8 * (length + 1)))
}

/// The key of a packed text: its length stands in the highest byte, so that zero bytes count.
#[inline]
const fn key(bytes: u64, length: usize) -> u64 {
    bytes | ((length as u64) << 56)
}

/// At most seven bytes as one number.
const fn pack(text: &[u8]) -> u64 {
    let mut key = 0;
    let mut k = text.len();
    while k > 0 {
        k -= 1;
        key = (key << 8) | text[k] as u64;
    }
    key
}

impl Word {
    /// The word with a key, letters in lower or upper case.
    #[inline]
    fn of_key(key: u64) -> Self {
        // Bytes from 0x40 on are letters but for a few, and none of those few becomes a letter.
        let lower = key | ((key & 0x4040_4040_4040_4040) >> 1);
        let (found, word) = SLOTS[(lower.wrapping_mul(FACTOR) >> 56) as usize];
        if found == lower { word } else { UNKNOWN }
    }

    /// The word of a short cell that begins here and ends with the separator, and its length.
    ///
    /// One look at eight bytes finds the end of the cell and its word without a branch on either. Anything that is
    /// not so simple (long cells, spaces, doubled quotation marks) gives `None`.
    #[inline]
    pub(crate) fn at_start(text: &[u8], separator: u8) -> Option<(Self, usize)> {
        let eight = u64::from_le_bytes(*text.first_chunk()?);
        // The lowest byte that equals the separator gets its highest bit set, and none below it does.
        let different = eight ^ (u64::from(separator) * ONES);
        let ends = different.wrapping_sub(ONES) & !different & (ONES << 7);
        if ends == 0 {
            return None;
        }
        let length = ends.trailing_zeros() as usize / 8;
        let word = Self::of_key(key(eight & ((1 << (8 * length)) - 1), length));
        (word.kinds != 0).then_some((word, length))
    }

    /// The word of a cell, spaces around it and upper or lower case aside.
    #[inline]
    pub(crate) fn of(cell: &[u8]) -> Self {
        let cell = cell.trim_ascii();
        if cell.len() > LONGEST || cell.first() == Some(&b'"') {
            return UNKNOWN;
        }
        Self::of_key(key(pack(cell), cell.len()))
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

/// What is wrong with a cell in a column whose cells so far leave it the given kinds.
pub(crate) fn fault(cell: &[u8], so_far: Kinds) -> Fault {
    let found = quoted(cell);
    if Word::of(cell).kinds != 0 {
        let above = list(so_far);
        return Fault::whole(format!(
            "found {found}, but the rows above hold {above}: one column uses one kind of word"
        ));
    }
    let expected = list(so_far);
    let above = if so_far == ALL { "" } else { " as in the rows above" };
    let fault = Fault::whole(format!("found {found}, expected {expected}{above}, or {MISSING_WORDS}"));
    match hint(cell) {
        Some(hint) => fault.with_hint(hint),
        None => fault,
    }
}

/// What is wrong with a number in a column whose cells so far leave it the given kinds.
pub(crate) fn number_fault(number: f64, so_far: Kinds) -> Fault {
    Fault::whole(if Word::of_number(number).kinds != 0 {
        format!(
            "found {number}, but the rows above hold {}: a column holds 1 and -1, or 0 and 1",
            list(so_far)
        )
    } else {
        format!("found {number}, expected 1 and -1, or 0 and 1, or NaN for a missing cell")
    })
}

fn hint(cell: &[u8]) -> Option<String> {
    let text = str::from_utf8(cell).ok()?.trim();
    if text.parse::<f64>().is_ok_and(|number| Word::of_number(number).kinds != 0) {
        return Some(
            "the table was probably written with float columns: write them as integers, 1, 0 or -1".into(),
        );
    }
    let separator = text.chars().find(|c| matches!(c, ';' | '\t' | '|'))?;
    Some(format!("cells seem to be separated by {separator:?}: a .csv file uses commas, a .tsv file tabs"))
}

/// The kinds of a set in words.
fn list(kinds: Kinds) -> String {
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
        assert_eq!(Word::of(b"+1"), Word { kinds: PLUS_MINUS_ONE, value: 1 });
        for missing in ["", "  ", "NA", "nan", "NaN", "?", " ? ", "\t"] {
            assert_eq!(Word::of(missing.as_bytes()), MISSING);
        }
        for unknown in ["maybe", "2", "1.0", "t", "f", "on", "null", "N/A", "++", "truee", "\u{2212}1"] {
            assert_eq!(Word::of(unknown.as_bytes()).kinds, 0, "{unknown}");
        }
    }

    #[test]
    fn a_look_at_eight_bytes_finds_the_same_words() {
        for (text, word) in WORDS {
            let text = str::from_utf8(text).unwrap();
            for cell in [text.to_owned(), text.to_uppercase(), format!("\"{text}\"")] {
                let line = format!("{cell},no,1,,,,,,");
                assert_eq!(Word::at_start(line.as_bytes(), b','), Some((word, cell.len())), "{line}");
            }
        }
        for line in [
            "maybe,,,,",
            "12345678,",
            "\"a,b\",,,,",
            "\"\"\",\",,,",
            " 1,,,,,,,",
            "\u{11},,,,,,,",
            "\0,,,,,,,",
        ] {
            assert_eq!(Word::at_start(line.as_bytes(), b','), None, "{line}");
        }
        for byte in 0..=u8::MAX {
            let known = WORDS.iter().any(|(text, _)| *text == [byte.to_ascii_lowercase()]);
            assert_eq!(Word::of_key(key(byte.into(), 1)).kinds != 0, known, "{byte}");
        }
    }

    #[test]
    fn kinds_are_listed_as_a_person_would() {
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
