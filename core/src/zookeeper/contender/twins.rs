//! Recovering a create that was never answered: the node that it may have made is found, looked at, and kept or deleted.

use alloc::string::String;

use crate::{CommandId, Failure, Instant};

use super::super::{
    path,
    wire::{Answer, Request, code},
};
use super::{
    Contender, Node, Phase, Purpose,
    entering::Entering,
    setback::{self, Setback},
};

impl Contender {
    /// Two nodes of one attempt: the one that was never answered for is the older one, and keeps its place.
    pub(super) fn look_at_twin(&mut self, twin: &str) {
        let path = path::child_of(&self.settings.directory, twin);
        self.phase = Phase::Entering(Entering::default());
        self.send(Purpose::Adopt, Request::Get { path, watch: false });
        self.send_list();
        self.twin = Some(twin.into());
    }

    /// The node kept is the earliest of the attempt's: the rest are deleted.
    pub(super) fn bury_later_twins(&mut self, children: &[String], stem: &str) {
        let kept = self.node.as_ref().map(|node| node.name.as_str());
        for twin in children
            .iter()
            .filter(|child| child.starts_with(stem) && Some(child.as_str()) != kept)
        {
            self.disposal.bury(twin.clone());
        }
        self.advance_disposal();
        self.doubt = false;
    }

    pub(super) fn adopted(&mut self, now: Instant, id: CommandId, result: &Result<Answer, Failure>) {
        let twin = self.twin.take();
        let setback = match (result, twin) {
            (Ok(Answer::Data { stat, .. }), Some(twin)) => {
                // One's own is a node by its attempt *and* its session (CURATOR-498).
                if Some(stat.ephemeral_owner) == self.session.id.map(|session| session.0) {
                    self.node = Some(Node {
                        name: twin,
                        czxid: stat.czxid,
                    });
                } else {
                    self.doubt = false;
                }
                Setback::None
            }
            // It has gone: the list behind this answer says whether there are others.
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
