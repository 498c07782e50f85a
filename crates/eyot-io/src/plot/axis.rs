//! Scales and ticks: from data values to a share of the axis, and to the round numbers written beside it.

/// Values beyond this are drawn at it: spans stay finite.
const HUGE: f64 = 1e300;

/// The range of an axis and how it is divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    lo: f64,
    hi: f64,
    log: bool,
}

/// A marked place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
}

impl Scale {
    /// Equal steps for equal differences, from `lo` to `hi` (widened if they are equal).
    pub(crate) fn linear(lo: f64, hi: f64) -> Self {
        let (lo, hi) = (lo.clamp(-HUGE, HUGE), hi.clamp(-HUGE, HUGE));
        let least = 1e-12 * lo.abs().max(hi.abs()).max(1e-280);
        if hi - lo > least {
            return Self { lo, hi, log: false };
        }
        let room = if lo == 0.0 { 1.0 } else { lo.abs() * 0.1 };
        Self { lo: lo - room, hi: lo + room, log: false }
    }

    /// Equal steps for equal ratios; both ends must be positive.
    pub(crate) fn log(lo: f64, hi: f64) -> Self {
        let (lo, hi) = (lo.clamp(1e-300, HUGE), hi.clamp(1e-300, HUGE));
        if hi.ln() - lo.ln() > 1e-9 {
            Self { lo, hi, log: true }
        } else {
            Self { lo: lo / 2.0, hi: hi * 2.0, log: true }
        }
    }

    /// The scale that shows all drawable values, with `pad` of its length added at both ends; 0 to 1 (1 to 10 if
    /// logarithmic) if there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>, log: bool, pad: f64) -> Self {
        let mut range: Option<(f64, f64)> = None;
        for value in values {
            if value.is_finite() && (!log || value > 0.0) {
                let (lo, hi) = range.unwrap_or((value, value));
                range = Some((lo.min(value), hi.max(value)));
            }
        }
        match (range, log) {
            (None, false) => Self::linear(0.0, 1.0),
            (None, true) => Self::log(1.0, 10.0),
            (Some((lo, hi)), true) => {
                let room = (pad * (hi.ln() - lo.ln())).exp();
                Self::log(lo / room, hi * room)
            }
            (Some((lo, hi)), false) => {
                let Self { lo, hi, .. } = Self::linear(lo, hi);
                let room = (hi - lo) * pad;
                Self::linear(lo - room, hi + room)
            }
        }
    }

    /// The ends.
    pub(crate) fn range(self) -> (f64, f64) {
        (self.lo, self.hi)
    }

    /// Where on the axis a value lies, 0 at the low end and 1 at the high one; `None` if it has no place.
    pub(crate) fn share(self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return None;
        }
        let value = value.clamp(-HUGE, HUGE);
        Some(if self.log {
            (value.ln() - self.lo.ln()) / (self.hi.ln() - self.lo.ln())
        } else {
            (value - self.lo) / (self.hi - self.lo)
        })
    }

    /// At most about `most` round numbers inside the range.
    pub(crate) fn ticks(self, most: usize) -> Vec<Tick> {
        let mut at = if self.log { self.log_ticks(most) } else { linear_ticks(self.lo, self.hi, most) };
        if at.len() < 2 {
            // Steps of at most half the range: two multiples or more lie inside.
            at = linear_ticks(self.lo, self.hi, 5).into_iter().filter(|&at| !self.log || at > 0.0).collect();
        }
        let labels = labels(&at, self.log);
        at.into_iter().zip(labels).map(|(at, label)| Tick { at, label }).collect()
    }

    fn log_ticks(self, most: usize) -> Vec<f64> {
        // A hair of room, so that a range that ends at a power of ten shows it.
        let (lo, hi) = (self.lo * (1.0 - 1e-9), self.hi * (1.0 + 1e-9));
        let (first, last) = (lo.log10().floor() as i32, hi.log10().ceil() as i32);
        let inside = |factors: &[f64], every: usize| -> Vec<f64> {
            (first..=last)
                .filter(|power| (power.unsigned_abs() as usize).is_multiple_of(every))
                .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
                .filter(|at| (lo..=hi).contains(at))
                .collect()
        };
        for factors in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
            let at = inside(factors, 1);
            if at.len() <= most && at.len() >= 2 {
                return at;
            }
        }
        let powers = inside(&[1.0], 1).len();
        inside(&[1.0], powers / most.max(1) + 1)
    }
}

