//! The watches on one server. Each watch fires once.

use alloc::{string::String, vec::Vec};

use fencepost_core::{CommandId, SessionId, sorted::SortedMap};

use super::ask::{Event, FiredWatch, Kind};

/// A watch: its request, its session, and the change for which it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Watch {
    pub(super) id: CommandId,
    pub(super) session: SessionId,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Watches(SortedMap<String, Vec<Watch>>);

impl Watches {
    pub(super) fn add(&mut self, path: String, watch: Watch) {
        self.0.update(path, |watches| watches.push(watch));
    }

    /// Removes all watches of a session and returns them.
    pub(super) fn take(&mut self, session: SessionId) -> Vec<(String, Watch)> {
        let mut taken = Vec::new();
        self.0.retain(|path, watches| {
            watches.retain(|watch| {
                let own = watch.session == session;
                if own {
                    taken.push((path.clone(), *watch));
                }
                !own
            });
            !watches.is_empty()
        });
        taken
    }

    /// Fires the watches that wait for this event.
    pub(super) fn fire(&mut self, path: &str, event: Event, zxid: i64, fired: &mut Vec<FiredWatch>) {
        let Some(watches) = self.0.get_mut(path) else {
            return;
        };
        watches.retain(|watch| {
            let fires = match event {
                Event::Created | Event::Changed => watch.kind != Kind::Children,
                Event::Deleted => true,
                Event::Children => watch.kind == Kind::Children,
            };
            if fires {
                fired.push(FiredWatch {
                    id: watch.id,
                    session: watch.session,
                    path: path.into(),
                    event,
                    zxid,
                    kind: watch.kind,
                });
            }
            !fires
        });
        if watches.is_empty() {
            self.0.remove(path);
        }
    }
}
