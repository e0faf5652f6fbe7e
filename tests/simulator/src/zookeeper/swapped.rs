//! An answer that belongs to another request: ZooKeeper matches a commit to a pending request by session and request number, and a session that has moved to
//! another server has a request of the same number there.

use fencepost_core::zookeeper::{Answer, Reply, Request};
use fencepost_models::zookeeper::Ask;

/// The answer `theirs` to the write `before`, as a client gets it as the answer to `ask`.
pub(super) fn answer(ask: &Ask, reply: &Reply, before: &Ask, theirs: Reply) -> Option<Reply> {
    let Reply { session, answer } = theirs;
    let failed = matches!(reply.answer, Answer::Error(_));
    let answer = match (ask, answer) {
        // No client can distinguish this from a success: the answer does not name the request.
        (Ask::Request(Request::Set { .. }), Answer::Created { .. } | Answer::Children(_) | Answer::Done)
            if failed =>
        {
            return None;
        }
        (_, error @ Answer::Error(_)) => error,
        (Ask::Request(Request::Create { .. }), created @ Answer::Created { .. }) => created,
        (Ask::Request(Request::Create { .. }), _) => Answer::Created {
            path: path_of(before)?.into(),
            zxid: 0,
        },
        (Ask::Request(Request::Delete { .. } | Request::Set { .. } | Request::Sync { .. }), _) => {
            Answer::Done
        }
        (Ask::Request(Request::Multi { .. }), children @ Answer::Children(_)) => children,
        // A server cannot encode a transaction of another shape, and closes the connection.
        _ => return None,
    };
    Some(Reply { session, answer })
}

fn path_of(ask: &Ask) -> Option<&str> {
    match ask {
        Ask::Request(
            Request::Create { path, .. }
            | Request::Delete { path }
            | Request::Set { path, .. }
            | Request::Sync { path },
        ) => Some(path),
        _ => None,
    }
}
