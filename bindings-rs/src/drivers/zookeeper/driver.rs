//! The driver passes commands to the present session, if there is one.

use alloc::sync::Arc;

use fencepost_core::{
    Command, Failure, Instant, SessionId,
    lowered::{Operation, Outcome, Request},
};
use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};
use zookeeper_client::{Error, SessionState};

use super::{
    requests, session,
    state::{ConnectionState, Driver, Source},
};
use crate::engine::driver::{Completed, ConnectionTask, Driver as Commands, Sink};

impl Driver {
    /// If the runtime in which the program made its client has ended, all requests fail. The library's state does not
    /// show this.
    fn watched(&self, request: BoxFuture<'static, Completed>) -> BoxFuture<'static, Completed> {
        let in_doubt = Arc::clone(&self.in_doubt);
        let look = move |completed: Completed| {
            if let Completed::Outcome {
                native: Some(native),
                outcome: Outcome::Failed(_),
                ..
            } = &completed
                && matches!(native.downcast_ref(), Some(Error::UnexpectedError(_)))
            {
                in_doubt.notify_one();
            }
            completed
        };
        request.map(look).boxed()
    }
}

impl Commands for Driver {
    fn start(&self, command: Command<Request>) -> BoxFuture<'static, Completed> {
        let id = command.id;
        let failure = match &*self.connection_state() {
            ConnectionState::Up(_) if command.request.operation == Operation::Reconnect => {
                if let Source::Hosts { .. } = self.source {
                    self.silent.notify_one();
                }
                Failure::NotSent
            }
            ConnectionState::Up(connection) if connection.client.state() == SessionState::SyncConnected => {
                let session = SessionId(connection.client.session_id().0);
                let acl = Arc::clone(&self.acl);
                let request = requests::start(Arc::clone(connection), session, acl, command);
                return match self.source {
                    Source::Given(_) => self.watched(request),
                    Source::Hosts { .. } => request,
                };
            }
            ConnectionState::Up(_) | ConnectionState::Down => Failure::NotSent,
            ConnectionState::Closed => Failure::Closed,
        };
        future::ready(Completed::outcome(id, Outcome::Failed(failure), None)).boxed()
    }
}

impl ConnectionTask for Driver {
    fn run(self: Arc<Self>, sink: Arc<dyn Sink>) -> BoxFuture<'static, ()> {
        Box::pin(session::run(self, sink))
    }

    fn finish(self: Arc<Self>, limit: Instant) -> BoxFuture<'static, ()> {
        let last = core::mem::replace(&mut *self.connection_state(), ConnectionState::Closed);
        Box::pin(async move {
            if let (ConnectionState::Up(connection), Source::Hosts { .. }) = (last, &self.source) {
                session::close(connection, limit).await;
            }
        })
    }
}
