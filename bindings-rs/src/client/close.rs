//! Closing a client. Any number of calls may wait for the end, and one of them reports the result.

use core::{
    mem,
    sync::atomic::{AtomicBool, Ordering},
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use tokio::task::JoinHandle;

/// The end of a client's background task.
pub(super) struct Closing {
    ended: Shared<BoxFuture<'static, Option<usize>>>,
    /// A call has reported the end, or waits to do so.
    reported: AtomicBool,
}

/// The right to report the end. If it is dropped, another call may report.
pub(super) struct Report<'a>(&'a AtomicBool);

impl Closing {
    pub(super) fn of(task: JoinHandle<usize>) -> Self {
        Self {
            ended: task.map(Result::ok).boxed().shared(),
            reported: AtomicBool::new(false),
        }
    }

    /// Returns the right to report the end, unless another call has it.
    pub(super) fn begin(&self) -> Option<Report<'_>> {
        let taken = self.reported.swap(true, Ordering::AcqRel);
        (!taken).then(|| Report(&self.reported))
    }

    /// The number of contenders that are left on the server; `None` if the runtime was shut down before that was known.
    pub(super) async fn ended(&self) -> Option<usize> {
        self.ended.clone().await
    }
}

impl Report<'_> {
    /// The call has reported the end.
    pub(super) fn done(self) {
        mem::forget(self);
    }
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
