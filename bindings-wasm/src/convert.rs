//! Conversion of numbers: JavaScript's are floating-point, the core's are whole.

use core::time::Duration;

use crate::error::{self, Kept};
use fencepost_core::{CommandId, ConfigError, Instant, Key, Misuse, positive, redis::Reply};

/// Numbers from here on are not exact in JavaScript (2^53).
const EXACT: f64 = 9_007_199_254_740_992.0;

const PER_MILLI: f64 = 1000.0;

/// The present time, from milliseconds.
pub(crate) fn now(millis: f64) -> Result<Instant, Kept> {
    let micros = millis * PER_MILLI;
    if !(0.0..EXACT).contains(&micros) {
        return Err(error::config(&unreadable("now")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    let nearest = (micros + 0.5) as u64;
    Ok(Instant::from_micros(nearest))
}

/// A point in time for JavaScript; NaN stands for none.
pub(crate) fn millis(instant: Option<Instant>) -> f64 {
    instant.map_or(f64::NAN, |instant| number(instant.as_micros()) / PER_MILLI)
}

/// A duration for JavaScript.
pub(crate) fn in_millis(duration: Duration) -> f64 {
    number(duration.as_secs()) * PER_MILLI + f64::from(duration.subsec_micros()) / PER_MILLI
}

/// A number of milliseconds as whole microseconds, rounded away from zero, so that a positive value stays
/// positive.
pub(crate) fn micros(what: &str, millis: f64) -> Result<i64, ConfigError> {
    if !millis.is_finite() {
        return Err(unreadable(what));
    }
    let micros = millis * PER_MILLI;
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and is too long then")]
    let cut = micros as i64;
    #[expect(clippy::cast_precision_loss, reason = "for the comparison alone")]
    let rest = micros - cut as f64;
    let away = i64::from(rest > 0.0) - i64::from(rest < 0.0);
    Ok(cut.saturating_add(away))
}

/// A positive duration from milliseconds; `hint` is added to the error's text.
pub(crate) fn duration(what: &'static str, millis: f64, hint: &'static str) -> Result<Duration, Kept> {
    micros(what, millis)
        .and_then(|micros| positive(what, micros, hint))
        .map_err(|why| error::config(&why))
}

/// A machine's key.
pub(crate) fn key(number: f64) -> Result<Key, Kept> {
    whole(number)
        .map(Key)
        .ok_or_else(|| error::misuse(&Misuse::UnknownKey { key: 0 }))
}

/// A command's id.
pub(crate) fn id(number: f64) -> Result<CommandId, Kept> {
    whole(number)
        .map(CommandId)
        .ok_or_else(|| error::misuse(&Misuse::UnknownCommand { id: 0 }))
}

/// A seed. Any number is accepted, even if it is not whole.
pub(crate) fn seed(number: f64) -> u64 {
    whole(number).unwrap_or_else(|| number.to_bits())
}

/// A number for JavaScript. Keys, ids and microseconds stay below the limit of exact numbers.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) const fn number(value: u64) -> f64 {
    value as f64
}

/// A whole number that is exact in JavaScript.
pub(crate) fn whole(given: f64) -> Option<u64> {
    if !(0.0..EXACT).contains(&given) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    let cut = given as u64;
    #[expect(clippy::float_cmp, reason = "equal only if nothing was cut off")]
    (number(cut) == given).then_some(cut)
}

/// A Redis integer from a whole number that JavaScript has checked.
#[expect(clippy::cast_possible_truncation, reason = "it is exact")]
pub(crate) const fn integer(given: f64) -> Reply {
    Reply::Int(given as i64)
}

/// The error does not have the number: code that formats floating-point numbers would be a tenth of the
/// module.
fn unreadable(what: &str) -> ConfigError {
    ConfigError::Unreadable {
        why: [what, " has to be a finite number of milliseconds"].concat(),
    }
}
