//! S9: the answer of an inspection is true. An inspection reads the server that its client is connected to, which may lag behind the leader.
//! So its answer is compared with the contenders on that server at each of its requests.
//!
//! - Each contender in a list was shown as it is listed (its node, its fence, its session or the rest of its lease, whether it shares, and
//!   whether it had its turn) at one of the requests between the operation and the answer. These requests differ from contender to contender,
//!   so a list does not show one moment. If a name was used again meanwhile, the list may say whether the earlier contender had its turn.
//! - A contender that is listed as the holder of a permit may never have held it. But fewer older contenders than there are permits were shown
//!   at all of these requests: the others were leaving.
//! - A contender that was shown at all of these requests is in the list.
//! - A contender that was shown at all of these requests is not reported as gone. Where the server compares, a contender that this inspection
//!   has broken is not reported as gone either.
//! - An inspection is refused at its timeout, when it is cancelled, because its target is gone, or by a server that cannot write. The
//!   simulator has no other reason for a refusal.
//! - A contender that was broken is not on the leader any more.
//!
//! There is no promise that a contender in a list was still on the leader when the inspection began.

use core::time::Duration;

use fencepost_core::{Found, SessionId};

/// A contender as a server shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shown {
    /// Its node.
    pub node: String,
    /// The number of the transaction that made it.
    pub fence: u64,
    /// The session that owns it, if there are sessions.
    pub session: Option<SessionId>,
    /// How much of its lease is left, if there are leases.
    pub left: Option<Duration>,
    /// Whether it shares with others of its kind.
    pub shared: bool,
    /// Whether it is its turn to hold.
    pub holds: bool,
    /// For a permit: the number of permits.
    pub permits: Option<u8>,
}

/// The task of an inspection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// To list the contenders.
    List,
    /// To delete a contender.
    Break(Aim),
    /// To send a contender a revocation request.
    Revoke(Aim),
}

impl Task {
    /// The target, if there is one.
    #[must_use]
    pub const fn aim(&self) -> Option<&Aim> {
        match self {
            Self::List => None,
            Self::Break(aim) | Self::Revoke(aim) => Some(aim),
        }
    }
}

/// A contender's node on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContenderNode {
    /// The number of the transaction that made it.
    pub fence: u64,
    /// The session that owns it, if there are sessions.
    pub session: Option<SessionId>,
    /// Whether a revocation of it was requested.
    pub revocation_requested: bool,
}

/// The target of an inspection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Aim {
    /// Its node.
    pub node: String,
    /// Its fence.
    pub fence: u64,
}

impl Aim {
    fn is(&self, shown: &Shown) -> bool {
        shown.node == self.node && shown.fence == self.fence
    }

    fn means(&self, found: &Found) -> bool {
        found.node == self.node && found.fence.0 == self.fence
    }
}

/// The contenders on the server at the requests of an inspection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Views {
    ever: Vec<Shown>,
    /// Nothing if there was no request.
    always: Option<Vec<Aim>>,
}

impl Views {
    /// A request was executed on a server that had these contenders.
    pub fn add(&mut self, view: Vec<Shown>) {
        let all = view.iter().map(|one| Aim {
            node: one.node.clone(),
            fence: one.fence,
        });
        let all: Vec<Aim> = all.collect();
        match &mut self.always {
            Some(always) => always.retain(|aim| all.contains(aim)),
            None => self.always = Some(all),
        }
        for one in view {
            if !self.ever.contains(&one) {
                self.ever.push(one);
            }
        }
    }

    /// The session of a contender, if the contender was ever shown.
    #[must_use]
    pub fn session(&self, aim: &Aim) -> Option<SessionId> {
        let mut ever = self.ever.iter();
        ever.find(|one| aim.is(one))?.session
    }

    /// The fault of the answer to a list, if any.
    #[must_use]
    pub fn error_in_list(&self, list: &[Found]) -> Option<String> {
        let Some(always) = &self.always else {
            return Some("it was answered without a look".into());
        };
        let older = |than: &Found| {
            let permit = |aim: &&Aim| self.ever.iter().any(|one| one.permits.is_some() && aim.is(one));
            let older = always.iter().filter(|aim| aim.fence < than.fence.0);
            older.filter(permit).count()
        };
        let invented = list.iter().find(|found| {
            let room = |one: &Shown| one.permits.is_some_and(|permits| older(found) < permits.into());
            let before = |one: &Shown| {
                let same_name = |other: &&Shown| other.node == one.node && other.fence != one.fence;
                let mut others = self.ever.iter().filter(same_name);
                others.any(|other| other.holds == found.holds)
            };
            let holds = |one: &Shown| one.holds == found.holds || found.holds && room(one) || before(one);
            let was = |one: &Shown| is(found, one) && one.left == found.expires_in && holds(one);
            !self.ever.iter().any(was)
        });
        // The first waiter of a semaphore may have a node in the queue and one among the permits. A list has only the first of these nodes.
        let waits = |one: &Shown| {
            let queued = |found: &&Found| !found.holds && found.session == one.session;
            let permit = |found: &Found| {
                self.ever
                    .iter()
                    .any(|one| one.permits.is_some() && is(found, one))
            };
            one.permits.is_some() && !one.holds && list.iter().filter(queued).any(|found| !permit(found))
        };
        let missing = always.iter().find(|aim| {
            let listed = list.iter().any(|found| aim.means(found));
            !listed && !self.ever.iter().any(|one| aim.is(one) && waits(one))
        });
        match (invented, missing) {
            (Some(found), _) => Some(format!("{found:?} was never to be seen")),
            (None, Some(aim)) => Some(format!("{aim:?} is missing")),
            (None, None) => None,
        }
    }

