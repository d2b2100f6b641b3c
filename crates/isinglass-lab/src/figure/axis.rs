//! Axes: ranges, ticks and labels.

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scale {
    #[default]
    Linear,
    /// Shows only numbers above 0.
    Log,
}

/// The label, scale and range of an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
    /// The range; `None` takes it from the data.
    pub(crate) range: Option<(f64, f64)>,
    /// A number that the range must include.
    pub(crate) include: Option<f64>,
}

impl Axis {
    pub(crate) fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    pub(crate) fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, ..Self::default() }
    }

    pub(crate) fn including(self, number: f64) -> Self {
        Self { include: Some(number), ..self }
    }

    pub(crate) fn within(self, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..self }
    }
}

/// A tick of an axis; ticks without a label are short.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: Option<String>,
}

/// An axis with a known range.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ruler {
    scale: Scale,
    low: f64,
    high: f64,
}

/// The smallest ratio of a round step to the requested one.
const SLACK: f64 = 0.65;

/// The margin, as a share of the range, at an end where data would touch the frame.
const MARGIN: f64 = 0.05;

impl Ruler {
    /// Finds the range of an axis from the numbers along it.
    pub(crate) fn new(axis: &Axis, numbers: impl Iterator<Item = f64>) -> Self {
        let scale = axis.scale;
        let inner = |x: f64| if scale == Scale::Log { x.log10() } else { x };
        if let Some((low, high)) = axis.range {
            return Self { scale, low: inner(low), high: inner(high) };
        }
        let numbers = numbers.chain(axis.include).map(inner).filter(|x| x.is_finite());
        let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let width = if high > low { high - low } else { low.abs().max(1.0) };
        // A required end, such as 0, has no margin.
        let required = axis.include.map(inner);
        let free = |end: f64| if required == Some(end) { 0.0 } else { MARGIN * width };
        Self { scale, low: low - free(low), high: high + free(high) }
    }

    /// Returns the position of a number, from 0 to 1 along the axis.
    pub(crate) fn share(&self, number: f64) -> f64 {
        let inner = if self.scale == Scale::Log { number.log10() } else { number };
        (inner - self.low) / (self.high - self.low)
    }

    /// Returns the ticks within the range, about `count` of them with labels.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.linear_ticks(count),
            Scale::Log => self.log_ticks(count),
        }
    }

    fn linear_ticks(&self, count: usize) -> Vec<Tick> {
        let rough = (self.high - self.low) / count.max(2) as f64;
        let power = rough.log10().floor();
        let decade = 10f64.powf(power);
        let factor =
            [1.0, 2.0, 5.0].into_iter().find(|factor| factor * decade >= SLACK * rough).unwrap_or(10.0);
        let step = factor * decade;
        let decimals = if factor == 10.0 { -power - 1.0 } else { -power }.max(0.0) as usize;
        let slack = 1e-9 * step;
        let (first, last) =
            (((self.low - slack) / step).ceil() as i64, ((self.high + slack) / step).floor() as i64);
        let tick = |k: i64| {
            let at = k as f64 * step;
            Tick { at, label: Some(number(at, decimals)) }
        };
        (first..=last).map(tick).collect()
    }

    fn log_ticks(&self, count: usize) -> Vec<Tick> {
        let slack = 1e-9;
        let (first, last) = ((self.low - slack).ceil() as i32, (self.high + slack).floor() as i32);
        let inside = |at: f64| (self.low - slack..=self.high + slack).contains(&at.log10());
        // Few decades leave space for labels between them.
        let between: &[u32] = match self.high - self.low {
            ..1.0 => &[2, 3, 5, 7],
            1.0..2.2 => &[2, 5],
            _ => &[],
        };
        let every = (last - first + 1).div_euclid(count.max(1) as i32) + 1;
        let mut ticks = Vec::new();
        for power in first - 1..=last {
            let decade = 10f64.powi(power);
            for digit in 1..=9 {
                let at = f64::from(digit) * decade;
                if !inside(at) {
                    continue;
                }
                let named = if digit == 1 { power.rem_euclid(every) == 0 } else { between.contains(&digit) };
                ticks.push(Tick { at, label: named.then(|| of_decade(at, digit, power)) });
            }
        }
        ticks
    }
}

/// Formats a number with a typographic minus sign.
fn number(x: f64, decimals: usize) -> String {
    // No negative zero.
    let text = format!("{:.decimals$}", if x == 0.0 { 0.0 } else { x });
    grouped(&text).replace('-', "−")
}

/// Separates thousands by a thin space, from 10 000 on.
fn grouped(text: &str) -> String {
    let digits = text.trim_start_matches('-');
    if digits.len() < 5 || digits.contains('.') {
        return text.to_owned();
    }
    let head = digits.len() % 3;
    let mut out = text[..text.len() - digits.len()].to_owned();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && k % 3 == head {
            out.push('\u{2009}');
        }
        out.push(digit);
    }
    out
}

/// Formats a one-digit multiple of a power of ten: plain from 0.001 to 10 000, otherwise as a
/// power.
fn of_decade(at: f64, digit: u32, power: i32) -> String {
    match power {
        0..=4 => number(at, 0),
        -3..=-1 => number(at, -power as usize),
        _ => {
            let exponent: String = power.to_string().chars().map(raised).collect();
            let factor = if digit == 1 { String::new() } else { format!("{digit}·") };
            format!("{factor}10{exponent}")
        }
    }
}

fn raised(letter: char) -> char {
    match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(digit as u32 - '0' as u32 + '⁰' as u32).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ruler: &Ruler, count: usize) -> Vec<String> {
        ruler.ticks(count).into_iter().filter_map(|tick| tick.label).collect()
    }

    fn within(axis: Axis, low: f64, high: f64) -> Ruler {
        Ruler::new(&axis.within(low, high), std::iter::empty())
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&within(Axis::new(""), 0.0, 1.0), 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&within(Axis::new(""), -0.07, 0.1), 4), ["−0.05", "0.00", "0.05", "0.10"]);
        assert_eq!(labels(&within(Axis::new(""), 0.0, 50_000.0), 3), ["0", "20\u{2009}000", "40\u{2009}000"]);
        assert_eq!(
            labels(&within(Axis::log(""), 1e-4, 10.0), 8),
            ["10⁻⁴", "0.001", "0.01", "0.1", "1", "10"]
        );
        assert_eq!(labels(&within(Axis::log(""), 1.5, 30.0), 8), ["2", "5", "10", "20"]);
    }

    #[test]
    fn ranges_follow_the_data_and_include_required_numbers() {
        let free = Ruler::new(&Axis::new(""), [1.0, 3.0, f64::NAN].into_iter());
        assert!((free.share(2.0) - 0.5).abs() < 1e-12 && free.share(1.0) > 0.0 && free.share(3.0) < 1.0);
        let anchored = Ruler::new(&Axis::new("").including(0.0), [1.0, 3.0].into_iter());
        assert!(anchored.share(0.0) == 0.0 && anchored.share(3.0) < 1.0);
        let one = Ruler::new(&Axis::new(""), [5.0].into_iter());
        assert!((one.share(5.0) - 0.5).abs() < 1e-12);
        let log = Ruler::new(&Axis::log(""), [0.0, 0.1, 10.0].into_iter());
        assert!((log.share(1.0) - 0.5).abs() < 1e-12);
    }
}
