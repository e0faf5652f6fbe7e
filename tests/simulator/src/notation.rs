//! The notation of steps.
//!
//! ```text
//! A acquire-within 500000      an operation, with its microseconds
//! A execute                    the server takes A's first request; "A execute 1": its second
//! A answer, A notice           A receives its first answer, its next notice
//! A tick                       A looks at its clock
//! A lose-answer 1              a fault of A's
//! A reconnect 2 forgetting     at the third server; what was watched and seen is forgotten
//! pass 4000                    so many microseconds pass
//! land                         a write reaches the resource
//! server cut-off 1             a fault of the servers
//! ```
//!
//! An omitted number is 0.

use core::{fmt, str::FromStr};

use crate::{
    checker::name,
    step::{ClientFault, Number, Operation, ServerFault, Step},
    world::FORGETS,
};

/// The word after a reconnect that forgets.
const FORGETTING: &str = "forgetting";

/// The error of a line that is no step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no step")]
pub struct NoStep(String);

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |number: u32| match number {
            0 => String::new(),
            more => format!(" {more}"),
        };
        match *self {
            Self::Operation(client, operation) => {
                let number = counted(operation.number().unwrap_or_default());
                write!(f, "{} {}{number}", name(client), operation.name())
            }
            Self::Execute(client, nth) => write!(f, "{} execute{}", name(client), counted(nth.into())),
            Self::Answer(client, nth) => write!(f, "{} answer{}", name(client), counted(nth.into())),
            Self::Notice(client) => write!(f, "{} notice", name(client)),
            Self::Tick(client) => write!(f, "{} tick", name(client)),
            Self::Pass(micros) => write!(f, "pass {micros}"),
            Self::Land(nth) => write!(f, "land{}", counted(nth.into())),
            Self::ClientFault(client, fault) => {
                write!(f, "{} {}", name(client), fault.name())?;
                match fault {
                    ClientFault::Reconnect(how) if how & FORGETS != 0 => {
                        write!(f, "{} {FORGETTING}", counted((how & !FORGETS).into()))
                    }
                    other => f.write_str(&counted(other.number().unwrap_or_default())),
                }
            }
            Self::ServerFault(fault) => {
                let number = counted(fault.number().unwrap_or_default());
                write!(f, "server {}{number}", fault.name())
            }
        }
    }
}

impl FromStr for Step {
    type Err = NoStep;

    fn from_str(text: &str) -> Result<Self, NoStep> {
        read(text).ok_or_else(|| NoStep(text.into()))
    }
}

fn read(text: &str) -> Option<Step> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let mut rest: Vec<&str> = words.collect();
    let forgetting = rest.pop_if(|last| *last == FORGETTING).is_some();
    // After the first word come a name and a number, or only a number.
    let number = rest.last().and_then(|last| last.parse::<u32>().ok());
    if number.is_some() {
        rest.pop();
    }
    let nth = || u8::try_from(number.unwrap_or_default()).ok();
    let step = match (first, rest.as_slice()) {
        ("pass", []) => Step::Pass(number?),
        ("land", []) => Step::Land(nth()?),
        ("server", [fault]) => Step::ServerFault(ServerFault::named(fault, number)?),
        (name, [what]) => of_client(client(name)?, what, number)?,
        _ => return None,
    };
    match step {
        step if !forgetting => Some(step),
        Step::ClientFault(client, ClientFault::Reconnect(how)) => {
            Some(Step::ClientFault(client, ClientFault::Reconnect(how | FORGETS)))
        }
        _ => None,
    }
}

fn of_client(client: Number, what: &str, number: Option<u32>) -> Option<Step> {
    let nth = || u8::try_from(number.unwrap_or_default()).ok();
    match what {
        "execute" => Some(Step::Execute(client, nth()?)),
        "answer" => Some(Step::Answer(client, nth()?)),
        "notice" if number.is_none() => Some(Step::Notice(client)),
        "tick" if number.is_none() => Some(Step::Tick(client)),
        _ => {
            let operation =
                Operation::named(what, number).map(|operation| Step::Operation(client, operation));
            operation.or_else(|| Some(Step::ClientFault(client, ClientFault::named(what, number)?)))
        }
    }
}

fn client(text: &str) -> Option<Number> {
    let [letter] = text.as_bytes() else {
        return None;
    };
    letter.checked_sub(b'A').filter(|number| *number < 26)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut lines = Vec::new();
        for what in [Operation::NAMES, ClientFault::NAMES].concat() {
            lines.push(format!("B {what}"));
        }
        for fault in ServerFault::NAMES {
            lines.push(format!("server {fault}"));
        }
        lines.extend(names(&[
            "A acquire-within 500000",
            "C execute 2",
            "C answer",
            "A notice",
            "A tick",
            "A lose-answer 1",
            "A reconnect 2 forgetting",
            "A reconnect forgetting",
            "pass 0",
            "pass 4000",
            "land 1",
            "server cut-off 1",
        ]));
        for line in lines {
            let step: Step = line.parse().unwrap();
            assert_eq!(step.to_string(), line);
        }
    }

    #[test]
    fn anything_else_is_an_error() {
        for line in [
            "",
            "A",
            "pass",
            "AB tick",
            "A tick 1",
            "A dance",
            "A execute 256",
            "A crash forgetting",
            "land 1 2",
            "server crash",
        ] {
            assert!(line.parse::<Step>().is_err(), "{line:?}");
        }
    }
}
