//! The line before a lock: who stands where, read from one listing of the lock's directory.

use alloc::string::String;

use super::name::{self, Child, Sequence};

/// What a listing says about a contender's place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nobody comes before: the lock is ours.
    First,
    /// Somebody comes before.
    Behind(Behind),
    /// The own node is not there.
    Missing,
    /// A contender that cannot see ours is there: its name.
    Mixed(String),
}

/// Who comes before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Behind {
    /// The nearest earlier contender: the one to watch.
    pub(super) neighbour: String,
    /// The one before it, if there is one: the next to watch if the neighbour leaves without having held the lock.
    pub(super) next: Option<String>,
    /// How many come before.
    pub(super) ahead: u32,
}

/// Finds the place of the node `own` in the line.
pub(super) fn place(children: &[String], own: &str) -> Place {
    let Child::Contender(mine) = name::read(own) else {
        return Place::Missing;
    };
    let mut there = false;
    let mut ahead: u32 = 0;
    let mut nearest: [Option<(Sequence, &String)>; 2] = [None, None];
    for child in children {
        match name::read(child) {
            _ if child == own => there = true,
            Child::Bystander => {}
            Child::Stranger => return Place::Mixed(child.clone()),
            // Equal numbers exist only at the end of the sequence; there the name decides, for everybody alike.
            Child::Contender(theirs) => {
                if (theirs, child.as_str()) < (mine, own) {
                    ahead = ahead.saturating_add(1);
                    let [first, second] = nearest;
                    if first.is_none_or(|first| (theirs, child) > first) {
                        nearest = [Some((theirs, child)), first];
                    } else if second.is_none_or(|second| (theirs, child) > second) {
                        nearest = [first, Some((theirs, child))];
                    }
                }
            }
        }
    }
    let [neighbour, next] = nearest.map(|found| found.map(|(_, child)| child.clone()));
    match neighbour {
        _ if !there => Place::Missing,
        None => Place::First,
        Some(neighbour) => Place::Behind(Behind {
            neighbour,
            next,
            ahead,
        }),
    }
}

/// The first in the line of an attempt's own nodes.
pub(super) fn earliest_twin<'a>(children: &'a [String], prefix: &str) -> Option<&'a String> {
    children
        .iter()
        .filter(|child| child.starts_with(prefix))
        .min_by_key(|child| match name::read(child) {
            Child::Contender(sequence) => sequence,
            Child::Stranger | Child::Bystander => Sequence::MAX,
        })
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec::Vec};

    use super::*;

    fn node(number: i32) -> String {
        format!("_c_{number}-lock-{number:010}")
    }

    fn line(numbers: &[i32]) -> Vec<String> {
        numbers.iter().map(|number| node(*number)).collect()
    }

    #[test]
    fn the_nearest_lower_number_comes_before() {
        let Place::Behind(behind) = place(&line(&[7, 3, 5, 9, 1]), &node(7)) else {
            panic!("not behind")
        };
        assert_eq!(
            behind,
            Behind {
                neighbour: node(5),
                next: Some(node(3)),
                ahead: 3
            }
        );
        assert_eq!(place(&line(&[7, 3]), &node(3)), Place::First);
        assert_eq!(place(&line(&[3]), &node(7)), Place::Missing);
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_bystanders_ignored() {
        let mut children = line(&[2]);
        children.push("notes".into());
        children.push("_c_x-lock--000000003".into());
        let Place::Behind(behind) = place(&children, &node(2)) else {
            panic!("not behind")
        };
        assert_eq!(
            (behind.neighbour.as_str(), behind.ahead),
            ("_c_x-lock--000000003", 1)
        );
        children.push("a__lock__0000000001".into());
        assert_eq!(
            place(&children, &node(2)),
            Place::Mixed("a__lock__0000000001".into())
        );
    }
}
