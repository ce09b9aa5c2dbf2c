//! Calendar days without a clock: days since 1970 to year, month, day and back.
//!
//! The proleptic Gregorian calendar in UTC, as everywhere in Heirloom. The arithmetic follows the usual one
//! of counting years from March, so that a leap day is the last of its year.

/// A calendar day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day {
    pub(crate) year: i32,
    /// 1 to 12.
    pub(crate) month: u32,
    /// 1 to 31.
    pub(crate) day: u32,
}

/// Days since 1970 of an instant in seconds.
pub(crate) fn day_number(seconds: i64) -> i64 {
    seconds.div_euclid(86_400)
}

impl Day {
    /// The day that is `days` after 1 January 1970.
    pub(crate) fn from_number(days: i64) -> Self {
        let shifted = days.clamp(-4_000_000, 4_000_000) + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self { year: year as i32, month: month as u32, day: day as u32 }
    }

    /// Days since 1970.
    pub(crate) fn number(self) -> i64 {
        let year = i64::from(self.year) - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let month_from_march = i64::from((self.month + 9) % 12);
        let of_year = (153 * month_from_march + 2) / 5 + i64::from(self.day) - 1;
        let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
        era * 146_097 + of_era - 719_468
    }

    /// The first day of the month `months` away.
    pub(crate) fn month_start(self, months: i32) -> Self {
        let count = self.year * 12 + self.month as i32 - 1 + months;
        Self { year: count.div_euclid(12), month: count.rem_euclid(12) as u32 + 1, day: 1 }
    }
}

/// Day of the week of a day number, Monday is 0.
pub(crate) fn weekday(days: i64) -> i64 {
    (days + 3).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_days_have_their_numbers() {
        assert_eq!(Day { year: 1970, month: 1, day: 1 }.number(), 0);
        assert_eq!(Day { year: 2000, month: 3, day: 1 }.number(), 11_017);
        assert_eq!(weekday(Day { year: 2026, month: 11, day: 16 }.number()), 0);
    }

    proptest! {
        #[test]
        fn a_day_survives_the_way_there_and_back(days in -800_000i64..2_000_000) {
            prop_assert_eq!(Day::from_number(days).number(), days);
        }
    }
}
