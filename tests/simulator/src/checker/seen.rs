//! Counters of events: runs without rare events prove nothing about rare events.

use core::ops::AddAssign;

macro_rules! seen {
    ($($(#[$doc:meta])* $field:ident = $text:literal,)*) => {
        /// How often each event occurred.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Seen {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl AddAssign for Seen {
            fn add_assign(&mut self, more: Self) {
                $(self.$field += more.$field;)*
            }
        }

        impl Seen {
            /// All counters with their names.
            pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$(($text, self.$field),)*].into_iter()
            }
        }
    };
}

seen! {
    /// Acquires that were granted.
    granted = "granted",
    /// Releases confirmed.
    released = "released",
    /// Grants lost.
    lost = "lost grants",
    /// Refused acquires and releases.
    refused = "refused",
    /// Holders that were suspended and then resumed.
    resumed = "resumed",
    /// Grants after the lost grant of another client.
    takeovers = "takeovers",
    /// Writes that a resource refused because they came too late.
    stale_writes = "stale writes refused",
    /// Writes accepted.
    writes = "writes accepted",
    /// Acquires that were granted although the answer to one of their requests was lost.
    recovered = "recovered acquires",
    /// Writers that have become readers.
    downgraded = "downgraded",
    /// Acquires that were cancelled after the server had granted them.
    cancelled_grants = "cancelled grants",
    /// Inspections that returned contenders.
    found = "inspections found",
    /// Contenders that inspections have broken.
    broken = "broken contenders",
    /// Holders that received a revocation request.
    revocation_requests = "revocation requests received",
    /// Steps taken.
    steps = "steps",
}
