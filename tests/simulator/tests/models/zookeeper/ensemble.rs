//! The rules of an ensemble that a test can observe on a real one.

use fencepost_core::{
    CommandId, Instant, SessionId,
    zookeeper::{Answer, CreateMode, Request},
};
use fencepost_models::zookeeper::{Ask, Event, Server};

use super::{
    create,
    real::{NoAnswer, Real},
};
use crate::chance::{address, alone};

const NODE: &str = "/fencepost-models-ensemble";
const ROUNDS: u8 = 50;

fn servers() -> Vec<String> {
    let servers = address("FENCEPOST_ZOOKEEPER_ENSEMBLE");
    servers.split(',').map(String::from).collect()
}

fn get(watch: bool) -> Ask {
    Ask::Request(Request::Get {
        path: NODE.into(),
        watch,
    })
}

fn set(round: u8) -> Ask {
    Ask::Set {
        path: NODE.into(),
        data: vec![round],
        version: None,
    }
}

fn sync() -> Ask {
    Ask::Request(Request::Sync { path: NODE.into() })
}

fn data(answer: Answer) -> Vec<u8> {
    match answer {
        Answer::Data { data, .. } => data,
        other => panic!("{other:?}"),
    }
}

/// Several clients on one ensemble, real or not.
trait Ensemble {
    fn ask(&mut self, client: usize, ask: Ask) -> Answer;

    fn events(&mut self, client: usize) -> Vec<Event>;
}

impl Ensemble for Vec<Real> {
    fn ask(&mut self, client: usize, ask: Ask) -> Answer {
        self[client].ask(&ask)
    }

    fn events(&mut self, client: usize) -> Vec<Event> {
        let count = self[client].untaken();
        let events = self[client].next_events(count);
        events.into_iter().map(|(event, _)| event).collect()
    }
}

/// The model, whose followers apply no transactions by themselves.
struct Lazy(Server, Vec<SessionId>);

impl Ensemble for Lazy {
    fn ask(&mut self, client: usize, ask: Ask) -> Answer {
        let answered = self.0.ask(self.1[client], CommandId(1), ask);
        answered.unwrap().reply.answer
    }

    fn events(&mut self, client: usize) -> Vec<Event> {
        let events = self.0.take_fired_watches(self.1[client]);
        events.into_iter().map(|fired| fired.event).collect()
    }
}

fn own_writes_are_seen_and_a_sync_sees_those_of_others(ensemble: &mut impl Ensemble) {
    for round in 1..ROUNDS {
        let (writer, reader) = (usize::from(round % 3), usize::from(round / 3 % 3));
        ensemble.ask(writer, set(round));
        assert_eq!(data(ensemble.ask(writer, get(false))), [round]);
        ensemble.ask(reader, sync());
        assert_eq!(data(ensemble.ask(reader, get(false))), [round]);
    }
}

fn a_write_brings_its_server_up_to_date(ensemble: &mut impl Ensemble) {
    for round in 1..ROUNDS {
        let (writer, reader) = (usize::from(round % 3), usize::from(round / 3 % 3));
        ensemble.ask(writer, set(round));
        // A write that fails has the same effect.
        let again = ensemble.ask(reader, create(NODE, CreateMode::Persistent));
        assert_eq!(again, Answer::Error(-110));
        assert_eq!(data(ensemble.ask(reader, get(false))), [round]);
    }
}

fn an_event_comes_before_the_data_that_it_tells_of(ensemble: &mut impl Ensemble) {
    for round in 1..ROUNDS {
        let (writer, reader) = (usize::from(round % 3), usize::from((round + 1) % 3));
        ensemble.ask(reader, sync());
        let before = data(ensemble.ask(reader, get(true)));
        assert_eq!(ensemble.events(reader), []);
        ensemble.ask(writer, set(round));
        loop {
            let now = data(ensemble.ask(reader, get(false)));
            let events = ensemble.events(reader);
            if now != before {
                assert_eq!(events, [Event::Changed]);
                break;
            }
            assert!(events.is_empty() || events == [Event::Changed]);
            if !events.is_empty() {
                break;
            }
            ensemble.ask(reader, sync());
        }
    }
}

fn keeps_the_rules(ensemble: &mut impl Ensemble) {
    ensemble.ask(0, create(NODE, CreateMode::Persistent));
    for client in 0..3 {
        ensemble.ask(client, sync());
    }
    own_writes_are_seen_and_a_sync_sees_those_of_others(ensemble);
    a_write_brings_its_server_up_to_date(ensemble);
    an_event_comes_before_the_data_that_it_tells_of(ensemble);
    ensemble.ask(0, Ask::Request(Request::Delete { path: NODE.into() }));
}

#[test]
fn the_model_keeps_the_rules() {
    let mut model = Server::ensemble(3);
    let sessions = (0..3).map(|_| model.open_session()).collect();
    let mut model = Lazy(model, sessions);
    for (client, session) in model.1.clone().into_iter().enumerate() {
        model.0.reattach(Instant::ZERO, session, client).unwrap();
    }
    keeps_the_rules(&mut model);
}

/// A server of a new ensemble sometimes gives no answer to a request. That breaks no rule: a client connects again.
#[test]
fn the_real_ensemble_keeps_the_rules() {
    let _alone = alone();
    for _ in 0..3 {
        let run = || {
            let mut real: Vec<_> = servers().iter().map(|server| Real::open(server)).collect();
            keeps_the_rules(&mut real);
            for client in real {
                client.close();
            }
        };
        match std::panic::catch_unwind(run) {
            Ok(()) => return,
            Err(panic) if panic.is::<NoAnswer>() => {}
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    panic!("three times no answer");
}

#[test]
fn a_server_refuses_a_client_that_has_seen_more() {
    let _alone = alone();
    for server in servers() {
        // A new session is a transaction, so the server has applied at least one.
        Real::open(&server).close();
        assert!(Real::open_having_seen(&server, i64::MAX).is_err());
        Real::open_having_seen(&server, 1).unwrap().close();
    }
}

#[test]
fn a_session_moves_between_servers_and_takes_its_watches_along() {
    let _alone = alone();
    let servers = servers();
    let node = format!("{NODE}-moved");
    let mut mover = Real::open(&servers[0]);
    let mut other = Real::open(&servers[1]);
    mover.ask(&create(&node, CreateMode::Persistent));
    let watch = Request::Get {
        path: node.clone(),
        watch: true,
    };
    for server in servers.iter().cycle().skip(1).take(6) {
        mover.ask(&Ask::Request(watch.clone()));
        mover.hang_up();
        let change = Ask::Set {
            path: node.clone(),
            data: Vec::new(),
            version: None,
        };
        assert!(matches!(other.ask(&change), Answer::Data { .. }));
        // A server that lags refuses the client. At a later try, it has all transactions.
        while mover.reconnect(server).is_err() {}
        mover.ask(&Ask::Request(Request::Sync { path: node.clone() }));
        assert_eq!(mover.next_events(1), [(Event::Changed, node.clone())]);
    }
    mover.ask(&Ask::Request(Request::Delete { path: node }));
    mover.close();
    other.close();
}
