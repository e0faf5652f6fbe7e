//! Values as nobody would send them: extreme numbers, odd names, whole trees of replies.

use arbitrary::{Result, Unstructured};
use fencepost_core::{
    CommandId, Failure, RawSettings, SessionId, Settings,
    lowered::Outcome,
    redis::Reply,
    zookeeper::{self, Answer, RawZooKeeper, Stat},
};

const NAMES: [&str; 16] = [
    "stock",
    "",
    "/",
    "a/b/c",
    "a//b",
    "..",
    "zookeeper/x",
    "a\0b",
    "{tag}b",
    "a{b",
    "}{",
    "é/\u{fffd}",
    "lock-0000000001",
    "_c_00000000-0000-0000-0000-000000000001-lock-0000000000",
    "\u{d7ff}\u{e000}",
    " ",
];

/// Numbers at which something changes, or any.
pub(crate) fn number(u: &mut Unstructured<'_>) -> Result<i64> {
    const ODD: [i64; 14] = [
        0,
        1,
        -1,
        i64::MAX,
        i64::MIN,
        5_000,
        4_999,
        3_000_000,
        31_536_000_000_000,
        31_536_000_000_001,
        2_147_483_647,
        -2_147_483_648,
        -101,
        1 << 53,
    ];
    match u.arbitrary::<u8>()? {
        at if usize::from(at) < ODD.len() => Ok(ODD[usize::from(at)]),
        small @ 14..128 => Ok(small.into()),
        _ => u.arbitrary(),
    }
}

pub(crate) fn text(u: &mut Unstructured<'_>) -> Result<String> {
    let kind = u.arbitrary::<u8>()?;
    Ok(match kind {
        0..200 => NAMES[usize::from(kind) % NAMES.len()].into(),
        200..208 => "x".repeat(4_000 + usize::from(u.arbitrary::<u8>()?)),
        208..212 => "a/".repeat(100) + "b",
        212..232 => format!("_c_x-lock-{}", number(u)?),
        _ => String::from_utf8_lossy(&bytes(u)?).into_owned(),
    })
}

pub(crate) fn bytes(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let length = usize::from(u.arbitrary::<u8>()? % 24).min(u.len());
    Ok(u.bytes(length)?.to_vec())
}

fn option<T>(u: &mut Unstructured<'_>, some: fn(&mut Unstructured<'_>) -> Result<T>) -> Result<Option<T>> {
    if u.ratio(1, 3)? {
        some(u).map(Some)
    } else {
        Ok(None)
    }
}

/// Any settings, of either family.
pub(crate) fn settings(u: &mut Unstructured<'_>) -> Result<RawSettings> {
    if u.arbitrary()? {
        let kinds = [
            RawSettings::ZookeeperMutex,
            RawSettings::ZookeeperReader,
            RawSettings::ZookeeperWriter,
            RawSettings::ZookeeperElection,
            RawSettings::ZookeeperSingle,
            RawSettings::ZookeeperSemaphore,
            RawSettings::ZookeeperInspection,
            RawSettings::ZookeeperMultiLock,
        ];
        return Ok(u.choose(&kinds)?(RawZooKeeper {
            name: text(u)?,
            names: option(u, |u| Ok(vec![text(u)?, text(u)?]))?,
            prefix: text(u)?,
            layout: option(u, |u| {
                let known = ["curator", "kazoo", "plain"];
                Ok(String::from(*u.choose(&known)?))
            })?,
            node_prefix: option(u, text)?,
            identifier: option(u, text)?,
            revocable: u.arbitrary()?,
            permits: option(u, number)?,
            of: option(u, |u| {
                let known = ["mutex", "read-write", "election", "semaphore"];
                Ok(String::from(*u.choose(&known)?))
            })?,
            action: option(u, |u| Ok(String::from(*u.choose(&["list", "break", "revoke"])?)))?,
            node: option(u, text)?,
            fence: option(u, |u| Ok(u.int_in_range(0..=40)?.to_string()))?,
            answer_within: option(u, number)?,
            max_hold: option(u, number)?,
            owner: None,
        }));
    }
    Ok(RawSettings::RedisString {
        name: text(u)?,
        ttl: option(u, number)?,
        margin: option(u, number)?,
        renew: u.arbitrary()?,
        poll: option(u, number)?,
        answer_within: option(u, number)?,
        max_hold: option(u, number)?,
        owner: None,
    })
}

/// Any outcome, of either family, in any shape.
pub(crate) fn outcome(u: &mut Unstructured<'_>) -> Result<Outcome> {
    Ok(match u.arbitrary::<u8>()? % 8 {
        0 => Outcome::Failed(failure(u)?),
        1..4 => Outcome::ZooKeeper(zookeeper::Reply {
            session: SessionId(number(u)?),
            answer: answer(u)?,
        }),
        _ => Outcome::Redis(reply(u, 0)?),
    })
}

