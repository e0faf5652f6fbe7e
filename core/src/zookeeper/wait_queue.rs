//! The wait queue of a lock: finds a contender's place in a list of the lock's directory.

use alloc::string::String;

use super::layout::{Child, Contender, Layout, Role};

/// The contents of a list that concern one contender.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) place: Place,
    /// The name of a foreign contender in the list, if there is one. A foreign contender does not recognise this one.
    pub(super) foreign: Option<String>,
}

/// A contender's place in the queue.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// No other contender blocks this one: it may hold the lock.
    First,
    /// An earlier contender blocks this one.
    Behind(Behind),
    /// All permits are taken. This number of permits has to be released first.
    Full(u32),
    /// The contender's own node is not in the list.
    Missing,
}

/// The contenders that block a contender.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Behind {
    /// The nearest earlier contender that blocks this one. This contender watches it.
    pub(super) predecessor: String,
    /// Whether this contender may not be first after the predecessor's deletion: other contenders block it, too, or the
    /// predecessor may have become a reader by a downgrade.
    pub(super) doubtful: bool,
    /// How many contenders block this one.
    pub(super) ahead: u32,
}

/// Finds the place of the node `own` in the queue.
///
/// All earlier contenders block a contender that does not share the lock. Only earlier contenders that do not share the
/// lock block a reader (recipe "Shared Locks"; Kazoo #649: a reader that waits for a later writer may never get the
/// lock). A contender holds a permit if the number of nodes in the permits' directory is not greater than the number of
/// permits.
pub(super) fn read(children: &[String], (own, read): (&str, Child), layout: &Layout, role: Role) -> Reading {
    let place = match role {
        Role::Permit { permits } => permit(children, own, permits),
        // A single node has no queue: the contender that created it is the holder.
        Role::Single => Place::Missing,
        Role::Mutex | Role::Reader | Role::Writer | Role::Candidate => match read {
            Child::Contender(mine) => return queue(children, own, layout, mine),
            Child::Unrelated => Place::Missing,
        },
    };
    Reading { place, foreign: None }
}

fn permit(children: &[String], own: &str, permits: u32) -> Place {
    if !children.iter().any(|child| child == own) {
        return Place::Missing;
    }
    // Every child counts as a taken permit, as it does for other clients: it is better to grant one permit too few than
    // one too many.
    let taken = u32::try_from(children.len()).unwrap_or(u32::MAX);
    match taken.checked_sub(permits) {
        None | Some(0) => Place::First,
        Some(over) => Place::Full(over),
    }
}

fn queue(children: &[String], own: &str, layout: &Layout, mine: Contender) -> Reading {
    let (mut there, mut foreign) = (false, None);
    let mut ahead: u32 = 0;
    let mut nearest: Option<(Contender, &String)> = None;
    let earlier = |a: (Contender, &str), b: (Contender, &str)| {
        // A writer and the reader that it becomes by a downgrade have the same number. At the end of the sequence, any
        // contenders may have the same number. Then the name decides, in the same way for all clients.
        (a.0.sequence, a.1) < (b.0.sequence, b.1)
    };
    for child in children {
        if child == own {
            there = true;
            continue;
        }
        let Child::Contender(theirs) = layout.read(child) else {
            continue;
        };
        if foreign.is_none() && theirs.is_foreign_to(mine) {
            foreign = Some(child.clone());
        }
        if (mine.shared && theirs.shared) || !earlier((theirs, child), (mine, own)) {
            continue;
        }
        ahead = ahead.saturating_add(1);
        if nearest.is_none_or(|(known, name)| earlier((known, name), (theirs, child))) {
            nearest = Some((theirs, child));
        }
    }
    let place = match nearest {
        _ if !there => Place::Missing,
        None => Place::First,
        Some((contender, name)) => Place::Behind(Behind {
            predecessor: name.clone(),
            doubtful: ahead > 1 || !mine.shared && contender.may_downgrade(),
            ahead,
        }),
    };
    Reading { place, foreign }
}

