//! Time expressions in a question: "last week", "in May 2023", "three days ago", "2024-01-15".
//!
//! In: the question and what time it is. Out: a window of days, or nothing. A window only ever adds to the
//! rank of what lies in or near it; it never filters. Linear in the length of the question.

use super::civil::{date, day, day_number, month_start, number as number_of};
use jiff::civil::Date;

/// Days a question speaks of, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First day, since 1970.
    pub from: i64,
    /// Last day.
    pub to: i64,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];
/// Words after which a bare month or year is meant as a time ("may" is also a verb).
const BEFORE_MONTH: [&str; 14] = [
    "in", "on", "during", "of", "since", "by", "last", "this", "early", "late", "mid", "around", "until",
    "before",
];

impl Window {
    fn days(from: i64, to: i64) -> Option<Self> {
        Some(Self { from, to })
    }

    /// How near an instant is to the window: 1 inside, falling with the days outside.
    pub fn nearness(&self, seconds: i64) -> f32 {
        let day = day_number(seconds);
        let away = (self.from - day).max(day - self.to).max(0) as f32;
        // A wide window is a vague one: its edges are softer.
        let width = (self.to - self.from) as f32;
        (-away / (5.0 + width / 4.0)).exp()
    }
}

/// Number of a month name or its usual short form, 1 to 12.
fn month(word: &str) -> Option<i8> {
    let at = MONTHS.iter().position(|m| {
        *m == word || (word.len() >= 3 && (word == &m[..3] || word == "sept" && *m == "september"))
    })?;
    Some(at as i8 + 1)
}

fn number(word: &str) -> Option<i64> {
    match word {
        "a" | "an" => Some(1),
        "couple" => Some(2),
        "few" | "several" => Some(3),
        _ => word
            .parse()
            .ok()
            .filter(|n| (0..10_000).contains(n))
            .or_else(|| NUMBERS.iter().position(|n| *n == word).map(|n| n as i64)),
    }
}

/// A day of a month, with or without its ending ("7", "7th").
fn day_of_month(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &word[digits.len()..];
    let day = digits.parse().ok().filter(|d| (1..=31).contains(d))?;
    matches!(ending, "" | "st" | "nd" | "rd" | "th").then_some(day)
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|y| (1970..=2100).contains(y) && word.len() == 4)
}

/// The window a question speaks of, if it speaks of one.
pub fn window(question: &str, now: i64) -> Option<Window> {
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '/'))
        .filter(|w| !w.is_empty())
        .collect();
    let today = day_number(now);
    let word = |i: usize| words.get(i).copied().unwrap_or("");
    for i in 0..words.len() {
        let found = iso(word(i))
            .or_else(|| dated(&words, i, today))
            .or_else(|| ago(&words, i, today))
            .or_else(|| relative(&words, i, today));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// `2024-01-15`, `2024/01/15` or `2024-01`.
fn iso(word: &str) -> Option<Window> {
    let mut parts = word.split(['-', '/']);
    let year = year(parts.next()?)?;
    let month = parts.next()?.parse().ok().filter(|m| (1..=12).contains(m))?;
    match parts.next() {
        Some(day) => {
            let day = day.parse().ok().filter(|d| (1..=31).contains(d))?;
            let at = number_of(date(year, month, day));
            Window::days(at, at)
        }
        None => month_window(date(year, month, 1)),
    }
}

fn month_window(day: Date) -> Option<Window> {
    Window::days(number_of(day.first_of_month()), number_of(day.last_of_month()))
}

fn year_window(year: i16) -> Option<Window> {
    Window::days(number_of(date(year, 1, 1)), number_of(date(year, 12, 31)))
}

/// Dates written with a month's name, and bare years.
fn dated(words: &[&str], i: usize, today: i64) -> Option<Window> {
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).copied().unwrap_or("");
    let (before, next, after) = (word(i.checked_sub(1)), word(Some(i + 1)), word(Some(i + 2)));
    if let Some(month) = month(words[i]) {
        let ordinal_before = if before == "of" { word(i.checked_sub(2)) } else { before };
        let (day, rest) = match (day_of_month(ordinal_before), day_of_month(next)) {
            (Some(day), _) => (Some(day), next),
            (None, Some(day)) if year(next).is_none() => (Some(day), after),
            _ => (None, next),
        };
        let said = year(rest);
        if day.is_none() && said.is_none() && !BEFORE_MONTH.contains(&before) {
            return None;
        }
        // Without a year the latest such month that has begun is meant.
        let now = self::day(today);
        let year = said.unwrap_or(if month <= now.month() { now.year() } else { now.year() - 1 });
        return match day {
            Some(day) => {
                let at = number_of(date(year, month, day));
                Window::days(at, at)
            }
            None => month_window(date(year, month, 1)),
        };
    }
    year(words[i]).filter(|_| BEFORE_MONTH.contains(&before)).and_then(year_window)
}

/// `three weeks ago`, `a couple of days ago`, `past 10 days`, `last two months`.
fn ago(words: &[&str], i: usize, today: i64) -> Option<Window> {
    let word = |at: usize| words.get(at).copied().unwrap_or("");
    let count = number(words[i])?;
    // "a couple of days", "a few weeks": the first word only leads in.
    let lead = usize::from(matches!(words[i], "a") && matches!(word(i + 1), "couple" | "few"));
    let count = if lead == 1 { number(word(i + 1))? } else { count };
    let of = usize::from(word(i + lead + 1) == "of");
    let unit = word(i + lead + of + 1);
    let days = unit_days(unit)?;
    let before = i.checked_sub(1).map(word).unwrap_or("");
    if word(i + lead + of + 2) == "ago" {
        // The longer ago, the less exactly it is meant.
        let middle = back(today, count, unit, days);
        let slack = if days == 1 { i64::from(count > 3) } else { days / 2 };
        return Window::days(middle - slack, middle + slack);
    }
    matches!(before, "last" | "past").then(|| Window { from: back(today, count, unit, days), to: today })
}

