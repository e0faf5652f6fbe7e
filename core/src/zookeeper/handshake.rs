//! How long a client waits for the reply to its handshake: a rule for drivers.

use core::time::Duration;

/// The first wait is the session's timeout divided by this number. After one server that does not answer, enough of the
/// timeout remains for other servers.
const PARTS: u32 = 12;
/// The shortest wait. A busy server could not answer in a shorter time.
const SHORTEST: Duration = Duration::from_millis(200);

/// How long a server may take to answer the handshake of a new connection, after this number of `failures` in a row.
///
/// A server that is starting accepts connections before it can answer, and may never answer the first ones (seen on 3.8
/// and 3.9). A host that is down does not even accept connections. kazoo and libzookeeper wait until the session ends,
/// so they lose their locks by one such connection. Each failure doubles the wait, up to two thirds of the timeout, so
/// that the client also reaches a slow server.
#[must_use]
pub fn handshake_timeout(session_timeout: Duration, failures: u32) -> Duration {
    let longest = session_timeout
        .checked_div(3)
        .unwrap_or_default()
        .saturating_mul(2);
    let first = session_timeout
        .checked_div(PARTS)
        .unwrap_or_default()
        .max(SHORTEST);
    first.saturating_mul(2_u32.saturating_pow(failures)).min(longest)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::handshake_timeout;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn it_doubles_up_to_two_thirds_of_the_session() {
        let waits = [0, 1, 2, 3, 4, 99, u32::MAX].map(|failures| handshake_timeout(ms(12_000), failures));
        assert_eq!(waits, [1000, 2000, 4000, 8000, 8000, 8000, 8000].map(ms));
    }

    #[test]
    fn short_sessions_and_long_ones_have_their_bounds() {
        assert_eq!(handshake_timeout(ms(1200), 0), ms(200));
        assert_eq!(handshake_timeout(ms(150), 0), ms(100));
        assert_eq!(handshake_timeout(Duration::MAX, 9), Duration::MAX / 3 * 2);
        assert_eq!(handshake_timeout(Duration::ZERO, 3), Duration::ZERO);
    }
}
