//! Compatibility dates and flags: which behaviours a Worker asked for. Pure data and its lookup; the table itself is
//! [`flags`](self::flags).

mod flags;

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use flags::FLAGS;
pub use flags::Flag;

/// The newest compatibility date this build knows the behaviours of.
pub const DATE_MAX: CompatDate = CompatDate { year: 2026, month: 11, day: 24 };

/// One row of the table.
struct FlagInfo {
    flag: Flag,
    name: &'static str,
    off: Option<&'static str>,
    since: Option<&'static str>,
    mark: Mark,
    implied: Option<Implied>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Plain,
    /// On at every date.
    Always,
    /// Needs permission.
    Experimental,
}

/// A flag that others turn on, from a date.
struct Implied {
    by: &'static [Flag],
    since: &'static str,
}

/// A calendar day, as compatibility dates are written: `2YYY-MM-DD`. Days that a month lacks are let through, as the
/// platform does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CompatDate {
    year: u16,
    month: u8,
    day: u8,
}

impl CompatDate {
    /// Reads a date. `None` when it is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[0] != b'2' || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let number = |range: std::ops::Range<usize>| {
            let digits = &bytes[range];
            digits
                .iter()
                .all(u8::is_ascii_digit)
                .then(|| digits.iter().fold(0_u16, |n, d| n * 10 + u16::from(d - b'0')))
        };
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        Some(Self { year, month: u8::try_from(month).ok()?, day: u8::try_from(day).ok()? })
    }

    /// Today, in UTC.
    #[must_use]
    pub fn today() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self::of_day(seconds / 86_400)
    }

    /// The day that is `days` after 1970-01-01, counted in eras of 400 years that begin on 1 March.
    fn of_day(days: u64) -> Self {
        let shifted = days + 719_468;
        let (era, of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        // Each fits its field: days are 1..=31, months 1..=12, and years stay below 65,536 for any clock we meet.
        Self { year: year as u16, month: month as u8, day: day as u8 }
    }
}

impl fmt::Display for CompatDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// Whether experimental flags may be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experimental {
    Allowed,
    Refused,
}

/// How far ahead a compatibility date may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateCheck {
    /// Not after this day, nor after [`DATE_MAX`].
    NotAfter(CompatDate),
    /// Any date: for running test suites with every flag that has a date.
    Unchecked,
}

impl DateCheck {
    /// Not after today.
    #[must_use]
    pub fn today() -> Self {
        Self::NotAfter(CompatDate::today())
    }
}

/// Why a date and flags were refused, in the platform's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompatError {
    #[error("Invalid compatibility date: {0}")]
    BadDate(String),
    #[error(
        "This Worker requires compatibility date \"{0}\", but the newest date supported by this server binary is \
         \"{DATE_MAX}\"."
    )]
    NewerThanSupported(CompatDate),
    #[error("Can't set compatibility date in the future: \"{date}\". Today's date (UTC) is \"{today}\".")]
    InTheFuture { date: CompatDate, today: CompatDate },
    #[error("Compatibility flag specified multiple times: {0}")]
    Repeated(String),
    #[error("Compatibility flags are mutually contradictory: {on} vs {off}")]
    Contradictory { on: &'static str, off: &'static str },
    #[error(
        "The compatibility flag {0} is experimental and may break or be removed in a future version of workerd. To use \
         this flag, you must pass --experimental on the command line."
    )]
    NeedsExperimental(&'static str),
    #[error("No such compatibility flag: {0}")]
    Unknown(String),
}

impl CompatError {
    /// Whether it is about the date rather than a flag.
    #[must_use]
    pub fn is_about_date(&self) -> bool {
        matches!(self, Self::BadDate(_) | Self::NewerThanSupported(_) | Self::InTheFuture { .. })
    }
}

/// All that is wrong with a date and flags, in the order the platform reports it; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompatErrors {
    first: CompatError,
    rest: Vec<CompatError>,
}

impl CompatErrors {
    #[must_use]
    pub fn first(&self) -> &CompatError {
        &self.first
    }

    pub fn iter(&self) -> impl Iterator<Item = &CompatError> {
        std::iter::once(&self.first).chain(&self.rest)
    }
}

/// Words of the bit set; the table's length is checked against it in the tests.
const WORDS: usize = 4;

