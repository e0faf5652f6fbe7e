//! Lengths of time in options.

use std::time::Duration;

/// A length of time with its unit: 200ms, 30s, 5m, 24h, 7d.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("{text:?} is not a length of time: write 200ms, 30s, 5m, 24h or 7d"))?;
    let micros = match &text[digits.len()..] {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => {
            return Err(format!(
                "{text:?} needs a unit: write {digits}ms, {digits}s, {digits}m, {digits}h or {digits}d"
            ));
        }
    };
    let time = number
        .checked_mul(micros)
        .map(Duration::from_micros)
        .ok_or_else(|| format!("{text:?} is too long"))?;
    if time.is_zero() {
        return Err("it has to be longer than nothing".into());
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(time("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(time("7us"), Ok(Duration::from_micros(7)));
        assert_eq!(time("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(time("24h"), Ok(Duration::from_secs(86_400)));
        assert_eq!(time("7d"), Ok(Duration::from_secs(604_800)));
        for bad in [
            "",
            "200",
            "ms",
            "-5ms",
            "0ms",
            "2w",
            "1.5s",
            "99999999999999999999s",
            "99999999999999999d",
        ] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }
}
