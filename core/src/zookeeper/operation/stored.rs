//! A record as ZooKeeper stores it: the bytes of [`form`], without the members that the server stores in other places.
//!
//! | member | where it is stored |
//! |---|---|
//! | lease | a node of the attempt: the lease lasts while this node exists |
//! | fence | the number of the transaction that last changed the record, unless the bytes have one. A claim's bytes have none, because its transaction has no number yet |
//! | kept until | the time of the last change plus the retention; for a token that is not claimed, plus its life |
//!
//! **The life of a token.** A client does not know the server's time before it writes. So a claim of a token writes the
//! end of the token's life into the record (`kept`). The server's reply contains the time of the claim. If the claim
//! came too late, the claimant reports an unknown token. If the last change of a record is later than the end of life
//! in it, every client treats the record as absent, because no operation has run with this claim. A claim that takes
//! over an operation does not write the end of life.

use alloc::vec::Vec;

use crate::{
    Fence,
    claim::{Corrupt, Record, ServerTime, State, form},
};

use super::super::wire::Stat;

/// The record in a node. `lives` returns whether an attempt's lease exists. `lease` is the estimate of the lease's
/// length in ms: the session's timeout.
pub(super) fn read(
    bytes: &[u8],
    stat: &Stat,
    lives: impl FnOnce(&Record) -> bool,
    lease: u64,
) -> Result<Option<Record>, Corrupt> {
    let Some(mut record) = form::decode(bytes)? else {
        return Ok(None);
    };
    let modified = changed(stat).millis();
    let claimed = matches!(record.state, State::Running | State::Done);
    if claimed && record.kept_until > 0 && modified > record.kept_until {
        return Ok(None);
    }
    if claimed && record.fence == Fence(0) {
        record.fence = number(stat);
    }
    if record.state == State::Running && lives(&record) {
        record.lease_end = modified.saturating_add(lease.max(1));
    }
    let kept = match (record.state, &record.token) {
        (State::Issued, Some(token)) => token.life,
        _ => record.retention,
    };
    record.kept_until = match record.state {
        State::Value => 0,
        _ => modified.saturating_add(kept),
    };
    Ok(Some(record))
}

/// Hides the end of a running lease from a reader. [`read`] only knows that the lease still lasts, and its `lease_end`
/// is an estimate. An operator who relied on the estimate would free a running operation.
pub(super) fn hide_lease_end(record: &mut Record) {
    if record.state == State::Running && record.lease_end > 0 {
        record.lease_end = Record::LEASE_OF_SESSION;
    }
}

/// The bytes of a record, or of no record. `claimed_by` is the deadline for the claim of the token.
pub(super) fn write(record: Option<&Record>, claimed_by: Option<u64>) -> Vec<u8> {
    form::encode(
        record
            .map(|record| {
                let mut record = record.clone();
                record.lease_end = 0;
                record.kept_until = claimed_by.unwrap_or_default();
                record
            })
            .as_ref(),
    )
}

/// Whether the claim was the last to write the record. Then its retention began with the claim, and not with the end of
/// the lease.
pub(super) fn is_of_claim(record: &Record, stat: &Stat) -> bool {
    record.state == State::Running && record.fence == number(stat)
}

fn number(stat: &Stat) -> Fence {
    Fence(u64::try_from(stat.mzxid).unwrap_or_default())
}

/// The time of a node's last change, by the server's clock.
pub(super) fn changed(stat: &Stat) -> ServerTime {
    let millis = u64::try_from(stat.modified).unwrap_or_default();
    ServerTime(millis.saturating_mul(1000))
}
