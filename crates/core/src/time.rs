//! Time: UTC, RFC 3339 on paper, compared as instants.
//!
//! Comes in: text of many hands (with zone, without, date only) and a `now` from the caller. Goes out: an
//! instant or nothing. Never here: the clock.

use jiff::{Timestamp, ToSpan, civil, tz};

/// The instant a text names. A time without zone is UTC; a date alone is midnight UTC.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant);
    }
    // jiff would also read exotic forms (weeks, RFC 9557 annotations) as civil times; only plain ISO is meant.
    if !text.bytes().all(|b| b.is_ascii_digit() || b"-:.T tZz+".contains(&b)) {
        return None;
    }
    let civil = text
        .parse::<civil::DateTime>()
        .ok()
        .or_else(|| text.parse::<civil::Date>().ok().map(|d| d.at(0, 0, 0, 0)))?;
    civil.to_zoned(tz::TimeZone::UTC).ok().map(|z| z.timestamp())
}

/// `2026-01-10T09:00:00Z`: how every time is written.
pub fn format(instant: Timestamp) -> String {
    let at = tz::Offset::UTC.to_datetime(instant);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

/// `2026-01-10`.
pub fn format_date(instant: Timestamp) -> String {
    format(instant)[..10].to_owned()
}

/// Whole days from `then` to `now`, rounded down (negative if `then` is in the future).
pub fn days_between(then: Timestamp, now: Timestamp) -> i64 {
    (now.as_second() - then.as_second()).div_euclid(86_400)
}

/// `now` minus a number of days, as far back as time goes.
pub fn days_before(now: Timestamp, days: u32) -> Timestamp {
    now.checked_sub((i64::from(days) * 24).hours()).unwrap_or(Timestamp::MIN)
}

/// `now` and a number of days, as far as time goes.
pub fn days_after(now: Timestamp, days: u32) -> Timestamp {
    now.checked_add((i64::from(days) * 24).hours()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_without_zone_is_utc_and_a_date_is_midnight() {
        let noon = parse("2026-01-10T12:00:00Z").unwrap();
        assert_eq!(parse("2026-01-10T12:00:00"), Some(noon));
        assert_eq!(parse("2026-01-10 12:00:00"), Some(noon));
        assert_eq!(parse("2026-01-10T21:00:00+09:00"), Some(noon));
        assert_eq!(parse("2026-01-10").map(format).as_deref(), Some("2026-01-10T00:00:00Z"));
        assert_eq!(parse("not a date"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn whole_days_round_down() {
        let now = parse("2026-01-31T00:00:00Z").unwrap();
        assert_eq!(days_between(parse("2026-01-01T00:00:00Z").unwrap(), now), 30);
        assert_eq!(days_between(parse("2026-01-01T00:00:01Z").unwrap(), now), 29);
        assert_eq!(days_between(parse("2026-01-31T00:00:01Z").unwrap(), now), -1);
    }
}