/// The flags that are on for a Worker.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct CompatFlags {
    bits: [u64; WORDS],
}

impl CompatFlags {
    /// Whether a flag is on.
    #[must_use]
    pub fn has(&self, flag: Flag) -> bool {
        let index = flag as usize;
        self.bits[index / 64] & (1 << (index % 64)) != 0
    }

    /// The set as numbers, for another process of the same build.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.bits
    }

    /// A set from [`words`](Self::words); `None` when it comes from another build.
    #[must_use]
    pub fn from_words(words: impl IntoIterator<Item = u64>) -> Option<Self> {
        let words: Vec<u64> = words.into_iter().take(WORDS + 1).collect();
        Some(Self { bits: words.try_into().ok()? })
    }

    fn set(&mut self, flag: Flag) {
        let index = flag as usize;
        self.bits[index / 64] |= 1 << (index % 64);
    }

    /// Every flag there is and the name that enables it, in the platform's order.
    pub fn all() -> impl Iterator<Item = (&'static str, Flag)> {
        FLAGS.iter().map(|row| (row.name, row.flag))
    }

    /// The names of the flags that are on, in the platform's order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        FLAGS.iter().filter(|row| self.has(row.flag)).map(|row| row.name)
    }

    /// The flags that a date turns on by itself, unless `named` turn them off, and those that `named` turn on.
    ///
    /// # Errors
    /// Everything that is wrong, not just the first.
    pub fn resolve(
        date: &str,
        named: &[impl AsRef<str>],
        experimental: Experimental,
        check: DateCheck,
    ) -> Result<Self, CompatErrors> {
        let mut errors = Vec::new();
        let mut left: Vec<&str> = Vec::with_capacity(named.len());
        for name in named.iter().map(AsRef::as_ref) {
            if left.contains(&name) {
                errors.push(CompatError::Repeated(name.to_owned()));
            } else {
                left.push(name);
            }
        }
        let parsed = CompatDate::parse(date);
        match (parsed, check) {
            (None, _) => errors.push(CompatError::BadDate(date.to_owned())),
            (Some(date), DateCheck::NotAfter(today)) => {
                if date > DATE_MAX {
                    errors.push(CompatError::NewerThanSupported(date));
                }
                if date > today {
                    errors.push(CompatError::InTheFuture { date, today });
                }
            }
            (Some(_), DateCheck::Unchecked) => {}
        }
        let reached = |since: &str| parsed.zip(CompatDate::parse(since)).is_some_and(|(date, since)| date >= since);

        let mut flags = Self::default();
        let mut implied = Vec::new();
        for row in FLAGS {
            let on = take(&mut left, row.name);
            let off = row.off.filter(|name| take(&mut left, name));
            if let (true, Some(off)) = (on, off) {
                errors.push(CompatError::Contradictory { on: row.name, off });
            }
            if on && row.mark == Mark::Experimental && experimental == Experimental::Refused {
                errors.push(CompatError::NeedsExperimental(row.name));
            }
            let by_date = row.mark == Mark::Always || row.since.is_some_and(reached);
            if on || (by_date && off.is_none()) {
                flags.set(row.flag);
            }
            if let Some(rule) = row.implied.as_ref().filter(|rule| off.is_none() && reached(rule.since)) {
                implied.push((row.flag, rule.by));
            }
        }
        for (flag, by) in implied {
            if by.iter().any(|other| flags.has(*other)) {
                flags.set(flag);
            }
        }
        errors.extend(left.into_iter().map(|name| CompatError::Unknown(name.to_owned())));
        let mut errors = errors.into_iter();
        match errors.next() {
            None => Ok(flags),
            Some(first) => Err(CompatErrors { first, rest: errors.collect() }),
        }
    }
}