    /// The fault of the answer that this contender exists, if any.
    #[must_use]
    pub fn error_in_found(&self, aim: &Aim, answer: &[Found]) -> Option<String> {
        let seen = |found: &Found| self.ever.iter().any(|one| is(found, one));
        let right = matches!(answer, [found] if aim.means(found) && seen(found));
        (!right).then(|| format!("{aim:?} was meant, and {answer:?} was never to be seen"))
    }

    /// The fault of the answer that this contender does not exist, if any.
    #[must_use]
    pub fn error_in_gone(&self, aim: &Aim) -> Option<String> {
        let stayed = self.always.as_ref().is_some_and(|always| always.contains(aim));
        stayed.then(|| format!("{aim:?} is said to have gone, and was there all the time"))
    }
}

/// Whether both are the same contender. Only a list contains whether it holds.
fn is(found: &Found, shown: &Shown) -> bool {
    let Shown {
        node,
        fence,
        session,
        shared,
        ..
    } = shown;
    (&found.node, found.fence.0, found.session, found.shared) == (node, *fence, *session, *shared)
}

#[cfg(test)]
mod tests {
    use fencepost_core::Fence;

    use super::*;

    fn shown(node: &str, fence: u64, holds: bool) -> Shown {
        Shown {
            node: node.into(),
            fence,
            session: Some(SessionId(7)),
            left: None,
            shared: false,
            holds,
            permits: None,
        }
    }

    fn found(node: &str, fence: u64, holds: bool) -> Found {
        Found {
            node: node.into(),
            holds,
            shared: false,
            session: Some(SessionId(7)),
            since: Some(0),
            expires_in: None,
            fence: Fence(fence),
            identifier: String::new(),
        }
    }

    fn aim(node: &str, fence: u64) -> Aim {
        let node = node.into();
        Aim { node, fence }
    }

    #[test]
    fn s9_a_list_is_made_of_what_was_shown() {
        let mut views = Views::default();
        assert!(views.error_in_list(&[]).is_some(), "no request was made");
        views.add(vec![shown("a", 1, true), shown("b", 2, false)]);
        views.add(vec![shown("b", 2, true), shown("c", 3, false)]);
        let (a, c) = (found("a", 1, true), found("c", 3, false));
        for b in [found("b", 2, false), found("b", 2, true)] {
            assert_eq!(views.error_in_list(&[a.clone(), b.clone(), c.clone()]), None);
            assert_eq!(
                views.error_in_list(&[b]),
                None,
                "what came or left may be listed or not"
            );
        }
        assert!(views.error_in_list(&[a, c]).unwrap().contains("missing"));
        for wrong in [found("a", 1, false), found("a", 2, true), found("d", 4, false)] {
            let error = views.error_in_list(&[found("b", 2, true), wrong]).unwrap();
            assert!(error.contains("never to be seen"), "{error}");
        }
    }

    #[test]
    fn s9_a_list_says_what_is_left_of_a_lease() {
        let lease = |left| Some(Duration::from_millis(left));
        let mut views = Views::default();
        views.add(vec![Shown {
            session: None,
            left: lease(200),
            ..shown("a", 1, true)
        }]);
        let list = |left| {
            [Found {
                session: None,
                expires_in: lease(left),
                ..found("a", 1, true)
            }]
        };
        assert_eq!(views.error_in_list(&list(200)), None);
        assert!(views.error_in_list(&list(300)).is_some());
    }

    #[test]
    fn s9_a_permit_holds_if_older_ones_may_have_left() {
        let permit = |node, fence, holds| Shown {
            permits: Some(2),
            ..shown(node, fence, holds)
        };
        let all = || vec![permit("a", 1, true), permit("b", 2, true), permit("c", 3, false)];
        let mut views = Views::default();
        views.add(all());
        let list = |holds| [found("a", 1, true), found("b", 2, true), found("c", 3, holds)];
        assert_eq!(views.error_in_list(&list(false)), None);
        assert!(views.error_in_list(&list(true)).is_some());
        // The third left before the first: it was never one of two.
        views.add(all()[..2].into());
        views.add(all()[1..2].into());
        assert_eq!(views.error_in_list(&list(true)[1..]), None);
    }

    #[test]
    fn s9_a_contender_that_stayed_has_not_gone() {
        let mut views = Views::default();
        views.add(vec![shown("a", 1, true), shown("b", 2, false)]);
        assert!(views.error_in_gone(&aim("a", 1)).is_some());
        assert_eq!(views.error_in_gone(&aim("a", 2)), None, "another one is there");
        views.add(vec![shown("b", 2, false)]);
        assert_eq!(views.error_in_gone(&aim("a", 1)), None);
        assert_eq!(views.error_in_found(&aim("a", 1), &[found("a", 1, false)]), None);
        assert!(
            views
                .error_in_found(&aim("a", 1), &[found("b", 2, false)])
                .is_some()
        );
        assert!(views.error_in_found(&aim("a", 1), &[]).is_some());
    }
}
