//! A session's password, which a server derives from its id (`SessionTrackerImpl`,
//! `ZooKeeperServer.generatePasswd`): the bytes of a `java.util.Random` seeded with it.

/// The password of a session.
pub(crate) fn of(session: i64) -> [u8; 16] {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;
    let mut state = ((session ^ 0xB341_5C00).cast_unsigned() ^ MULTIPLIER) & MASK;
    let mut bytes = [0; 16];
    for word in bytes.chunks_exact_mut(4) {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        word.copy_from_slice(&u32::try_from(state >> 16).unwrap_or_default().to_le_bytes());
    }
    bytes
}
