//! For `peers/denoise.py`: denoises many pictures, prints the time of the library's call, and
//! writes the decisions.
//!
//! Arguments: a file of bytes (one for each pixel, 0 is −1 and 1 is +1, one picture after another),
//! the side of the square pictures, coupling, data, sweeps, the file for the decisions.

use std::io::Write;
use std::time::Instant;

use isinglass_lab::lattice::{Denoised, Denoiser, Lattice};

/// Runs, of which the fastest is printed: other work on the computer only adds to the time.
const RUNS: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, side, coupling, data, sweeps, output] = &arguments[..] else {
        return Err("expected INPUT SIDE COUPLING DATA SWEEPS OUTPUT".into());
    };
    let side: usize = side.parse()?;
    let lattice = Lattice::new(side, side, coupling.parse()?, data.parse()?)?;
    let pixels: Vec<i8> = std::fs::read(input)?.iter().map(|&x| if x == 1 { 1 } else { -1 }).collect();
    let pictures: Vec<&[i8]> = pixels.chunks_exact(side * side).collect();
    let denoiser = Denoiser { iterations: sweeps.parse()?, tolerance: 0.0, ..Denoiser::default() };
    let mut best = f64::INFINITY;
    let mut decisions = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let answers = denoiser.denoise_many(&lattice, &pictures)?;
        best = best.min(start.elapsed().as_secs_f64());
        decisions = answers.iter().flat_map(Denoised::decisions).map(|x| u8::from(x == 1)).collect();
    }
    std::fs::write(output, decisions)?;
    writeln!(std::io::stdout(), "{best}")?;
    Ok(())
}
