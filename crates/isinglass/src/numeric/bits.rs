//! Words of bits.

/// Transposes a matrix of 64 × 64 bits: bit j of word i becomes bit i of word j.
///
/// Blocks of half the size are exchanged across the diagonal, six times; each time words side by side
/// do the same, so that the compiler puts them into vectors.
#[inline(always)]
pub(crate) fn transpose(words: &mut [u64; 64]) {
    exchange::<32>(words, 0x0000_0000_ffff_ffff);
    exchange::<16>(words, 0x0000_ffff_0000_ffff);
    exchange::<8>(words, 0x00ff_00ff_00ff_00ff);
    exchange::<4>(words, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<2>(words, 0x3333_3333_3333_3333);
    exchange::<1>(words, 0x5555_5555_5555_5555);
}

#[inline(always)]
fn exchange<const WIDTH: usize>(words: &mut [u64; 64], mask: u64) {
    for block in words.chunks_exact_mut(2 * WIDTH) {
        let (upper, lower) = block.split_at_mut(WIDTH);
        for (a, b) in upper.iter_mut().zip(lower) {
            let exchanged = (*a >> WIDTH ^ *b) & mask;
            *a ^= exchanged << WIDTH;
            *b ^= exchanged;
        }
    }
}

/// The spins of eight units: +1 for each bit that is set, −1 for the others.
static SPINS: [[i8; 8]; 256] = {
    let mut spins = [[-1; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut k = 0;
        while k < 8 {
            if byte >> k & 1 == 1 {
                spins[byte][k] = 1;
            }
            k += 1;
        }
        byte += 1;
    }
    spins
};

/// Writes a spin for each bit, from the lowest of the first word on.
pub(crate) fn write_spins(words: &[u64], spins: &mut [i8]) {
    for (spins, word) in spins.chunks_mut(64).zip(words) {
        for (spins, byte) in spins.chunks_mut(8).zip(word.to_le_bytes()) {
            spins.copy_from_slice(&SPINS[usize::from(byte)][..spins.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_become_spins() {
        let words = [0x9e37_79b9_7f4a_7c15u64, 0x5];
        let mut spins = [0; 67];
        write_spins(&words, &mut spins);
        for (k, &spin) in spins.iter().enumerate() {
            assert_eq!(spin, if words[k / 64] >> (k % 64) & 1 == 1 { 1 } else { -1 });
        }
    }

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
