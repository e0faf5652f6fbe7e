//! The steps of all runs. A run is a list of steps, and gives the same history on every computer.
//! [`notation`](crate::notation) is the text form of steps.

/// One of a world's clients, from 0.
pub type Number = u8;

/// One step. A step that makes no sense in the present state of a world changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// An application invokes an operation.
    Operation(Number, Operation),
    /// The server executes a request of a client: the first, or the n-th if their order is not fixed.
    Execute(Number, u8),
    /// A client receives an answer: the first, or the n-th.
    Answer(Number, u8),
    /// A client receives the next notice.
    Notice(Number),
    /// A client looks at its clock.
    Tick(Number),
    /// This many microseconds pass.
    Pass(u32),
    /// A write reaches the resource that the lock protects.
    Land(u8),
    /// A fault of a client.
    ClientFault(Number, ClientFault),
    /// A fault of the server.
    ServerFault(ServerFault),
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $(($field:ty))? = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$variant_doc])* $variant $(($field))?,)*
        }

        impl $name {
            /// The names of all variants.
            pub const NAMES: &'static [&'static str] = &[$($text,)*];

            /// Its name, without its number.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant { .. } => $text,)* }
            }

            /// Its number, if it has one.
            #[must_use]
            pub fn number(self) -> Option<u32> {
                match self { $(Self::$variant $((named!(@field number $field)))? => named!(@number $(number $field)?),)* }
            }

            /// The variant with that name. An omitted number is 0.
            #[must_use]
            pub fn named(name: &str, number: Option<u32>) -> Option<Self> {
                match name {
                    $($text => named!(@make $variant number $($field)?),)*
                    _ => None,
                }
            }
        }
    };
    (@field $number:ident $field:ty) => { $number };
    (@number) => { None };
    (@number $number:ident $field:ty) => { Some(u32::from($number)) };
    (@make $variant:ident $number:ident) => { $number.is_none().then_some(Self::$variant) };
    (@make $variant:ident $number:ident $field:ty) => {
        <$field>::try_from($number.unwrap_or_default()).ok().map(Self::$variant)
    };
}

named! {
    /// A call by an application.
    Operation {
        /// Acquire without a timeout.
        Acquire = "acquire",
        /// Acquire with a timeout in microseconds.
        AcquireWithin(u32) = "acquire-within",
        /// Acquire if the lock is free.
        Try = "try",
        /// Cancel the acquire.
        Cancel = "cancel",
        /// Extend the grant.
        Extend = "extend",
        /// Downgrade: become a reader.
        Downgrade = "downgrade",
        /// Release the lock.
        Release = "release",
        /// Write to the resource that the lock protects.
        Write = "write",
    }
}

named! {
    /// The faults of one client.
    ClientFault {
        /// The first (n-th) request is lost before it is executed, and the client gets the report that there
        /// is no answer.
        LoseRequest(u8) = "lose-request",
        /// The first (n-th) answer is lost after the request was executed, and the client gets the report
        /// that there is no answer.
        LoseAnswer(u8) = "lose-answer",
        /// The client gives up the first (n-th) request, but the server still executes it.
        GiveUp(u8) = "give-up",
        /// The next notice arrives twice.
        Double = "double-notice",
        /// The next notice is lost: by the server, or by the client library.
        LoseNotice = "lose-notice",
        /// The connection breaks; the server still executes this many of the pending requests.
        Disconnect(u8) = "disconnect",
        /// After a lost connection, the next write gets the answer to an earlier write: servers match answers by the session and the
        /// request's number, and client libraries count from 1 on every connection.
        Swap = "swap-answer",
        /// The client connects again, to the n-th server. With the highest bit set, its library has forgotten its watches and what it has seen.
        Reconnect(u8) = "reconnect",
        /// The client pauses: until it wakes, it receives nothing, and does not look at its clock.
        Pause = "pause",
        /// The client continues after a pause.
        Wake = "wake",
        /// The process ends, and another one replaces it.
        Crash = "crash",
    }
}

named! {
    /// The faults of the server.
    ServerFault {
        /// The server ends the session of the client that made the n-th contender.
        Expire(u8) = "expire",
        /// An operator deletes the node or key of the n-th contender.
        Operator(u8) = "operator",
        /// The server throttles the next requests: it answers them with a temporary error.
        Throttle(u8) = "throttle",
        /// The server deletes things that clients can make again: its scripts, its empty directories.
        Forget = "forget",
        /// The n-th server of an ensemble, or the replica, gets all missing data.
        CatchUp(u8) = "catch-up",
        /// The n-th server of an ensemble is cut off from the others, or is connected to them again.
        CutOff(u8) = "cut-off",
        /// Another server takes over, and the former leader keeps its connections. In an ensemble, it does
        /// not notice this, and answers the requests that it can answer alone. On Redis, it is now a replica
        /// with old data, and no data is lost.
        Depose = "depose",
        /// Another server takes over.
        FailOver = "fail-over",
        /// The server restarts, without its data if it stores nothing.
        Restart = "restart",
        /// The server's memory becomes full, or has free space again.
        Full = "full",
        /// The server can no longer save to its disk, or can again.
        NoDisk = "no-disk",
        /// The server has too few replicas, or enough again.
        FewReplicas = "few-replicas",
        /// The clients' user loses its right to channels, or gets it again.
        NoChannels = "no-channels",
        /// An operator makes the servers' shortest allowed session timeout longer. (If it becomes shorter, a
        /// suspended grant can end before its `valid_until`, but it is not valid then.)
        Timeouts = "timeouts",
        /// The server is replaced with one of an older version, or with a newer one again.
        Older = "older",
    }
}
