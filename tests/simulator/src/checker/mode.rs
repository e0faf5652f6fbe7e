//! The modes of grants: which may be held at once, and in which order.

/// The mode of a grant. A lock's contenders may have different modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// No other grant is held at the same time: a mutex, a writer, a leader.
    #[default]
    Exclusive,
    /// A reader: any number of them hold at once, and no writer.
    Shared,
    /// A permit: this many contenders hold at once.
    Permit(u8),
}

impl Mode {
    /// How many grants there may be at once, if one of them has this mode.
    const fn room(self) -> usize {
        match self {
            Self::Exclusive => 1,
            Self::Shared => usize::MAX,
            Self::Permit(most) => most as usize,
        }
    }

    /// Whether both may be held at once, if there is room.
    #[must_use]
    pub const fn goes_with(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Shared, Self::Shared) | (Self::Permit(_), Self::Permit(_))
        )
    }

    /// Whether it may be held together with all these.
    #[must_use]
    pub fn fits(self, others: &[Self]) -> bool {
        let room = |mode: &Self| others.len() < mode.room();
        room(&self) && others.iter().all(|other| self.goes_with(*other) && room(other))
    }
}

/// For each contender of a queue, from the first, whether it has its turn: whether it could hold if all
/// contenders before it held. A contender may have to wait for another waiter: for example, a reader waits
/// for an earlier waiting writer.
pub fn turns(queue: &[Mode]) -> impl Iterator<Item = bool> {
    (0..queue.len()).map(|place| queue[place].fits(&queue[..place]))
}

/// How many waiters one release has woken, given the mode of each and whether it has its turn now. Readers that have their turn count as one.
#[must_use]
pub fn woken(all: &[(Mode, bool)]) -> usize {
    let in_group = |(mode, in_turn): &&(Mode, bool)| *in_turn && *mode == Mode::Shared;
    let group = all.iter().filter(in_group).count();
    all.len() - group.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::{
        Mode::{Exclusive, Permit, Shared},
        *,
    };

    #[test]
    fn readers_hold_with_readers_and_permits_up_to_their_number() {
        assert!(Exclusive.fits(&[]) && !Exclusive.fits(&[Exclusive]) && !Exclusive.fits(&[Shared]));
        assert!(Shared.fits(&[Shared, Shared]) && !Shared.fits(&[Shared, Exclusive]));
        assert!(Permit(2).fits(&[Permit(2)]) && !Permit(2).fits(&[Permit(2), Permit(2)]));
        assert!(!Permit(2).fits(&[Shared]) && !Permit(2).fits(&[Exclusive]));
        // The smaller number of permits applies to both.
        assert!(!Permit(3).fits(&[Permit(1)]) && !Permit(1).fits(&[Permit(3)]));
    }

    #[test]
    fn a_turn_comes_when_all_before_could_hold_too() {
        let turns = |queue: &[Mode]| turns(queue).collect::<Vec<_>>();
        assert_eq!(turns(&[Exclusive, Exclusive]), [true, false]);
        // The reader behind the writer waits for it, though only readers hold.
        assert_eq!(
            turns(&[Shared, Shared, Exclusive, Shared]),
            [true, true, false, false]
        );
        assert_eq!(turns(&[Permit(2), Permit(2), Permit(2)]), [true, true, false]);
    }

    #[test]
    fn a_release_may_wake_one_or_one_group_of_readers_that_hold_now() {
        assert_eq!(woken(&[]), 0);
        assert_eq!(woken(&[(Exclusive, true)]), 1);
        assert_eq!(woken(&[(Exclusive, true), (Exclusive, false)]), 2);
        assert_eq!(woken(&[(Shared, true), (Shared, true), (Shared, true)]), 1);
        // The herd effect: waiters wake that may not hold.
        assert_eq!(woken(&[(Shared, true), (Shared, false), (Exclusive, false)]), 3);
        // One permit is free, not two.
        assert_eq!(woken(&[(Permit(3), true), (Permit(3), true)]), 2);
    }
}
