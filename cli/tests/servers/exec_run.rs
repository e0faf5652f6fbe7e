//! Starts `fencepost exec`, and reads its events and output.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, PipeReader, Read as _},
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill, killpg},
    unistd::Pid,
};
use serde_json::Value;

/// A name that no other test uses.
pub(crate) fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("exec-{}-{number}", std::process::id())
}

/// A run with its events.
pub(crate) struct Run {
    process: Child,
    events: BufReader<PipeReader>,
    /// The command's group, once it is known.
    pub(crate) group: Option<Pid>,
}

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) last: Value,
}

impl Run {
    pub(crate) fn start(url: &str, arguments: &[&str]) -> Self {
        Self::start_with(url, arguments, Stdio::piped())
    }

    pub(crate) fn start_with(url: &str, arguments: &[&str], stdout: Stdio) -> Self {
        let (events, status) = std::io::pipe().unwrap();
        // The shell gets the pipe as its standard input, and passes it on as descriptor 9.
        let script = "exec \"$@\" 9>&0 </dev/null";
        let process = Command::new("sh")
            .args(["-c", script, "sh", env!("CARGO_BIN_EXE_fencepost"), "exec"])
            .args(["--status-fd", "9"])
            .args(arguments)
            .env("FENCEPOST_URL", url)
            .stdin(status)
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            process,
            events: BufReader::new(events),
            group: None,
        }
    }

    pub(crate) fn process(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.process.id()).unwrap())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.process(), signal).unwrap();
    }

    /// Waits for this event.
    pub(crate) fn until(&mut self, event: &str) -> Value {
        loop {
            let mut line = String::new();
            self.events.read_line(&mut line).unwrap();
            assert!(!line.is_empty(), "{event:?} has not come");
            let seen: Value = serde_json::from_str(&line).unwrap();
            if let Some(group) = seen["pid"].as_i64() {
                self.group = Some(Pid::from_raw(i32::try_from(group).unwrap()));
            }
            if seen["event"] == event {
                return seen;
            }
        }
    }

    pub(crate) fn finish(mut self) -> Finished {
        let last = self.until("end");
        let output = self.process.wait_with_output().unwrap();
        Finished {
            // The exit code in the form of a shell.
            code: output
                .status
                .code()
                .or_else(|| output.status.signal().map(|signal| 128 + signal)),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            last,
        }
    }

    /// Waits for the end of a run that could not report it.
    pub(crate) fn gone(mut self) {
        let mut rest = String::new();
        self.events.read_to_string(&mut rest).unwrap();
        self.process.wait().unwrap();
    }
}

/// Runs to the end.
pub(crate) fn finish(url: &str, arguments: &[&str]) -> Finished {
    Run::start(url, arguments).finish()
}

/// Whether a process of the group is left.
pub(crate) fn is_alive(group: Pid) -> bool {
    killpg(group, None::<Signal>).is_ok()
}

/// The limit for every step, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LIMIT, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A file to which several commands append lines.
pub(crate) struct Log(PathBuf);

impl Log {
    pub(crate) fn new() -> Self {
        let path = std::env::temp_dir().join(format!("fencepost-{}.log", unique()));
        File::create_new(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.0).unwrap();
        text.lines().map(Into::into).collect()
    }

    /// Waits until a condition of the lines is true.
    pub(crate) fn until(&self, so: impl Fn(&[String]) -> bool) {
        for _ in 0..6000 {
            if so(&self.lines()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it should be so by now: {:?}", self.lines());
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _removed = std::fs::remove_file(&self.0);
    }
}
