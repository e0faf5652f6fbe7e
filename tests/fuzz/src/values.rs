//! Values that no real program or server sends: extreme numbers, odd names, whole trees of replies.

use arbitrary::{Result, Unstructured};
use fencepost_core::{
    CommandId, Failure, Fence, RawSettings, SessionId, Settings,
    lowered::Outcome,
    options::{Kind, OPTIONS, OptionSpec, Server, Value, ValueType},
    redis::Reply,
    zookeeper::{self, Answer, Stat},
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

/// Boundary numbers, or any number.
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

const MACHINES: [&str; 13] = [
    "redis-string",
    "zookeeper-mutex",
    "zookeeper-reader",
    "zookeeper-writer",
    "zookeeper-election",
    "zookeeper-single",
    "zookeeper-semaphore",
    "zookeeper-inspection",
    "zookeeper-multi-lock",
    "zookeeper-claim",
    "zookeeper-single-step",
    "redis-claim",
    "redis-single-step",
];

/// Any settings, of a machine or of a client's lock. Most have only options of that lock; a few have any
/// options.
pub(crate) fn settings(u: &mut Unstructured<'_>) -> Result<RawSettings> {
    let (server, kind) = (*u.choose(&Server::ALL)?, *u.choose(&Kind::LOCKS)?);
    let mut raw = if u.arbitrary()? {
        RawSettings::machine(u.choose(&MACHINES)?)
    } else {
        RawSettings::on(server, kind)
    };
    let any = u.ratio(1, 16)?;
    for spec in &OPTIONS {
        let fits = spec.is_option_of(server, kind) || spec.name() == "name";
        if (fits || any) && u.ratio(1, 3)? {
            raw.set(spec.name(), value(u, spec)?);
        }
    }
    Ok(raw)
}

/// A value of the option's type.
fn value(u: &mut Unstructured<'_>, spec: &OptionSpec) -> Result<Value> {
    let known: &[&str] = match spec.name() {
        "layout" => &["curator", "kazoo", "plain"],
        "of" => &["mutex", "read-write", "election", "semaphore", "single"],
        "action" => &["list", "break", "revoke"],
        "fence" => &["0", "7", "40"],
        _ => &[],
    };
    Ok(match spec.value_type() {
        ValueType::Flag => u.arbitrary::<bool>()?.into(),
        ValueType::Texts => vec![text(u)?, text(u)?].into(),
        ValueType::Text if known.is_empty() => text(u)?.into(),
        ValueType::Text => (*u.choose(known)?).into(),
        _ => number(u)?.into(),
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
                mzxid: number(u)?,
                ephemeral_owner: number(u)?,
                version: u.arbitrary()?,
                created: u.arbitrary()?,
                modified: u.arbitrary()?,
            },
        },
        _ => Answer::Error(i32::try_from(number(u)?).unwrap_or(-1)),
    })
}

/// A Redis reply, at most a few levels deep, because client libraries return no deeper ones.
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

/// Ordinary settings, of one kind after the other.
pub(crate) fn plain(family: &str, nth: usize) -> Settings {
    let rounds = nth / MACHINES_OF_A_STORY.len();
    let raw = match (family, nth % MACHINES_OF_A_STORY.len(), nth % 8) {
        ("zookeeper", nth, _) => {
            let kind = MACHINES_OF_A_STORY[nth];
            let raw = RawSettings::machine(kind).with("prefix", "shop");
            match (kind, nth) {
                ("zookeeper-multi-lock", _) => raw.with("names", vec!["stock".into(), "till".into()]),
                ("zookeeper-claim", 3) => operation(raw),
                ("zookeeper-claim", _) => operation(raw).with("binding", "form"),
                ("zookeeper-single-step", 4) => step(operation(raw), 2 * rounds),
                ("zookeeper-single-step", _) => step(operation(raw), 2 * rounds + 1),
                ("zookeeper-inspection", 9) => raw
                    .with("name", "stock")
                    .inspecting("break", Some(("/shop/stock/node", Fence(7)))),
                ("zookeeper-inspection", _) => raw.with("name", "stock"),
                ("zookeeper-semaphore", _) => raw
                    .with("name", "stock")
                    .with("max_hold", 20_000_000_i64)
                    .with("permits", 3_i64),
                _ => raw.with("name", "stock").with("max_hold", 20_000_000_i64),
            }
        }
        (_, _, 3 | 6) => operation(RawSettings::machine("redis-claim")).with("lease", 3_000_000_i64),
        (_, _, 4) => step(operation(RawSettings::machine("redis-single-step")), nth / 8),
        _ => RawSettings::machine("redis-string")
            .with("name", "stock")
            .with("ttl", 3_000_000_i64)
            .with("max_hold", 20_000_000_i64),
    };
    Settings::try_from(raw).unwrap_or_else(|error| panic!("{error}"))
}

fn operation(raw: RawSettings) -> RawSettings {
    raw.with("scope", "payments").with("key", "order-17")
}

fn step(raw: RawSettings, nth: usize) -> RawSettings {
    let options = STEPS[nth % STEPS.len()].iter();
    options.fold(raw, |raw, (name, value)| raw.with(name, *value))
}

const STEPS: [&[(&str, &str)]; 6] = [
    &[("step", "update"), ("operation", "sell-1")],
    &[("step", "register"), ("result", "[]")],
    &[("step", "look")],
    &[("step", "forget")],
    &[("step", "issue"), ("binding", "form")],
    &[("step", "settle"), ("result", "[]")],
];

const MACHINES_OF_A_STORY: [&str; 12] = [
    "zookeeper-mutex",
    "zookeeper-mutex",
    "zookeeper-semaphore",
    "zookeeper-claim",
    "zookeeper-single-step",
    "zookeeper-reader",
    "zookeeper-writer",
    "zookeeper-inspection",
    "zookeeper-claim",
    "zookeeper-inspection",
    "zookeeper-multi-lock",
    "zookeeper-single-step",
];

/// How many directories are above a contender's node.
pub(crate) fn depth(raw: &RawSettings) -> usize {
    let slashes = |name| match raw.get(name) {
        Some(Value::Text(text)) => text.matches('/').count(),
        _ => 0,
    };
    slashes("name") + slashes("prefix") + 3
}