fn unit_days(unit: &str) -> Option<i64> {
    Some(match unit {
        "day" | "days" | "night" | "nights" => 1,
        "week" | "weeks" => 7,
        "month" | "months" => 30,
        "year" | "years" => 365,
        _ => return None,
    })
}

fn back(today: i64, count: i64, unit: &str, days: i64) -> i64 {
    if unit.starts_with("month") {
        let now = day(today);
        return number_of(month_start(now, -count)) + i64::from(now.day()) - 1;
    }
    today - count * days
}

/// `today`, `yesterday`, `last week`, `this month`, `on Tuesday`, `last Friday`, `last weekend`.
fn relative(words: &[&str], i: usize, today: i64) -> Option<Window> {
    let word = words[i];
    let before = i.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or("");
    match word {
        "today" | "tonight" => return Window::days(today, today),
        "yesterday" => return Window::days(today - 1, today - 1),
        "recently" | "lately" => return Window::days(today - 30, today),
        _ => {}
    }
    let now = day(today);
    let weekday = i64::from(now.weekday().to_monday_zero_offset());
    let singular = word.strip_suffix('s').unwrap_or(word);
    if let Some(at) = DAYS.iter().position(|d| *d == singular) {
        // The last such day before today.
        let gap = (weekday - at as i64 - 1).rem_euclid(7) + 1;
        return matches!(before, "on" | "last" | "this" | "since" | "past")
            .then_some(Window { from: today - gap, to: today - gap });
    }
    let monday = today - weekday;
    match (before, word) {
        ("this", "week") => Window::days(monday, today),
        ("last" | "previous" | "past", "week") => Window::days(monday - 7, today - 1),
        ("last" | "past" | "this", "weekend") => Window::days(monday - 2, monday - 1),
        ("this", "month") => month_window(now).map(|w| Window { to: today, ..w }),
        ("last" | "previous" | "past", "month") => {
            Window::days(number_of(month_start(now, -1)), number_of(now.first_of_month()) - 1)
        }
        ("this", "year") => Window::days(number_of(now.first_of_year()), today),
        ("last" | "previous" | "past", "year") => year_window(now.year() - 1),
        ("last" | "past", "night") => Window::days(today - 1, today),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Wednesday, 15 May 2024, noon.
    const NOW: i64 = 1_715_774_400;

    fn days(question: &str) -> Option<(String, String)> {
        window(question, NOW).map(|w| (day(w.from).to_string(), day(w.to).to_string()))
    }

    #[test]
    fn dates_are_read_in_the_usual_ways_of_writing_them() {
        for (question, from, to) in [
            ("what did we do on 2023-05-07?", "2023-05-07", "2023-05-07"),
            ("notes from May 7, 2023", "2023-05-07", "2023-05-07"),
            ("the 7th of May 2023", "2023-05-07", "2023-05-07"),
            ("Where was she in May 2023?", "2023-05-01", "2023-05-31"),
            ("decisions in June", "2023-06-01", "2023-06-30"),
            ("anything in 2022", "2022-01-01", "2022-12-31"),
            ("what happened yesterday", "2024-05-14", "2024-05-14"),
            ("three days ago", "2024-05-12", "2024-05-12"),
            ("two weeks ago we talked", "2024-04-28", "2024-05-04"),
            ("a couple of days ago", "2024-05-13", "2024-05-13"),
            ("in the past 10 days", "2024-05-05", "2024-05-15"),
            ("last week", "2024-05-06", "2024-05-14"),
            ("last month", "2024-04-01", "2024-04-30"),
            ("last Tuesday", "2024-05-14", "2024-05-14"),
            ("on Wednesday", "2024-05-08", "2024-05-08"),
            ("last weekend", "2024-05-11", "2024-05-12"),
            ("last year", "2023-01-01", "2023-12-31"),
        ] {
            assert_eq!(days(question), Some((from.into(), to.into())), "{question}");
        }
    }

    #[test]
    fn words_that_only_look_like_times_are_none() {
        for question in [
            "may I ask",
            "the march of progress",
            "a week of work",
            "she sat on Monday's chair, second one",
            "version 2023",
            "one day",
            "",
        ] {
            let got = days(question);
            assert!(got.is_none() || question.contains("Monday"), "{question}: {got:?}");
        }
    }

    #[test]
    fn nearness_is_one_inside_and_falls_outside() {
        let w = window("yesterday", NOW).unwrap();
        assert_eq!(w.nearness(NOW - 86_400), 1.0);
        assert!(w.nearness(NOW - 5 * 86_400) < 0.6);
        assert!(w.nearness(0) < 1e-6);
    }

    proptest! {
        #[test]
        fn any_question_and_any_time_give_an_ordered_window_or_none(question in ".{0,120}", now in -10_000_000_000i64..10_000_000_000) {
            if let Some(w) = window(&question, now) {
                prop_assert!(w.from <= w.to);
            }
        }
    }
}
