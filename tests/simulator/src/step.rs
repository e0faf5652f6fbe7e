//! The steps of all runs. A run is a list of steps, and gives the same history on every computer. [`notation`](crate::notation) has the form
//! in which steps are written.

/// One of a world's clients, from 0.
pub type Number = u8;

/// One thing that happens. A step that makes no sense in the present state of a world changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// An application invokes an operation.
    Operation(Number, Operation),
    /// The server takes a request: the first of a client's, or the n-th where nothing keeps them in order.
    Execute(Number, u8),
    /// A client receives an answer: the first, or the n-th.
    Answer(Number, u8),
    /// A client receives the next notice.
    Notice(Number),
    /// A client looks at its clock.
    Tick(Number),
    /// So many microseconds pass.
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
            /// The names of all there are.
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

            /// The one of that name. A number that is left out is 0.
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
    /// What an application invokes.
    Operation {
        /// Acquire without a timeout.
        Acquire = "acquire",
        /// Acquire within so many microseconds.
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
        /// The first (n-th) request is lost before it is executed, and the client learns that there is no answer.
        LoseRequest(u8) = "lose-request",
        /// The first (n-th) answer is lost after the request was executed, and the client learns that there is no answer.
        LoseAnswer(u8) = "lose-answer",
        /// The client gives the first (n-th) request up, which will still be executed.
        GiveUp(u8) = "give-up",
        /// The next notice comes twice.
        Double = "double-notice",
        /// The next notice is lost: by the server, or by the client library.
        LoseNotice = "lose-notice",
        /// The connection breaks; so many of the requests under way are executed still.
        Disconnect(u8) = "disconnect",
        /// After a lost connection, the next write gets the answer to an earlier write: servers match answers by the session and the
        /// request's number, and client libraries count from 1 on every connection.
        Swap = "swap-answer",
        /// The client connects again, to the n-th server. With the highest bit set, its library has forgotten its watches and what it has seen.
        Reconnect(u8) = "reconnect",
        /// The client receives nothing, and does not look at its clock, until it wakes.
        Pause = "pause",
        /// The client goes on after a pause.
        Wake = "wake",
        /// The process ends, and another one takes its place.
        Crash = "crash",
    }
}

named! {
    /// The faults of the server.
    ServerFault {
        /// The server ends the session of the client that made the n-th contender.
        Expire(u8) = "expire",
        /// An operator deletes what the n-th contender has written.
        Operator(u8) = "operator",
        /// The server throttles the next requests: it answers them by a temporary error.
        Throttle(u8) = "throttle",
        /// The server deletes what clients can make again: its scripts, its empty directories.
        Forget = "forget",
        /// The n-th server of an ensemble, or the replica, catches up.
        CatchUp(u8) = "catch-up",
        /// The n-th server of an ensemble is cut off from the others, or is connected to them again.
        CutOff(u8) = "cut-off",
        /// Another server takes over, and the former leader keeps its connections. In an ensemble it does not notice, and answers what it
        /// can answer alone. On Redis it is a replica now, whose data get out of date, and no data are lost.
        Depose = "depose",
        /// Another server takes over.
        FailOver = "fail-over",
        /// The server starts again, without its data if it keeps none.
        Restart = "restart",
        /// The server's memory is full, or has room again.
        Full = "full",
        /// The server cannot save to its disk, or can again.
        NoDisk = "no-disk",
        /// The server has fewer replicas than it wants, or enough again.
        FewReplicas = "few-replicas",
        /// The clients' user loses its right to channels, or has it again.
        NoChannels = "no-channels",
        /// An operator makes the shortest session timeout longer that the servers allow. (If it becomes shorter, a suspended grant can end
        /// before its `valid_until`; it is not valid then.)
        Timeouts = "timeouts",
        /// The server is exchanged for one of an older version, or for a newer one again.
        Older = "older",
    }
}
