//! The options of `exec`, and the plan that follows from them.

use std::{ffi::OsString, fs::File, sync::Arc, time::Duration};

use clap::{Args, ValueEnum, value_parser};
use fencepost_core::{
    options::{self, Server},
    url::Address,
};

use super::{code::Failure, descriptor};
use crate::{
    address::{address, demand, server},
    time::time,
};

const EXIT_CODES: &str = "\
Exit codes:
  the command's own; 128 and the number of the signal that has ended it
  64   wrong usage; nothing was run
  65   --once: the record of the operation does not allow a run
  69   unavailable: no server answered, or the server refused the request
  70   the lock was lost, or --max-hold has passed; the command was ended
  71   a failure of this computer
  74   the command has succeeded, and the report of --json could not be written
  75   not acquired, unless --conflict-exit-code says otherwise
  126  the command cannot be executed
  127  the command was not found
  128+n  signal n came while fencepost waited; the command was not started";

/// The command to run, and its lock.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_CODES, override_usage = "fencepost exec [OPTIONS] <NAME> -- <CMD>...")]
pub(crate) struct Options {
    /// The address of the lock's server: zk://HOST:PORT/PREFIX or redis://HOST:PORT; by default the value of
    /// FENCEPOST_URL
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The lease: how long the server keeps the lock without a message from fencepost; 30s unless the address has a
    /// session_timeout
    #[arg(long, value_name = "TIME", value_parser = time)]
    ttl: Option<Duration>,
    /// Wait at most TIME for the lock; without a limit by default
    #[arg(long, short, value_name = "TIME", value_parser = time)]
    wait: Option<Duration>,
    /// Do not wait if another contender holds the lock
    #[arg(long, short, conflicts_with = "wait")]
    nonblock: bool,
    /// Acquire the lock as a reader: commands with --shared run at the same time (ZooKeeper)
    #[arg(long, short, conflicts_with = "limit")]
    shared: bool,
    /// Use a semaphore with N permits: all commands must use the same N (ZooKeeper)
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// What fencepost does to the command when the lock is lost, or is about to be lost
    #[arg(long, value_name = "WHAT", default_value = "term")]
    on_lost: OnLost,
    /// The time between SIGTERM and SIGKILL; a tenth of --ttl by default
    #[arg(long, value_name = "TIME", value_parser = time)]
    grace: Option<Duration>,
    /// Keep the lock for at least TIME, even if the command ends earlier
    #[arg(long, value_name = "TIME", value_parser = time)]
    min_hold: Option<Duration>,
    /// End the command after TIME
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_hold: Option<Duration>,
    /// The exit code if fencepost did not get the lock; with 0, it prints no message about it, except on a terminal
    #[arg(long, short = 'E', value_name = "N", default_value_t = super::code::CONFLICT)]
    conflict_exit_code: u8,
    /// Print one line of JSON at the end
    #[arg(long)]
    json: bool,
    /// Write a line of JSON for each event to this descriptor
    #[arg(long, value_name = "FD", allow_negative_numbers = true, value_parser = descriptor::open)]
    status_fd: Option<Arc<File>>,
    /// Run the command once under this key: later runs return its exit status
    #[arg(long, value_name = "KEY")]
    once: Option<String>,
    /// How long the server keeps the result of --once; 24h by default
    #[arg(long, value_name = "TIME", requires = "once", value_parser = time)]
    retain: Option<Duration>,
    /// The lock's name, instead of the argument NAME. Use `--lock=NAME` if the name may begin with `-`
    #[arg(long, value_name = "NAME")]
    lock: Option<String>,
    /// The lock's name
    #[arg(required_unless_present = "lock", conflicts_with = "lock")]
    name: Option<String>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// What fencepost does to the command when the lock is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OnLost {
    /// Send SIGTERM, and SIGKILL after --grace
    Term,
    /// SIGKILL
    Kill,
    /// Print a line on standard error; the command continues without the lock
    Warn,
}

/// How long to wait for the lock.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    Forever,
    For(Duration),
    Not,
}

/// The kind of lock.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Mutex,
    Reader,
    Semaphore { permits: u32 },
}

/// The operation of `--once`.
#[derive(Clone, Debug)]
pub(super) struct Once {
    pub(super) key: String,
    pub(super) retain: Option<Duration>,
}

/// Checked options.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) url: String,
    pub(super) on_redis: bool,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) ttl: Duration,
    pub(super) wait: Wait,
    pub(super) on_lost: OnLost,
    pub(super) grace: Duration,
    pub(super) min_hold: Duration,
    pub(super) max_hold: Option<Duration>,
    pub(super) once: Option<Once>,
    pub(super) command: Vec<OsString>,
}

/// How fencepost reports the end.
#[derive(Clone, Debug)]
pub(super) struct Reporting {
    pub(super) name: String,
    pub(super) json: bool,
    pub(super) status: Option<Arc<File>>,
    pub(super) conflict: u8,
}

