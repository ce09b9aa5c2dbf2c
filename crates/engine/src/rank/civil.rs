//! Calendar days by their number since 1970, in UTC, as everywhere in Heirloom.
//!
//! Comes in: days since 1970, or a year with a month and a day. Goes out: the other one. What no calendar has (30 February, the year 12000)
//! becomes the nearest day it has: a question is never refused for its date. Never here: a clock.

use jiff::civil::Date;
use jiff::{Span, ToSpan as _, Unit};

/// Where the numbers begin.
const FIRST: Date = Date::constant(1970, 1, 1);

/// Days since 1970 of an instant in seconds.
pub(crate) fn day_number(seconds: i64) -> i64 {
    seconds.div_euclid(86_400)
}

/// The day of a number.
pub(crate) fn day(number: i64) -> Date {
    FIRST.saturating_add(Span::new().days(number.clamp(-4_000_000, 4_000_000)))
}

/// The number of a day.
pub(crate) fn number(day: Date) -> i64 {
    FIRST.until((Unit::Day, day)).map_or(0, |span| i64::from(span.get_days()))
}

/// The day with that date; the last one of its month, if the month is shorter.
pub(crate) fn date(year: i16, month: i8, day: i8) -> Date {
    Date::new(year, month, 1)
        .map_or(FIRST, |first| first.with().day(day.clamp(1, first.days_in_month())).build().unwrap_or(first))
}

/// The first day of the month `months` away.
pub(crate) fn month_start(day: Date, months: i64) -> Date {
    day.first_of_month().saturating_add(months.clamp(-200_000, 200_000).months())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_days_have_their_numbers() {
        assert_eq!(number(date(1970, 1, 1)), 0);
        assert_eq!(number(date(2000, 3, 1)), 11_017);
        assert_eq!(day(11_017), date(2000, 3, 1));
    }

    #[test]
    fn a_date_that_no_calendar_has_becomes_the_nearest_one() {
        assert_eq!(date(2023, 2, 30), date(2023, 2, 28));
        assert_eq!(month_start(date(2024, 3, 31), -1), date(2024, 2, 1));
        assert_eq!(day(i64::MAX), Date::MAX);
    }

    proptest! {
        #[test]
        fn a_day_survives_the_way_there_and_back(days in -800_000i64..2_000_000) {
            prop_assert_eq!(number(day(days)), days);
        }
    }
}
