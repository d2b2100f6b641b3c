//! A sample picture: a word, a ring, bars and squares.

/// Rows and columns of the sample picture.
pub const SIDE: usize = 256;

/// The letters of the word, five columns by seven rows, the leftmost column in the highest bit.
const WORD: [[u8; 7]; 9] = [I, S, I, N, G, L, A, S, S];
const I: [u8; 7] = [0b01110, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110];
const S: [u8; 7] = [0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110];
const N: [u8; 7] = [0b10001, 0b11001, 0b11001, 0b10101, 0b10011, 0b10011, 0b10001];
const G: [u8; 7] = [0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01110];
const L: [u8; 7] = [0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111];
const A: [u8; 7] = [0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001];

/// Returns the sample picture, row by row: −1 is black, +1 white.
///
/// ```
/// use isinglass_lab::sample::{SIDE, sample_picture};
/// let picture = sample_picture();
/// assert_eq!(picture.len(), SIDE * SIDE);
/// assert!(picture.iter().all(|&x| x == 1 || x == -1));
/// ```
pub fn sample_picture() -> Vec<i8> {
    let pixel = |k: usize| if is_black(k / SIDE, k % SIDE) { -1 } else { 1 };
    (0..SIDE * SIDE).map(pixel).collect()
}

fn is_black(row: usize, column: usize) -> bool {
    in_word(row, column, 4, (20, 21))
        || in_word(row, column, 2, (62, 74))
        || in_ring(row, column)
        || in_bars(row, column)
        || in_board(row, column)
}

/// The word at a position, each dot of its letters a square of `size` pixels.
fn in_word(row: usize, column: usize, size: usize, (top, left): (usize, usize)) -> bool {
    let (Some(down), Some(right)) = (row.checked_sub(top), column.checked_sub(left)) else { return false };
    let (line, dot) = (down / size, right / size);
    // A letter is five dots wide, followed by one empty dot.
    let (letter, dot) = (dot / 6, dot % 6);
    line < 7 && dot < 5 && WORD.get(letter).is_some_and(|rows| rows[line] >> (4 - dot) & 1 == 1)
}

fn in_ring(row: usize, column: usize) -> bool {
    let square = |x: usize, middle: f64| (x as f64 - middle).powi(2);
    let distance = (square(row, 160.0) + square(column, 70.0)).sqrt();
    (30.0..44.0).contains(&distance) || distance < 12.0
}

/// Vertical bars of decreasing width.
fn in_bars(row: usize, column: usize) -> bool {
    const BARS: [(usize, usize); 5] = [(140, 12), (164, 8), (180, 5), (190, 3), (196, 2)];
    (95..170).contains(&row) && BARS.iter().any(|&(left, width)| (left..left + width).contains(&column))
}

/// A checkerboard of small squares.
fn in_board(row: usize, column: usize) -> bool {
    (184..232).contains(&row) && (140..236).contains(&column) && (row / 8 + column / 8).is_multiple_of(2)
}
