//! The client's reports to a subscriber: waits, places in the queue, holds and losses, on `memory:`.

use std::{
    collections::HashMap,
    fmt::{Debug, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use fencepost::{Claimed, Client};
use tracing::{Event, Instrument, Subscriber, field, info_span, span, subscriber::DefaultGuard};
use tracing_subscriber::{Layer, Registry, layer::Context, layer::SubscriberExt, registry::LookupSpan};

/// Collects spans and events, one line for each: its kind, its target, its fields without times, and its parent.
#[derive(Clone, Default)]
struct Collector {
    lines: Arc<Mutex<Vec<String>>>,
    names: Arc<Mutex<HashMap<u64, String>>>,
}

/// The fields of a span or an event, as text.
#[derive(Default)]
struct Fields(String);

impl field::Visit for Fields {
    fn record_debug(&mut self, field: &field::Field, value: &dyn Debug) {
        match field.name() {
            "message" => write!(self.0, " {value:?}").unwrap(),
            // The value differs from run to run.
            name @ ("waited_ms" | "held_ms") => write!(self.0, " {name}").unwrap(),
            name => write!(self.0, " {name}={value:?}").unwrap(),
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Collector {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let metadata = attributes.metadata();
        let parent = context
            .span(id)
            .and_then(|span| span.parent().map(|parent| parent.name()));
        self.names
            .lock()
            .unwrap()
            .insert(id.into_u64(), format!("{}{}", metadata.name(), fields.0));
        self.add(format!(
            "open {} {}{} in {}",
            metadata.target(),
            metadata.name(),
            fields.0,
            parent.unwrap_or("none")
        ));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let parent = context.event_span(event).map_or("none", |span| span.name());
        self.add(format!(
            "{} {}{} in {parent}",
            metadata.level(),
            metadata.target(),
            fields.0
        ));
    }

    fn on_close(&self, id: span::Id, _context: Context<'_, S>) {
        let name = self.names.lock().unwrap().remove(&id.into_u64()).unwrap();
        self.add(format!("close {name}"));
    }
}

impl Collector {
    fn install() -> (Self, DefaultGuard) {
        let collector = Self::default();
        let guard = tracing::subscriber::set_default(Registry::default().with(collector.clone()));
        (collector, guard)
    }

    /// Stores only the lines of fencepost, because other crates also report to the subscriber.
    fn add(&self, line: String) {
        if line.contains("fencepost") {
            self.lines.lock().unwrap().push(line);
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }
}

async fn connect(server: &str) -> Client {
    fencepost::connect(&format!("memory:{server}")).await.unwrap()
}

/// The line of the event with this message.
fn line<'a>(lines: &'a [String], message: &str) -> &'a str {
    let found = lines.iter().find(|line| line.contains(&format!(" {message}")));
    found.unwrap_or_else(|| panic!("no line with {message:?}: {lines:#?}"))
}

#[tokio::test]
async fn a_wait_becomes_a_hold() {
    let (collector, _guard) = Collector::install();
    let client = fencepost::connect("memory:").await.unwrap();
    let request = info_span!("fencepost-request");
    let grant = client
        .lock("stock/42")
        .unwrap()
        .acquire()
        .instrument(request)
        .await
        .unwrap();
    let lock = "of=\"lock\" name=\"stock/42\"";
    let fence = format!("{lock} fence={}", grant.fence().unwrap());
    assert_eq!(
        collector.take(),
        [
            "open traces fencepost-request in none",
            &*format!("open fencepost::wait fencepost.wait {lock} in fencepost-request"),
            &*format!("DEBUG fencepost::wait acquired {fence} waited_ms in fencepost.wait"),
            &*format!("open fencepost::hold fencepost.hold {fence} in fencepost-request"),
            &*format!("close fencepost.wait {lock}"),
        ]
    );
    grant.release().await.unwrap();
    assert_eq!(
        collector.take(),
        [
            &*format!("DEBUG fencepost::hold released {lock} held_ms in fencepost.hold"),
            &*format!("close fencepost.hold {fence}"),
            "close fencepost-request",
        ]
    );
}

#[tokio::test]
async fn a_place_in_the_queue_and_a_loss() {
    let (collector, _guard) = Collector::install();
    let (one, two) = (connect("queue").await, connect("queue").await);
    let stock = one.lock("stock/42").unwrap();
    let held = two.lock("stock/42").unwrap().acquire().await.unwrap();
    collector.take();
    let (waited, released) = tokio::join!(stock.acquire(), async {
        // The other future runs until it waits.
        tokio::task::yield_now().await;
        held.release().await
    });
    released.unwrap();
    let lines = collector.take();
    assert_eq!(
        line(&lines, "queued"),
        "DEBUG fencepost::queue queued of=\"lock\" name=\"stock/42\" ahead=1 in fencepost.wait"
    );
    one.close().await.unwrap();
    assert!(!waited.unwrap().is_valid());
    let lost = "the client was closed while it held the lock";
    let lines = collector.take();
    assert!(
        lines[0].starts_with("WARN fencepost::loss lock \"stock/42\": "),
        "{lines:#?}"
    );
    assert!(lines[0].contains(lost), "{lines:#?}");
    assert!(
        lines[0].contains("reason=\"lost-connection-closed\" held_ms in fencepost.hold"),
        "{lines:#?}"
    );
}

#[tokio::test]
async fn a_refusal_and_a_dropped_grant() {
    let (collector, _guard) = Collector::install();
    let (one, two) = (connect("refusal").await, connect("refusal").await);
    let held = one.lock("stock/42").unwrap().acquire().await.unwrap();
    collector.take();
    assert!(
        two.lock("stock/42")
            .unwrap()
            .try_acquire()
            .await
            .unwrap()
            .is_none()
    );
    let lines = collector.take();
    let refused = line(&lines, "lock \"stock/42\": ");
    assert!(refused.starts_with("DEBUG fencepost::wait "), "{refused}");
    assert!(
        refused.contains("reason=\"not-available\" waited_ms in fencepost.wait"),
        "{refused}"
    );
    assert!(
        lines.last().unwrap().starts_with("close fencepost.wait"),
        "{lines:#?}"
    );
    drop(held);
    drop(two.lock("stock/42").unwrap().acquire().await.unwrap());
    let lines = collector.take();
    let dropped =
        "DEBUG fencepost::hold given up or dropped of=\"lock\" name=\"stock/42\" held_ms in fencepost.hold";
    assert_eq!(line(&lines, "given up"), dropped);
}

#[tokio::test]
async fn claims_are_operations() {
    let (collector, _guard) = Collector::install();
    let client = fencepost::connect("memory:").await.unwrap();
    let payments = client.idempotency("payments").unwrap();
    for ends_with in ["completed", "replayed"] {
        if let Claimed::Run(claim) = payments.claim("order-17", b"").await.unwrap() {
            drop(claim.complete("text", "receipt").await.unwrap());
        }
        let lines = collector.take();
        assert!(
            line(&lines, ends_with).contains(" of=\"operation\" name=\"payments/order-17\" "),
            "{lines:#?}"
        );
    }
}

/// Panics at every call of one kind from fencepost, and counts the panics.
#[derive(Clone)]
struct Faulty {
    call: &'static str,
    panics: Arc<AtomicU32>,
}

impl Faulty {
    fn called(&self, call: &str, target: &str) {
        if call == self.call && target.starts_with("fencepost::") {
            self.panics.fetch_add(1, Ordering::Relaxed);
            panic!("the subscriber fails in {call}");
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Faulty {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, _id: &span::Id, _context: Context<'_, S>) {
        self.called("on_new_span", attributes.metadata().target());
    }

    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        self.called("on_event", event.metadata().target());
    }

    fn on_close(&self, id: span::Id, context: Context<'_, S>) {
        self.called("on_close", context.metadata(&id).unwrap().target());
    }
}

/// A panic of the subscriber does not end the client, and the client loses no lock, both in a task of the program and
/// in the client's task.
#[tokio::test]
async fn a_panic_of_the_subscriber_ends_nothing() {
    for call in ["on_new_span", "on_event", "on_close"] {
        let faulty = Faulty {
            call,
            panics: Arc::default(),
        };
        let _guard = tracing::subscriber::set_default(Registry::default().with(faulty.clone()));
        let (one, two) = (connect(call).await, connect(call).await);
        let kept = one.lock("kept").unwrap().acquire().await.unwrap();
        let (stock, other) = (one.lock("stock/42").unwrap(), two.lock("stock/42").unwrap());
        stock.acquire().await.unwrap().release().await.unwrap();
        drop(stock.acquire().await.unwrap());
        let freed = other.acquire_within(Duration::from_secs(20)).await.unwrap();
        let held = freed.expect("the client has released the dropped grant");
        let (waited, released) = tokio::join!(stock.acquire(), async {
            // The other future runs until it waits.
            tokio::task::yield_now().await;
            held.release().await
        });
        released.unwrap();
        assert!(waited.unwrap().is_valid() && kept.is_valid(), "{call}");
        one.close().await.unwrap();
        two.close().await.unwrap();
        assert!(faulty.panics.load(Ordering::Relaxed) > 0, "{call}");
    }
}