/// The multiples of 1, 2 or 5 times a power of ten that lie in [lo, hi], at most about `most`.
pub(crate) fn linear_ticks(lo: f64, hi: f64, most: usize) -> Vec<f64> {
    let step = round_step((hi - lo) / most.max(1) as f64);
    let slack = 1e-9 * (hi - lo) / step;
    let (first, last) = ((lo / step - slack).ceil(), (hi / step + slack).floor());
    // Below 1 a step is 1/k with k whole, and dividing by k gives the nearest float to the decimal; multiplying not.
    let inverse = (1.0 / step).round();
    let whole_inverse = step < 1.0 && ((1.0 / step) - inverse).abs() < 1e-6 * inverse;
    let count = ((last - first + 1.0).max(0.0) as usize).min(100);
    (0..count)
        .map(|i| first + i as f64)
        .map(|i| if whole_inverse { i / inverse } else { i * step })
        .map(|at| if at == 0.0 { 0.0 } else { at })
        .collect()
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `least` (but for rounding).
pub(crate) fn round_step(least: f64) -> f64 {
    let power = 10f64.powi(least.log10().floor().clamp(-300.0, 300.0) as i32);
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9)).unwrap_or(10.0);
    factor * power
}

/// Labels for ticks that belong together: the same number of decimals, thousands as k, millions as M.
fn labels(at: &[f64], log: bool) -> Vec<String> {
    if log {
        return at.iter().map(|&value| short(value)).collect();
    }
    let largest = at.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let step = at.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min);
    if largest == 0.0 || !(1e-4..1e15).contains(&largest) || !step.is_finite() {
        return at.iter().map(|&value| short(value)).collect();
    }
    let (unit, suffix) = unit_of(largest);
    let decimals = (0..=9)
        .find(|&decimals| {
            let shift = 10f64.powi(decimals);
            let scaled = step / unit * shift;
            (scaled - scaled.round()).abs() < 1e-6 * scaled && scaled >= 0.5
        })
        .unwrap_or(9) as usize;
    at.iter().map(|&value| if value == 0.0 { "0".into() } else { fixed(value / unit, decimals) + suffix }).collect()
}

/// One number, short, for ticks, tooltips and tables: four significant digits, 12.5k, 3M, 2×10⁻⁷.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return "–".into();
    }
    if !(1e-4..1e15).contains(&size) {
        let written = format!("{value:.1e}");
        let (mantissa, power) = written.split_once('e').unwrap_or((&written, "0"));
        let mantissa = mantissa.strip_suffix(".0").unwrap_or(mantissa).replace('-', "−");
        return match mantissa.as_str() {
            "1" => format!("10{}", superscript(power)),
            _ => format!("{mantissa}×10{}", superscript(power)),
        };
    }
    let (unit, suffix) = unit_of(size);
    let scaled = size / unit;
    let decimals = (3 - scaled.log10().floor() as i32).clamp(0, 7) as usize;
    let written = fixed(value / unit, decimals);
    let written = if decimals > 0 { written.trim_end_matches('0').trim_end_matches('.') } else { &written };
    format!("{written}{suffix}")
}

/// A number with so many decimals, thousands not separated, and a true minus sign.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}").replace('-', "−")
}

fn unit_of(size: f64) -> (f64, &'static str) {
    match size {
        1e12.. => (1e12, "T"),
        1e9.. => (1e9, "G"),
        1e6.. => (1e6, "M"),
        1e4.. => (1e3, "k"),
        _ => (1.0, ""),
    }
}

