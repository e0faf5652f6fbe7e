//! Writes the messages of `exec` to standard error and to `--status-fd`, in a separate thread. A reader that does not
//! read blocks this thread, but not the watch: fencepost still ends the command in time, and releases the lock.

use std::{
    fs::File,
    io::{self, ErrorKind, Write as _},
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use nix::sys::signal::{SigSet, Signal};

use crate::output::complain;

/// How long fencepost waits for a reader before it exits.
const LAST_WAIT: Duration = Duration::from_secs(5);

pub(super) struct Messages {
    lines: Sender<Line>,
    written: Receiver<()>,
}

enum Line {
    Complaint(String),
    Event(String),
}

impl Messages {
    /// Starts the thread. `status` is the descriptor of `--status-fd`.
    pub(super) fn to(status: Option<Arc<File>>) -> io::Result<Self> {
        let (lines, waiting) = mpsc::channel();
        let (done, written) = mpsc::channel();
        thread::Builder::new().spawn(move || {
            write(&waiting, status);
            drop(done);
        })?;
        Ok(Self { lines, written })
    }

    pub(super) fn complain(&self, text: String) {
        let _sent = self.lines.send(Line::Complaint(text));
    }

    pub(super) fn event(&self, text: String) {
        let _sent = self.lines.send(Line::Event(text));
    }

    /// Waits until everything is written, or until a reader has not read for too long.
    pub(super) fn finish(self) {
        drop(self.lines);
        let _written = self.written.recv_timeout(LAST_WAIT);
    }
}

fn write(lines: &Receiver<Line>, mut status: Option<Arc<File>>) {
    // The command may have the terminal. With `stty tostop`, the kernel stops a background process that writes to the
    // terminal, unless the thread blocks this signal.
    let mut block = SigSet::empty();
    block.add(Signal::SIGTTOU);
    let _blocked = block.thread_block();
    for line in lines {
        match line {
            Line::Complaint(text) => complain(&text),
            Line::Event(text) => {
                let Some(file) = &mut status else { continue };
                if let Err(error) = file.write_all(format!("{text}\n").as_bytes()) {
                    // If the reader of the events has closed the descriptor, the command still continues.
                    if error.kind() != ErrorKind::BrokenPipe {
                        complain(&format!("cannot write to --status-fd: {error}"));
                    }
                    status = None;
                }
            }
        }
    }
}
