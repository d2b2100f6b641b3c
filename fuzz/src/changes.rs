//! Random changes of a file.

use rand::{Rng, RngExt as _};

use crate::Target;

/// The largest file that is made.
const LARGEST: usize = 1 << 14;

/// Numbers that programs seldom expect.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "2",
    "255",
    "256",
    "65536",
    "4294967295",
    "18446744073709551615",
    "1e308",
    "1e-320",
    "nan",
    "inf",
];

/// Changes some bytes of a file, with another file of the corpus at hand.
pub fn change(random: &mut impl Rng, target: &Target, file: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..1 << random.random_range(0..4) {
        once(random, target, &mut bytes, other);
    }
    bytes.truncate(LARGEST);
    bytes
}

fn once(random: &mut impl Rng, target: &Target, bytes: &mut Vec<u8>, other: &[u8]) {
    let place = random.random_range(0..=bytes.len());
    let length = random.random_range(1..=16usize);
    let end = (place + length).min(bytes.len());
    match random.random_range(0..11) {
        0 if place < bytes.len() => bytes[place] ^= 1 << random.random_range(0..8),
        1 if place < bytes.len() => bytes[place] = random.random(),
        2 if place < bytes.len() => bytes[place] = [0, 1, 0x7f, 0x80, 0xff, b'\n', b'"', b','][length % 8],
        3 => drop(bytes.drain(place..end)),
        4 => bytes.truncate(place),
        5 => {
            let piece = bytes[place..end].to_vec();
            let times = random.random_range(1..=8);
            bytes.splice(place..place, piece.repeat(times));
        }
        6 if !other.is_empty() => {
            let from = random.random_range(0..other.len());
            let piece = &other[from..(from + 4 * length).min(other.len())];
            bytes.splice(place..end, piece.iter().copied());
        }
        7 => insert(random, bytes, place, NUMBERS),
        8 => insert(random, bytes, place, target.words),
        // A number, as texts have them, becomes another.
        9 => {
            let is_digit = |byte: &u8| byte.is_ascii_digit() || b".-+e".contains(byte);
            let start = bytes[place..].iter().position(u8::is_ascii_digit).map_or(place, |k| place + k);
            let count = bytes[start..].iter().take_while(|byte| is_digit(byte)).count();
            drop(bytes.drain(start..start + count));
            insert(random, bytes, start, NUMBERS);
        }
        // Sizes and counts, as binary files have them.
        _ => {
            let number: u64 = [0, 1, 2, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX][length % 8];
            let width = [1, 2, 4, 8][length / 4 % 4];
            let number = if random.random() { number.to_le_bytes() } else { number.to_be_bytes() };
            for (byte, new) in bytes[place..].iter_mut().zip(&number[..width]) {
                *byte = *new;
            }
        }
    }
}

fn insert(random: &mut impl Rng, bytes: &mut Vec<u8>, place: usize, words: &[&str]) {
    let word = words[random.random_range(0..words.len())];
    bytes.splice(place..place, word.bytes());
}