fn superscript(power: &str) -> String {
    power
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            digit => char::from_u32(0x2070 + digit as u32 - '0' as u32).unwrap_or(digit),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels_of(lo: f64, hi: f64, most: usize) -> Vec<String> {
        Scale::linear(lo, hi).ticks(most).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers_with_equal_decimals() {
        assert_eq!(labels_of(0.0, 1.0, 5), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels_of(-1.03, 1.03, 5), ["−1.0", "−0.5", "0", "0.5", "1.0"]);
        assert_eq!(labels_of(0.0, 97.0, 5), ["0", "20", "40", "60", "80"]);
        assert_eq!(labels_of(0.0, 60_000.0, 3), ["0", "20k", "40k", "60k"]);
        assert_eq!(labels_of(0.0, 3e-7, 3), ["0", "10⁻⁷", "2×10⁻⁷", "3×10⁻⁷"]);
        assert_eq!(labels_of(0.97, 0.98, 4), ["0.970", "0.975", "0.980"]);
    }

    #[test]
    fn ticks_are_the_floats_nearest_to_their_decimals() {
        let at: Vec<f64> = Scale::linear(0.0, 1.0).ticks(10).into_iter().map(|tick| tick.at).collect();
        assert_eq!(at, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
    }

    #[test]
    fn log_ticks_are_powers_of_ten_or_finer_in_short_ranges() {
        let at =
            |lo, hi, most| -> Vec<String> { Scale::log(lo, hi).ticks(most).into_iter().map(|t| t.label).collect() };
        assert_eq!(at(1.0, 1000.0, 5), ["1", "10", "100", "1000"]);
        assert_eq!(at(10.0, 100.0, 5), ["10", "20", "50", "100"]);
        assert_eq!(at(1e-6, 1e6, 4), ["0.0001", "1", "10k"]);
    }

    #[test]
    fn numbers_are_written_short() {
        let written = [0.5, 0.123_456, 12.0, 1234.5, 12_345.0, 3e6, 2e-7, 1e20, -4.0].map(short);
        assert_eq!(written, ["0.5", "0.1235", "12", "1234", "12.35k", "3M", "2×10⁻⁷", "10²⁰", "−4"]);
    }

    #[test]
    fn a_constant_or_empty_range_still_has_a_width() {
        for scale in [Scale::of([3.0], false, 0.1), Scale::of([0.0, 0.0], false, 0.0), Scale::of([], false, 0.1)] {
            let (lo, hi) = scale.range();
            assert!(lo < hi && scale.ticks(5).len() >= 2, "{scale:?}");
        }
        assert_eq!(Scale::of([f64::NAN, f64::INFINITY, 1.0, 2.0], false, 0.0).range(), (1.0, 2.0));
        assert_eq!(Scale::of([-1.0, 0.0, 1.0, 100.0], true, 0.0).range(), (1.0, 100.0));
        assert_eq!(Scale::log(1.0, 100.0).share(10.0).map(|share| (share * 1e9).round()), Some(5e8));
        assert_eq!(Scale::log(1.0, 100.0).share(0.0), None);
    }

    proptest! {
        #[test]
        fn ticks_lie_inside_any_range_and_are_few(a in -1e300f64..1e300, b in -1e300f64..1e300, power in -300i32..1, most in 1usize..12) {
            let scale = Scale::of([a * 10f64.powi(power), b * 10f64.powi(power)], false, 0.05);
            let ticks = scale.ticks(most);
            prop_assert!((2..=(most + 1).max(6)).contains(&ticks.len()), "{}", ticks.len());
            for tick in ticks {
                let share = scale.share(tick.at).unwrap();
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&share), "{} {}", tick.label, share);
            }
        }

        #[test]
        fn log_ticks_lie_inside_any_range(lo in -290f64..290.0, decades in 0f64..300.0, most in 2usize..12) {
            let scale = Scale::log(10f64.powf(lo), 10f64.powf((lo + decades).min(299.0)));
            let ticks = scale.ticks(most);
            prop_assert!(ticks.len() <= 3 * most + 2, "{}", ticks.len());
            for tick in ticks {
                let share = scale.share(tick.at).unwrap();
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&share));
            }
        }
    }
}