impl fmt::Debug for CompatFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// Removes a name from the list, and says whether it was there.
fn take(names: &mut Vec<&str>, name: &str) -> bool {
    names.iter().position(|other| *other == name).map(|index| names.remove(index)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: DateCheck = DateCheck::NotAfter(CompatDate { year: 2026, month: 11, day: 30 });

    fn resolve(date: &str, flags: &[&str]) -> Result<CompatFlags, Vec<String>> {
        CompatFlags::resolve(date, flags, Experimental::Refused, TODAY)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_table_fits_its_set_and_stands_in_order() {
        assert!(FLAGS.len() <= 64 * WORDS);
        let mut names = std::collections::HashSet::new();
        for (index, row) in FLAGS.iter().enumerate() {
            assert_eq!(row.flag as usize, index);
            for name in [Some(row.name), row.off].into_iter().flatten() {
                assert!(names.insert(name), "{name} stands twice");
            }
            for date in [row.since, row.implied.as_ref().map(|rule| rule.since)].into_iter().flatten() {
                assert!(CompatDate::parse(date).is_some(), "{}: {date}", row.name);
            }
        }
    }

    #[test]
    fn dates_are_read_as_the_platform_reads_them() {
        for good in ["2000-01-01", "2026-11-24", "2022-02-30", "2999-12-31"] {
            assert_eq!(CompatDate::parse(good).map(|date| date.to_string()).as_deref(), Some(good));
        }
        for bad in ["", "20x", "2024-13-01", "2024-00-01", "2024-01-32", "3000-01-01", "1999-01-01", "2024/01/01"] {
            assert_eq!(CompatDate::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn days_become_dates() {
        for (day, date) in [(0, "1970-01-01"), (11_016, "2000-02-29"), (20_787, "2026-11-30"), (20_818, "2026-12-31")] {
            assert_eq!(CompatDate::of_day(day).to_string(), date);
        }
    }

    /// What workerd 1.20261117.1 prints for the same configuration on 2026-11-30.
    #[test]
    fn errors_are_the_platforms() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("20x", &[], &["Invalid compatibility date: 20x"]),
            (
                "2026-11-29",
                &[],
                &["This Worker requires compatibility date \"2026-11-29\", but the newest date supported by this \
                   server binary is \"2026-11-24\"."],
            ),
            (
                "2026-12-30",
                &[],
                &[
                    "This Worker requires compatibility date \"2026-12-30\", but the newest date supported by this \
                     server binary is \"2026-11-24\".",
                    "Can't set compatibility date in the future: \"2026-12-30\". Today's date (UTC) is \"2026-11-30\".",
                ],
            ),
            ("2024-01-01", &["zz", "yy"], &["No such compatibility flag: zz", "No such compatibility flag: yy"]),
            (
                "2024-01-01",
                &["nodejs_compat", "nodejs_compat"],
                &["Compatibility flag specified multiple times: nodejs_compat"],
            ),
            (
                "2024-01-01",
                &["temporal", "no_temporal"],
                &["Compatibility flags are mutually contradictory: temporal vs no_temporal"],
            ),
            (
                "2024-01-01",
                &["rpc_dispose_cancels_call"],
                &["The compatibility flag rpc_dispose_cancels_call is experimental and may break or be removed in a \
                   future version of workerd. To use this flag, you must pass --experimental on the command line."],
            ),
        ];
        for (date, flags, errors) in cases {
            assert_eq!(resolve(date, flags).err(), Some(errors.iter().map(ToString::to_string).collect::<Vec<_>>()));
        }
    }

    #[test]
    fn dates_flags_and_implications_turn_flags_on() {
        let cases: &[(&str, &[&str], Flag, bool)] = &[
            ("2022-11-29", &[], Flag::StreamsEnableConstructors, false),
            ("2022-11-30", &[], Flag::StreamsEnableConstructors, true),
            ("2022-11-30", &["streams_disable_constructors"], Flag::StreamsEnableConstructors, false),
            ("2021-01-01", &["streams_enable_constructors"], Flag::StreamsEnableConstructors, true),
            ("2000-01-01", &[], Flag::R2PublicBetaBindings, true),
            ("2024-09-22", &["nodejs_compat"], Flag::NodejsCompatV2, false),
            ("2024-09-23", &["nodejs_compat"], Flag::NodejsCompatV2, true),
            ("2024-09-23", &["nodejs_compat", "no_nodejs_compat_v2"], Flag::NodejsCompatV2, false),
            ("2024-09-23", &[], Flag::NodejsCompatV2, false),
            // Implied by a flag that is itself implied.
            ("2025-09-01", &["nodejs_compat"], Flag::EnableNodejsHttpServerModules, true),
        ];
        for (date, flags, flag, on) in cases {
            assert_eq!(resolve(date, flags).map(|set| set.has(*flag)), Ok(*on), "{date} {flags:?} {flag:?}");
        }
    }
}