/// The earliest node of an attempt in the queue.
pub(super) fn earliest_of_attempt<'a>(
    children: &'a [String],
    layout: &Layout,
    stem: &str,
) -> Option<&'a String> {
    children
        .iter()
        .filter(|child| child.starts_with(stem))
        .min_by_key(|child| match layout.read(child) {
            Child::Contender(contender) => (contender.sequence, *child),
            Child::Unrelated => (i32::MAX, *child),
        })
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec::Vec};

    use super::*;

    fn numbered(mark: &str, numbers: &[i32]) -> Vec<String> {
        numbers
            .iter()
            .map(|number| format!("_c_{number}-{mark}{number:010}"))
            .collect()
    }

    fn place(children: &[String], own: &str, role: Role) -> Place {
        let layout = Layout::Curator;
        read(children, (own, layout.read(own)), &layout, role).place
    }

    fn behind(children: &[String], own: &str, role: Role) -> Behind {
        match place(children, own, role) {
            Place::Behind(behind) => behind,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_nearest_lower_number_comes_before() {
        let nodes = numbered("lock-", &[7, 3, 5, 9, 1]);
        let before = behind(&nodes, &nodes[0], Role::Mutex);
        assert_eq!(before.predecessor, nodes[2]);
        assert_eq!((before.ahead, before.doubtful), (3, true));
        let before = behind(&nodes[..2], &nodes[0], Role::Mutex);
        assert_eq!((before.ahead, before.doubtful), (1, false));
        assert_eq!(place(&nodes[..2], &nodes[1], Role::Mutex), Place::First);
        assert_eq!(place(&nodes[1..], &nodes[0], Role::Mutex), Place::Missing);
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_unrelated_nodes_ignored() {
        let mut children = numbered("lock-", &[2]);
        children.push("notes".into());
        children.push("_c_x-lock--000000003".into());
        let own = children[0].clone();
        let before = behind(&children, &own, Role::Mutex);
        assert_eq!(
            (before.predecessor.as_str(), before.ahead),
            ("_c_x-lock--000000003", 1)
        );
    }

    #[test]
    fn foreign_contenders_are_waited_for_and_reported() {
        let mut children = numbered("lock-", &[2]);
        children.push("a__lock__0000000001".into());
        children.push("b__lock__0000000003".into());
        let layout = Layout::Curator;
        let own = (&*children[0], layout.read(&children[0]));
        let reading = read(&children, own, &layout, Role::Mutex);
        assert!(matches!(reading.place, Place::Behind(Behind { ahead: 1, .. })));
        assert_eq!(reading.foreign.as_deref(), Some("a__lock__0000000001"));
    }

    #[test]
    fn a_reader_waits_for_the_nearest_earlier_writer_only() {
        let [readers, writers] = [("__READ__", [1, 4, 6]), ("__WRIT__", [2, 3, 5])]
            .map(|(mark, numbers)| numbered(mark, &numbers));
        let all: Vec<String> = readers.iter().chain(&writers).cloned().collect();
        assert_eq!(place(&all, &readers[0], Role::Reader), Place::First);
        let second = behind(&all, &readers[1], Role::Reader);
        assert_eq!((&second.predecessor, second.ahead), (&writers[1], 2));
        assert!(second.doubtful);
        // A writer behind a writer: its predecessor may be downgraded to a reader.
        let writer = behind(&all, &writers[1], Role::Writer);
        assert_eq!((&writer.predecessor, writer.doubtful), (&writers[0], true));
        let last = behind(&all, &writers[2], Role::Writer);
        assert_eq!((&last.predecessor, last.doubtful), (&readers[1], true));
        let two = [readers[1].clone(), writers[2].clone()];
        assert!(!behind(&two, &writers[2], Role::Writer).doubtful);
    }

    #[test]
    fn a_contender_that_excludes_readers_lists_again_behind_a_name_of_kazoo() {
        let children = ["a__lock__0000000004".into(), "b__lock__0000000005".into()];
        for role in [Role::Mutex, Role::Candidate, Role::Writer] {
            assert!(behind(&children, &children[1], role).doubtful, "{role:?}");
        }
    }

    #[test]
    fn a_writer_waits_for_the_reader_that_a_writer_has_become() {
        let [read, write] = ["_c_x-__READ__0000000004".into(), "_c_a-__WRIT__0000000005".into()];
        let children = [write, read];
        assert_eq!(
            behind(&children, &children[0], Role::Writer).predecessor,
            children[1]
        );
    }

    #[test]
    fn permits_are_counted() {
        let leases = numbered("lease-", &[1, 2, 3]);
        let role = |permits| Role::Permit { permits };
        assert_eq!(place(&leases, &leases[2], role(3)), Place::First);
        assert_eq!(place(&leases, &leases[2], role(1)), Place::Full(2));
        assert_eq!(place(&leases, "gone", role(9)), Place::Missing);
    }
}
