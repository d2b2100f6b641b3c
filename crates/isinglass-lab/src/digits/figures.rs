//! The figures of the study.

use plotters::style::RGBColor;

use super::{Completion, Half, SIDE, Study, is_held_out};
use crate::data::digit_labels;
use crate::figure::pictures::{Picture, Pictures, Tint};
use crate::figure::sheet::Sheet;
use crate::filling::rows;

/// The tint of covered pixels.
const COVERED: RGBColor = RGBColor(208, 226, 240);
/// Pictures per row of a block of samples.
const ACROSS: usize = 8;

impl Study {
    /// Draws one held-out picture of each digit: as it is, half-covered, completed by the machine,
    /// and the nearest training picture.
    pub fn completed_picture(&self) -> String {
        let kinds = self.one_of_each();
        let truth: Vec<&[i8]> = rows(&self.held_out).collect();
        let mut sheet = Sheet::new("Completion of half-covered, held-out digits").wide(740.0);
        for completion in &self.completions {
            let block = completion_block(completion, &kinds, &truth);
            sheet = sheet.row(block.height(), [block.boxed()]);
        }
        sheet.to_svg()
    }

    /// Draws samples of the machine beside training pictures.
    pub fn samples_picture(&self) -> String {
        let (trained, count) = (self.trained.row_count(), self.drawn.len());
        let real: Vec<&[i8]> = rows(&self.trained).collect();
        // Evenly spaced over the table.
        let real: Vec<Picture> = (0..count).map(|k| of_cells(real[k * trained / count])).collect();
        let drawn: Vec<Picture> = self.drawn.iter().map(|cells| of_cells(cells)).collect();
        let block = |title: &str, pictures: &[Picture]| Pictures {
            title: title.into(),
            scale: 5.0,
            gap: 8.0,
            rows: pictures.chunks(ACROSS).map(<[Picture]>::to_vec).collect(),
            ..Pictures::default()
        };
        let blocks = [block("training data", &real), block("drawn from the machine", &drawn)];
        let height = blocks[0].height();
        Sheet::new("Handwritten digits, and draws from a machine fitted to them")
            .wide(860.0)
            .row(height, blocks.map(Pictures::boxed))
            .to_svg()
    }

    /// Returns the first 0, 1, … 9 among the held-out pictures with their positions; fewer for
    /// other pictures than the built-in ones.
    fn one_of_each(&self) -> Vec<(char, usize)> {
        let labels = digit_labels();
        let held_out: Vec<char> =
            labels.iter().enumerate().filter(|(k, _)| is_held_out(*k)).map(|(_, label)| *label).collect();
        ('0'..='9')
            .filter_map(|digit| Some((digit, held_out.iter().position(|label| *label == digit)?)))
            .filter(|&(_, place)| place < self.held_out.row_count())
            .collect()
    }
}

fn completion_block(completion: &Completion, kinds: &[(char, usize)], truth: &[&[i8]]) -> Pictures {
    let half = completion.covered;
    let shown: Vec<usize> = kinds.iter().map(|kind| kind.1).collect();
    let seen = |place: &usize| {
        let ink = |(pixel, &cell): (usize, &i8)| if cell > 0 && !half.covers(pixel) { 1.0 } else { 0.0 };
        Picture { columns: SIDE, darkness: truth[*place].iter().enumerate().map(ink).collect() }
    };
    let completed =
        |place: &usize| Picture { columns: SIDE, darkness: completion.probabilities[*place].clone() };
    let (name, corner, size) = match half {
        Half::Lower => ("Lower", (SIDE / 2, 0), (SIDE / 2, SIDE)),
        Half::Right => ("Right", (0, SIDE / 2), (SIDE, SIDE / 2)),
    };
    Pictures {
        title: format!(
            "{name} half covered: {:.1} % of its pixels correct (nearest digit {:.1} %, majority {:.1} %)",
            100.0 * completion.machine.share(),
            100.0 * completion.nearest.share(),
            100.0 * completion.majority.share()
        ),
        scale: 6.0,
        above: kinds.iter().map(|kind| kind.0.to_string()).collect(),
        gap: 10.0,
        beside: ["digit", "visible half", "machine: P(ink)", "nearest digit"].map(Into::into).into(),
        rows: vec![
            shown.iter().map(|&place| of_cells(truth[place])).collect(),
            shown.iter().map(seen).collect(),
            shown.iter().map(completed).collect(),
            shown.iter().map(|&place| of_cells(&completion.nearest_pictures[place])).collect(),
        ],
        tints: (1..=3).map(|row| Tint { row, corner, size, colour: COVERED }).collect(),
        ..Pictures::default()
    }
}

fn of_cells(cells: &[i8]) -> Picture {
    Picture { columns: SIDE, darkness: cells.iter().map(|&cell| if cell > 0 { 1.0 } else { 0.0 }).collect() }
}