pub(crate) fn failure(u: &mut Unstructured<'_>) -> Result<Failure> {
    Ok(match u.arbitrary::<u8>()? {
        0..40 => Failure::Closed,
        40..140 => Failure::NotSent,
        _ => Failure::Unknown,
    })
}

fn answer(u: &mut Unstructured<'_>) -> Result<Answer> {
    Ok(match u.arbitrary::<u8>()? % 5 {
        0 => Answer::Done,
        1 => Answer::Created {
            path: text(u)?,
            zxid: number(u)?,
        },
        2 => {
            let names = u.arbitrary::<u8>()? % 8;
            Answer::Children((0..names).map(|_| text(u)).collect::<Result<_>>()?)
        }
        3 => Answer::Data {
            data: bytes(u)?,
            stat: Stat {
                czxid: number(u)?,
                ephemeral_owner: number(u)?,
                version: u.arbitrary()?,
                created: u.arbitrary()?,
            },
        },
        _ => Answer::Error(i32::try_from(number(u)?).unwrap_or(-1)),
    })
}

/// A Redis reply, at most a few levels deep: deeper ones no client library would give.
pub(crate) fn reply(u: &mut Unstructured<'_>, depth: u8) -> Result<Reply> {
    const ERRORS: [&str; 12] = [
        "NOSCRIPT No matching script.",
        "LOADING",
        "READONLY x",
        "MOVED 1 h:1",
        "NOPERM",
        "NOAUTH",
        "WRONGTYPE",
        "ERR unknown command",
        "ERR",
        "",
        " ",
        "\0",
    ];
    Ok(match u.arbitrary::<u8>()? % 8 {
        0 => Reply::Nil,
        1 => Reply::Int(number(u)?),
        2 => Reply::Bytes(bytes(u)?),
        3 => Reply::Bytes(number(u)?.to_string().into_bytes()),
        4 => Reply::Error(ERRORS[usize::from(u.arbitrary::<u8>()?) % ERRORS.len()].into()),
        5 => Reply::Error(text(u)?),
        _ if depth > 3 => Reply::Nil,
        _ => {
            let items = u.arbitrary::<u8>()? % 4;
            Reply::Array((0..items).map(|_| reply(u, depth + 1)).collect::<Result<_>>()?)
        }
    })
}

/// An id that no hub has issued in a story.
pub(crate) fn never_issued(u: &mut Unstructured<'_>) -> Result<CommandId> {
    Ok(CommandId(
        [0, u64::MAX, u64::MAX - 1, 1 << 63, 1 << 40][usize::from(u.arbitrary::<u8>()?) % 5],
    ))
}

/// Settings as most have them, of one kind after the other.
pub(crate) fn plain(family: &str, nth: usize) -> Settings {
    let name = String::from("stock");
    let raw = match family {
        "zookeeper" => {
            let kinds = [
                RawSettings::ZookeeperMutex,
                RawSettings::ZookeeperMutex,
                RawSettings::ZookeeperSemaphore,
                RawSettings::ZookeeperReader,
                RawSettings::ZookeeperWriter,
                RawSettings::ZookeeperInspection,
                RawSettings::ZookeeperInspection,
                RawSettings::ZookeeperMultiLock,
            ];
            let kind = nth % kinds.len();
            kinds[kind](RawZooKeeper {
                name: if kind == 7 { String::new() } else { name },
                names: (kind == 7).then(|| vec!["stock".into(), "till".into()]),
                prefix: "shop".into(),
                max_hold: (kind < 5).then_some(20_000_000),
                permits: (kind == 2).then_some(3),
                action: (kind == 6).then(|| "break".into()),
                node: (kind == 6).then(|| "/shop/stock/node".into()),
                fence: (kind == 6).then(|| "7".into()),
                ..RawZooKeeper::default()
            })
        }
        _ => RawSettings::RedisString {
            name,
            ttl: Some(3_000_000),
            margin: None,
            renew: None,
            poll: None,
            answer_within: None,
            max_hold: Some(20_000_000),
            owner: None,
        },
    };
    Settings::try_from(raw).unwrap_or_else(|error| panic!("{error}"))
}

/// How many directories lie above a contender's node.
pub(crate) fn depth(raw: &RawSettings) -> usize {
    match raw {
        RawSettings::ZookeeperMutex(raw)
        | RawSettings::ZookeeperReader(raw)
        | RawSettings::ZookeeperWriter(raw)
        | RawSettings::ZookeeperElection(raw)
        | RawSettings::ZookeeperSingle(raw)
        | RawSettings::ZookeeperSemaphore(raw)
        | RawSettings::ZookeeperInspection(raw)
        | RawSettings::ZookeeperMultiLock(raw) => {
            let RawZooKeeper { name, prefix, .. } = raw;
            name.matches('/').count() + prefix.matches('/').count() + 3
        }
        _ => 0,
    }
}
