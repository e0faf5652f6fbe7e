//! What can happen: the steps of all runs. A run is a list of steps, and gives the same history wherever it is walked. How steps are
//! written is in [`notation`](crate::notation).

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
    /// Something goes wrong for a client.
    ClientFault(Number, ClientFault),
    /// Something goes wrong on the server.
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
        /// The lock, however long it takes.
        Acquire = "acquire",
        /// The lock within so many microseconds.
        AcquireWithin(u32) = "acquire-within",
        /// The lock now or not at all.
        Try = "try",
        /// No lock any more.
        Cancel = "cancel",
        /// A longer grant.
        Extend = "extend",
        /// To go on as a reader.
        Downgrade = "downgrade",
        /// To give the lock back.
        Release = "release",
        /// To write to the resource that the lock protects.
        Write = "write",
    }
}

named! {
    /// What can go wrong for one client.
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
        /// Behind a lost connection, the next write is answered with what a write of before has come to: servers match answers by the session and the
        /// request's number, and client libraries count from 1 on every connection.
        Swap = "swap-answer",
        /// The connection is back, at the n-th server; with the highest bit set, what was watched and seen is forgotten.
        Reconnect(u8) = "reconnect",
        /// The client receives nothing, and does not look at its clock, until it wakes.
        Pause = "pause",
        /// The client goes on after a pause.
        Wake = "wake",
        /// The process ends; another one takes its place.
        Crash = "crash",
    }
}

named! {
    /// What can go wrong on the server.
    ServerFault {
        /// The server ends the session of the client that made the n-th contender.
        Expire(u8) = "expire",
        /// An operator deletes what the n-th contender has written.
        Operator(u8) = "operator",
        /// The server throttles the next requests: it answers them by an error that passes.
        Throttle(u8) = "throttle",
        /// The server forgets what it can do without: its scripts, its empty directories.
        Forget = "forget",
        /// The n-th server of an ensemble, or the replica, catches up.
        CatchUp(u8) = "catch-up",
        /// The n-th server of an ensemble is cut off from the others, or is with them again.
        CutOff(u8) = "cut-off",
        /// Another server takes over, and the one that led keeps its connections. In an ensemble it does not notice, and answers what it
        /// can answer alone; on Redis it has become a replica, whose data grow old, and nothing is lost.
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
        /// The server is exchanged for one of an older version, or for a newer one again.
        Older = "older",
    }
}
