//! Counters of what has happened: runs without rare events prove nothing about rare events.

use core::ops::AddAssign;

macro_rules! seen {
    ($($(#[$doc:meta])* $field:ident = $text:literal,)*) => {
        /// How often each thing was seen.
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
            /// Everything with its name.
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
    /// Holders that were suspended, and went on.
    resumed = "resumed",
    /// Grants after the grant of another that was lost.
    takeovers = "takeovers",
    /// Writes that a resource refused because they came too late.
    stale_writes = "stale writes refused",
    /// Writes accepted.
    writes = "writes accepted",
    /// Acquires that were granted although the answer to one of their requests was lost.
    recovered = "recovered acquires",
    /// Writers that have gone on as readers.
    downgraded = "downgraded",
    /// Acquires that were cancelled when the server had granted them.
    cancelled_grants = "cancelled grants",
    /// Inspections that were answered with what they had found.
    found = "inspections found",
    /// Contenders that inspections have broken.
    broken = "broken contenders",
    /// Holders that received a revocation request.
    revocation_requests = "revocation requests received",
    /// Steps taken.
    steps = "steps",
}