const TTL: Duration = Duration::from_secs(30);
/// The shortest lease: a shorter one could end while a busy computer starts the command.
const LEAST_TTL: Duration = Duration::from_secs(5);
/// `--grace` is at most this part of the lease. On ZooKeeper, only a third of the lease is left when the client
/// requests the next confirmation. So the end of the command may take up to a quarter: this fifth, and the twentieth
/// below.
const GRACE_PART: u32 = 5;
const USUAL_GRACE_PART: u32 = 10;
/// fencepost sends SIGKILL this part of the lease before the end of the lease, because processes do not end at once.
const RESERVE_PART: u32 = 20;

impl Plan {
    /// How long before the end of the lease the whole group gets SIGKILL.
    pub(super) fn reserve(&self) -> Duration {
        self.ttl / RESERVE_PART
    }

    /// How long before the end of the lease fencepost has to begin to end the command.
    pub(super) fn notice(&self) -> Duration {
        match self.on_lost {
            OnLost::Term => self.grace + self.reserve(),
            OnLost::Kill => self.reserve(),
            OnLost::Warn => Duration::ZERO,
        }
    }
}

impl Options {
    /// The parser requires one of the two.
    fn name(&self) -> String {
        self.name
            .clone()
            .or_else(|| self.lock.clone())
            .unwrap_or_default()
    }

    pub(super) fn reporting(&self) -> Reporting {
        Reporting {
            name: self.name(),
            json: self.json,
            status: self.status_fd.clone(),
            conflict: self.conflict_exit_code,
        }
    }

    /// Makes all checks that need no server. `before` is the address before the command's name.
    pub(super) fn plan(self, before: Option<String>) -> Result<Plan, Failure> {
        let name = self.name();
        let (url, parsed) = address(before, self.url).map_err(Failure::usage)?;
        let kind = match (self.shared, self.limit) {
            (true, _) => Kind::Reader,
            (false, Some(permits)) => Kind::Semaphore { permits },
            (false, None) => Kind::Mutex,
        };
        let server = server(&parsed);
        let demanded = match kind {
            Kind::Mutex => Ok(()),
            Kind::Reader => demand(server, options::Kind::Reader, "--shared", "read/write lock"),
            Kind::Semaphore { .. } => demand(server, options::Kind::Semaphore, "--limit", "semaphore"),
        };
        demanded.map_err(Failure::usage)?;
        let (url, ttl) = match parsed {
            Address::ZooKeeper { session_timeout, .. } => with_session(url, session_timeout, self.ttl)?,
            _ => (url, self.ttl.unwrap_or(TTL)),
        };
        let grace = self.grace.unwrap_or(ttl / USUAL_GRACE_PART);
        if self.on_lost != OnLost::Warn && ttl < LEAST_TTL {
            return Err(Failure::usage(format!(
                "a lease of {ttl:?} is too short to end a command in it: give a --ttl of at least {LEAST_TTL:?}"
            )));
        }
        if self.on_lost == OnLost::Term && ttl < grace * GRACE_PART {
            return Err(Failure::usage(format!(
                "a lease of {ttl:?} is too short for a --grace of {grace:?}: the command could outlive the lock. Give a --ttl of at least {:?}, or a shorter --grace",
                grace * GRACE_PART
            )));
        }
        let min_hold = self.min_hold.unwrap_or_default();
        if let Some(max_hold) = self.max_hold.filter(|max_hold| *max_hold < min_hold) {
            return Err(Failure::usage(format!(
                "--max-hold {max_hold:?} is shorter than --min-hold {min_hold:?}"
            )));
        }
        Ok(Plan {
            url,
            on_redis: server == Server::Redis,
            name,
            kind,
            ttl,
            wait: match (self.nonblock, self.wait) {
                (true, _) => Wait::Not,
                (false, Some(limit)) => Wait::For(limit),
                (false, None) => Wait::Forever,
            },
            on_lost: self.on_lost,
            grace,
            min_hold,
            max_hold: self.max_hold,
            once: self.once.map(|key| Once {
                key,
                retain: self.retain,
            }),
            command: self.command,
        })
    }
}

/// On ZooKeeper, the lease is the session timeout, which is a part of the address.
fn with_session(
    url: String,
    in_address: Duration,
    given: Option<Duration>,
) -> Result<(String, Duration), Failure> {
    match (url.contains("session_timeout="), given) {
        (true, Some(_)) => Err(Failure::usage(
            "--ttl and session_timeout in the address both give the session's timeout: leave one of them out",
        )),
        (true, None) => Ok((url, in_address)),
        (false, given) => {
            let ttl = given.unwrap_or(TTL);
            let sign = if url.contains('?') { '&' } else { '?' };
            let millis = ttl.as_millis().max(1);
            Ok((format!("{url}{sign}session_timeout={millis}"), ttl))
        }
    }
}
