//! A program with its own event loop: the hub, one blocking connection, no runtime. The lock is compatible with the
//! clients of all languages.
//!
//! `cargo run -p fencepost --example hub_loop -- redis://127.0.0.1:6379 stock/42`

use std::{collections::VecDeque, error::Error, thread, time::Duration};

use fencepost::{
    Refusal, clock,
    hub::{
        self, AcquireTimeout, Command, ContenderId, Event, Failure, Hub, Intent, Operation, Outcome, Output,
        Reply,
    },
};
use redis::{Cmd, Connection, ConnectionLike, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(name)) = (arguments.next(), arguments.next()) else {
        return Err("usage: hub_loop redis://HOST:PORT NAME".into());
    };
    let fence = run(&url, &name, Duration::from_secs(5))?;
    match fence {
        Some(fence) => println!("held {name} with fence {fence}"),
        None => println!("another client holds {name}"),
    }
    Ok(())
}

/// Acquires the lock and releases it. Returns the fence; `None` if another client held the lock until the timeout
/// ended.
///
/// # Errors
/// An error of the address, the name or the server.
pub fn run(url: &str, name: &str, acquire_timeout: Duration) -> Result<Option<u64>, Box<dyn Error>> {
    let mut connection = redis::Client::open(url)?.get_connection()?;
    // 1. One hub for the connection, one machine for the acquire. The contender's id has to come from the system's
    //    random source.
    let mut hub = Hub::new("redis", 0)?;
    let settings = hub::settings::redis_string(name, Duration::from_secs(10))?;
    let mut owner = [0; 16];
    getrandom::fill(&mut owner)?;
    let key = hub.open(clock::now(), &settings, ContenderId(owner), 0)?;
    hub.intent(
        clock::now(),
        key,
        Intent::Acquire(AcquireTimeout::For(acquire_timeout)),
    )?;

    let mut fence = None;
    let mut commands = VecDeque::new();
    loop {
        // 2. Take all outputs.
        match hub.poll_output(None) {
            (_, Output::Command(command)) => commands.push_back(command),
            (_, Output::Event(event)) => match event {
                Event::Acquired { grant } => {
                    fence = grant.fence.map(|fence| fence.0);
                    // Do the work here. Send `fence` to the resource with each write.
                    hub.intent(clock::now(), key, Intent::Release)?;
                }
                Event::Released => return Ok(fence),
                Event::Refused {
                    reason: Refusal::Timeout,
                    ..
                } => return Ok(None),
                Event::Refused { reason, cause } => return Err(format!("{reason}: {cause:?}").into()),
                Event::Lost { reason, .. } => return Err(reason.into()),
                _ => {}
            },
            // 3. No output is left: carry out the commands in their order, or wait for the timer.
            (_, Output::Wait(wait)) => match commands.pop_front() {
                Some(command) => {
                    let (id, outcome) = carry_out(&mut connection, command);
                    hub.handle_outcome(clock::now(), id, outcome)?;
                }
                None => {
                    let until = wait.until.ok_or("nothing to wait for")?;
                    thread::sleep(until.since(clock::now()));
                    hub.handle_timeout(clock::now());
                }
            },
            _ => {}
        }
    }
}

/// The driver: carries out one command, and returns its outcome.
fn carry_out(connection: &mut Connection, command: Command<hub::Request>) -> (hub::CommandId, Outcome) {
    let outcome = match command.request.operation {
        Operation::Call => {
            let mut call = Cmd::new();
            command.request.arguments.iter().for_each(|argument| {
                call.arg(argument.as_slice());
            });
            match connection.req_command(&call) {
                Ok(value) => Outcome::Redis(reply(value)),
                Err(error) => match error.code() {
                    // The server's errors are also replies: the hub handles them.
                    Some(code) => {
                        let text = format!("{code} {}", error.detail().unwrap_or_default());
                        Outcome::Redis(Reply::Error(text))
                    }
                    // There is no reply: the server may have executed the command.
                    None => Outcome::Failed(Failure::Unknown),
                },
            }
        }
        // One blocking connection cannot subscribe, so the hub polls.
        _ => Outcome::Redis(Reply::Error("NOPERM this program does not subscribe".into())),
    };
    (command.id, outcome)
}

fn reply(value: Value) -> Reply {
    match value {
        Value::Nil => Reply::Nil,
        Value::Int(number) => Reply::Int(number),
        Value::BulkString(bytes) => Reply::Bytes(bytes.to_vec()),
        Value::Okay => Reply::Bytes(b"OK".to_vec()),
        Value::SimpleString(text) => Reply::Bytes(text.to_string().into_bytes()),
        Value::Array(items) => Reply::Array(items.into_iter().map(reply).collect()),
        Value::ServerError(error) => Reply::Error(format!("{error:?}")),
        _ => Reply::Array(Vec::new()),
    }
}
