//! Recovery from a create that got no reply. The client finds the node that the create may have made, reads it, and
//! keeps or deletes it.

use alloc::string::String;

use crate::{CommandId, Failure, Instant};

use super::super::{
    path,
    setback::{self, Setback},
    wire::{Answer, Request, code},
};
use super::{Contender, Node, Phase, Purpose, entering::Entering};

impl Contender {
    /// The attempt has two nodes. The create that got no reply has made the older one. The contender keeps the older
    /// one, because it has the earlier place.
    pub(super) fn look_at_duplicate(&mut self, duplicate: &str) {
        let path = path::child_of(&self.settings.directory, duplicate);
        self.go_to(Phase::Entering(Entering::default()));
        self.send(Purpose::Adopt, Request::Get { path, watch: false });
        self.send_list();
        self.own.duplicate = Some(duplicate.into());
    }

    /// The contender keeps the earliest of the attempt's nodes, and deletes the others.
    pub(super) fn delete_later_duplicates(&mut self, children: &[String], stem: &str) {
        let kept = self.own.node.as_ref().map(|node| node.name.as_str());
        for duplicate in children
            .iter()
            .filter(|child| child.starts_with(stem) && Some(child.as_str()) != kept)
        {
            self.cleanup.schedule_delete(duplicate.clone());
        }
        self.advance_cleanup();
        self.own.in_doubt = false;
    }

    pub(super) fn adopted(&mut self, now: Instant, id: CommandId, result: &Result<Answer, Failure>) {
        let duplicate = self.own.duplicate.take();
        let setback = match (result, duplicate) {
            (Ok(Answer::Data { stat, .. }), Some(duplicate)) => {
                // A node is the contender's own by its attempt *and* its session (CURATOR-498).
                if self.session.owns(stat) {
                    self.own.node = Some(Node {
                        name: duplicate,
                        czxid: stat.czxid,
                    });
                } else {
                    self.own.in_doubt = false;
                }
                Setback::None
            }
            // The node does not exist any more. The list that follows shows whether there are others.
            (Ok(Answer::Error(code::NO_NODE)), _) => Setback::None,
            (Ok(Answer::Error(error)), _) => setback::setback(*error, id, "looking at our node"),
            (Err(Failure::Closed), _) => setback::closed(id),
            (Ok(_) | Err(_), _) => Setback::Retry,
        };
        if let Phase::Entering(entering) = &mut self.phase {
            entering.setback.worsen(setback);
        }
        self.settle(now);
    }
}
