//! A run as a sequence diagram, for readers.
//!
//! ```text
//!     ms   A     B     server  resource
//!   0.000  ├─────┼─────▶  │    create -lock-
//!   0.412  ◀─────┼─────┤  │    created 0000000000, czxid 3
//!   0.412  ●     │     │  │    A receives: ...
//! ```

use core::fmt::Write as _;

use fencepost_core::Instant;

use crate::{
    backend::Backend,
    checker::name,
    step::Number,
    trace::{Act, Actor, Trace},
    world::BEGINNING,
};

/// Writes a run as a diagram.
#[derive(Clone, Debug)]
pub struct Story {
    clients: usize,
    text: String,
    /// The same without the columns.
    lines: Vec<String>,
    /// Whether time has passed since the last line.
    gap: bool,
}

/// Columns between two lifelines.
const LANE: usize = 6;

impl Story {
    /// A story of `clients` clients.
    #[must_use]
    pub fn new(clients: usize) -> Self {
        let mut text = String::from("       ms  ");
        for client in 0..Number::try_from(clients).unwrap_or(Number::MAX) {
            let _infallible = write!(text, "{:LANE$}", name(client));
        }
        text += "server  resource\n";
        Self {
            clients,
            text,
            lines: Vec::new(),
            gap: false,
        }
    }

    /// The diagram.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The story line by line: `A > sync` is a request by A, `A < done` is an answer or a notice to A.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    fn lane(&self, actor: Actor) -> usize {
        LANE * match actor {
            Actor::Client(client) => client.into(),
            Actor::Server => self.clients,
            Actor::Resource => self.clients + 1,
        }
    }

    fn line(&mut self, now: Instant, act: Act, text: &str) {
        let width = LANE * (self.clients + 1) + 1;
        let mut line: Vec<char> = vec![' '; width];
        for lane in line.iter_mut().step_by(LANE) {
            *lane = '│';
        }
        match act {
            Act::Arrow(from, to) => {
                let (from, to) = (self.lane(from), self.lane(to));
                for place in &mut line[from.min(to)..=from.max(to)] {
                    *place = if *place == '│' { '┼' } else { '─' };
                }
                (line[from], line[to]) = if from < to { ('├', '▶') } else { ('┤', '◀') };
            }
            Act::Point(actor) => line[self.lane(actor)] = '●',
            Act::Lost(actor) => line[self.lane(actor)] = '╳',
            Act::Pause => {}
        }
        let millis = now.since(BEGINNING).as_micros();
        let line: String = line.into_iter().collect();
        let _infallible = writeln!(
            self.text,
            "{:>5}.{:03}  {line}  {text}",
            millis / 1000,
            millis % 1000
        );
    }
}

impl<B: Backend> Trace<B> for Story {
    fn act(&mut self, now: Instant, act: Act, text: impl FnOnce() -> String) {
        if act == Act::Pause {
            self.gap = true;
            return;
        }
        if core::mem::take(&mut self.gap) {
            self.text.push_str("      ...\n");
        }
        let text = text();
        self.lines.push(match act {
            Act::Arrow(Actor::Client(client), Actor::Server) => format!("{} > {text}", name(client)),
            Act::Arrow(Actor::Server, Actor::Client(client)) => format!("{} < {text}", name(client)),
            Act::Arrow(..) | Act::Point(_) | Act::Lost(_) | Act::Pause => text.clone(),
        });
        self.line(now, act, &text);
    }
}
