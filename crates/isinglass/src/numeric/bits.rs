//! Words of bits.

/// Transposes a matrix of 64 × 64 bits: bit j of word i becomes bit i of word j.
///
/// Blocks of half the size are exchanged across the diagonal, six times.
pub(crate) fn transpose(words: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = u64::MAX >> 32;
    while width > 0 {
        let mut k = 0;
        while k < 64 {
            let exchanged = (words[k] >> width ^ words[k + width]) & mask;
            words[k] ^= exchanged << width;
            words[k + width] ^= exchanged;
            // The next word whose bit of this width is 0.
            k = (k + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let words: [u64; 64] = std::array::from_fn(|k| (k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut turned = words;
        transpose(&mut turned);
        for i in 0..64 {
            for j in 0..64 {
                assert_eq!(words[i] >> j & 1, turned[j] >> i & 1);
            }
        }
    }
}
