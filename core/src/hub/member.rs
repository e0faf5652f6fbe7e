//! The machines of a family behind one type: each call is forwarded to the machine, which may be of any kind.

/// Implements [`Machine`](crate::Machine) and [`Member`](super::Member) for the enum `Member` of a family. It takes the
/// family, the variants of the machines that contend, and then the variants of the machines that never get a grant.
macro_rules! forward_to_machines {
    ($family:ty: contend $($contending:ident),+; never $($never:ident),+) => {
        forward_to_machines!(@each $family, [$($never),+], [$($contending,)+ $($never),+]);
    };
    (@each $family:ty, [$($never:ident),+], $kinds:tt) => {
        impl crate::io::sealed::Sealed for Member {}

        impl crate::Machine for Member {
            type Request = <$family as crate::hub::Family>::Request;
            type Reply = <$family as crate::hub::Family>::Reply;
            type Notice = <$family as crate::hub::Family>::Notice;
            type Event = crate::Event;

            fn handle_outcome(
                &mut self,
                now: crate::Instant,
                id: crate::CommandId,
                outcome: crate::Outcome<Self::Reply>,
            ) -> Result<(), crate::Misuse> {
                forward_to_machines!(@call $kinds, self, machine => machine.handle_outcome(now, id, outcome))
            }

            fn handle_notice(&mut self, now: crate::Instant, notice: Self::Notice) -> Result<(), crate::Misuse> {
                forward_to_machines!(@call $kinds, self, machine => machine.handle_notice(now, notice))
            }

            fn handle_timeout(&mut self, now: crate::Instant) {
                forward_to_machines!(@call $kinds, self, machine => machine.handle_timeout(now));
            }

            fn poll_output(&mut self) -> crate::Output<Self::Request, crate::Event> {
                forward_to_machines!(@call $kinds, self, machine => machine.poll_output())
            }
        }

        impl crate::hub::Member<$family> for Member {
            fn intent(&mut self, now: crate::Instant, intent: crate::Intent) -> Result<(), crate::Misuse> {
                forward_to_machines!(@call $kinds, self, machine => machine.intent(now, intent))
            }

            fn is_idle(&self) -> bool {
                forward_to_machines!(@call $kinds, self, machine => machine.is_idle())
            }

            fn contends(&self) -> bool {
                !matches!(self, $(Self::$never(_))|+) && !self.is_idle()
            }

            fn next_id(&mut self) -> &mut u64 {
                forward_to_machines!(@call $kinds, self, machine => machine.outbox().next_id())
            }

            #[cfg(feature = "states")]
            fn observe(&self, observer: &mut impl crate::states::Observer) {
                forward_to_machines!(@call $kinds, self, machine => machine.observe(observer));
            }
        }
    };
    (@call [$($kind:ident),+], $self:expr, $machine:ident => $call:expr) => {
        match $self {
            $(Self::$kind($machine) => $call,)+
        }
    };
}

pub(crate) use forward_to_machines;
