//! The rules of an ensemble, one test each.

use core::time::Duration;

use fencepost_core::{
    CommandId, Instant, SessionId,
    zookeeper::{Answer, CreateMode, Request, Write, code},
};
use fencepost_models::zookeeper::{Ask, CannotAttach, Event, Server};

const TIMEOUT: Duration = Duration::from_millis(1000);

fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1000)
}

fn create(path: &str) -> Ask {
    Ask::Request(Request::Create {
        path: path.into(),
        data: Vec::new(),
        mode: CreateMode::Persistent,
    })
}

fn ephemeral(path: &str) -> Ask {
    Ask::Request(Request::Create {
        path: path.into(),
        data: Vec::new(),
        mode: CreateMode::Ephemeral,
    })
}

fn delete(path: &str) -> Ask {
    Ask::Request(Request::Delete { path: path.into() })
}

fn get(path: &str) -> Ask {
    Ask::Request(Request::Get {
        path: path.into(),
        watch: true,
    })
}

fn sync() -> Ask {
    Ask::Request(Request::Sync { path: "/".into() })
}

/// Three servers with a session on each; the first one leads.
struct Three {
    server: Server,
    sessions: Vec<SessionId>,
}

impl Three {
    fn new() -> Self {
        let mut server = Server::ensemble(3);
        let open = |number| server.open_session_at(at(0), number, TIMEOUT).unwrap();
        let sessions = (0..3).map(open).collect();
        Self { server, sessions }
    }

    fn ask(&mut self, client: usize, ask: Ask) -> Option<Answer> {
        let id = CommandId(client as u64);
        let answered = self.server.ask(self.sessions[client], id, ask)?;
        Some(answered.reply.answer)
    }

    fn sees(&mut self, client: usize, path: &str) -> bool {
        let look = Ask::Exists {
            path: path.into(),
            watch: false,
        };
        self.ask(client, look) != Some(Answer::Error(code::NO_NODE))
    }

    fn fired(&mut self, client: usize) -> Vec<(Event, String)> {
        let fired = self.server.take_fired_watches(self.sessions[client]);
        fired.into_iter().map(|one| (one.event, one.path)).collect()
    }
}

#[test]
fn a_follower_answers_reads_from_what_it_has_applied() {
    let mut three = Three::new();
    three.ask(0, create("/a"));
    three.ask(0, create("/b"));
    assert!(three.sees(0, "/a") && !three.sees(1, "/a"));
    three.server.catch_up(1, 1);
    assert!(three.sees(1, "/a") && !three.sees(1, "/b"));
    assert_eq!((three.server.lag(1), three.server.lag(2)), (1, 2));
}

#[test]
fn a_write_is_answered_when_the_own_server_has_applied_it() {
    let mut three = Three::new();
    three.ask(0, create("/a"));
    three.ask(1, create("/b"));
    assert!(three.sees(1, "/a") && three.sees(1, "/b") && !three.sees(2, "/b"));
    assert_eq!(three.ask(2, create("/a")), Some(Answer::Error(code::NODE_EXISTS)));
    assert!(three.sees(2, "/b"));
}

#[test]
fn a_sync_catches_up() {
    let mut three = Three::new();
    three.ask(0, create("/a"));
    assert_eq!(three.ask(1, sync()), Some(Answer::Done));
    assert!(three.sees(1, "/a"));
}

#[test]
fn watches_fire_when_their_own_server_applies() {
    let mut three = Three::new();
    three.ask(0, create("/a"));
    for client in [1, 2] {
        three.ask(client, sync());
        three.ask(client, get("/a"));
    }
    three.ask(0, delete("/a"));
    assert_eq!(three.fired(1), []);
    three.server.catch_up(1, 1);
    assert_eq!(three.fired(1), [(Event::Deleted, "/a".into())]);
    assert_eq!(three.fired(2), []);
}

#[test]
fn a_server_that_is_behind_refuses_the_client() {
    let mut three = Three::new();
    let mover = three.sessions[0];
    let answered = three.server.ask(mover, CommandId(1), create("/a")).unwrap();
    // The answer was lost, so the client has seen nothing. A server without the node accepts the client.
    assert_eq!(three.server.reattach(at(1), mover, 1), Ok(()));
    assert!(!three.sees(0, "/a"));
    three.server.saw(mover, answered.zxid);
    let refused = three.server.reattach(at(1), mover, 2);
    assert_eq!(refused, Err(CannotAttach::ServerBehind));
    assert_eq!(three.server.connected_to(mover), None);
    three.server.catch_up(2, 1);
    assert_eq!(three.server.reattach(at(1), mover, 2), Ok(()));
}

#[test]
fn a_server_that_is_behind_takes_a_client_that_does_not_say_what_it_has_seen() {
    let mut three = Three::new();
    let mover = three.sessions[0];
    let answered = three.server.ask(mover, CommandId(1), create("/a")).unwrap();
    three.server.saw(mover, answered.zxid);
    three.server.forget_seen(mover);
    assert_eq!(three.server.reattach(at(1), mover, 2), Ok(()));
    assert!(!three.sees(0, "/a"));
}

#[test]
fn the_leader_learns_of_a_session_only_from_its_server() {
    let mut three = Three::new();
    let [lead, reported, unreported] = three.sessions[..] else {
        panic!("three sessions");
    };
    for session in [lead, reported, unreported] {
        three.server.heard(at(900), session);
    }
    three.server.report(1);
    three.server.take_report(at(950), 1);
    assert_eq!(three.server.expire_due(at(1000)), []);
    assert_eq!(three.server.expire_due(at(1001)), [unreported]);
    assert_eq!(three.server.expire_due(at(1901)), [lead]);
    assert_eq!(three.server.expire_due(at(1950)), []);
    assert_eq!(three.server.expire_due(at(1951)), [reported]);
}

#[test]
fn a_follower_that_is_cut_off_goes_on_answering_reads_of_a_session_that_is_over() {
    let mut three = Three::new();
    three.ask(1, ephemeral("/held"));
    three.server.cut_off(1);
    three.server.heard(at(900), three.sessions[1]);
    three.server.report(1);
    three.server.take_report(at(900), 1);
    assert!(three.server.expire_due(at(1001)).contains(&three.sessions[1]));
    assert_eq!(three.server.owner("/held"), None);
    assert!(three.sees(1, "/held"));
    assert_eq!(three.ask(1, sync()), None);
    assert_eq!(three.ask(1, create("/a")), None);
    assert_eq!(three.server.children("/"), Some(vec![]));
    assert_eq!(three.server.open_session_at(at(1001), 1, TIMEOUT), None);

    three.server.rejoin(1);
    assert_eq!(three.server.connected_to(three.sessions[1]), None);
    let back = three.server.reattach(at(1002), three.sessions[1], 0);
    assert_eq!(back, Err(CannotAttach::SessionOver));
}

#[test]
fn a_follower_that_notices_breaks_its_connections() {
    let mut three = Three::new();
    three.server.cut_off(1);
    assert_eq!(three.server.disconnect_all(1), [three.sessions[1]]);
    assert_eq!(three.ask(1, get("/")), None);
    let session = three.sessions[1];
    assert_eq!(
        three.server.reattach(at(1), session, 1),
        Err(CannotAttach::ServerCutOff)
    );
    assert_eq!(three.server.reattach(at(1), session, 2), Ok(()));
    assert_eq!(three.ask(1, create("/a")).map(|_| ()), Some(()));
}

#[test]
fn a_new_leader_keeps_what_was_answered_and_gives_every_session_its_full_timeout() {
    let mut three = Three::new();
    let Some(Answer::Created { zxid: before, .. }) = three.ask(0, ephemeral("/held")) else {
        panic!("not created");
    };
    assert_eq!(three.server.change_leader(at(900), 2), three.sessions);
    assert_eq!(three.server.leader(), 2);
    assert_eq!(three.server.owner("/held"), Some(three.sessions[0]));
    assert_eq!(three.ask(0, sync()), None);
    assert_eq!(three.server.expire_due(at(1900)), []);
    three.server.reattach(at(1900), three.sessions[0], 1).unwrap();
    let Some(Answer::Created { zxid: after, .. }) = three.ask(0, create("/a")) else {
        panic!("not created");
    };
    assert!(before < after);
    assert_eq!(three.server.expire_due(at(1901)), three.sessions[1..]);
}

#[test]
fn a_server_that_is_cut_off_does_not_lead() {
    let mut three = Three::new();
    three.server.cut_off(1);
    assert_eq!(three.server.change_leader(at(1), 1), []);
    three.server.cut_off(0);
    assert_eq!(three.server.leader(), 0);
    assert_eq!(three.ask(0, sync()), Some(Answer::Done));
}

#[test]
fn watches_are_set_again_and_tell_what_was_missed() {
    let mut three = Three::new();
    three.ask(0, create("/gone"));
    three.ask(0, create("/same"));
    three.ask(1, sync());
    for path in ["/gone", "/same"] {
        three.ask(1, get(path));
    }
    let session = three.sessions[1];
    three.server.saw(session, three.server.applied(1));
    three.server.detach(session);
    three.ask(0, delete("/gone"));
    three.server.reattach(at(1), session, 0).unwrap();
    assert_eq!(three.fired(1), [(Event::Deleted, "/gone".into())]);
    three.ask(0, delete("/same"));
    assert_eq!(three.fired(1), [(Event::Deleted, "/same".into())]);
}

#[test]
fn what_a_connection_did_not_deliver_is_found_out_on_the_next_one() {
    let mut three = Three::new();
    three.ask(0, create("/a"));
    three.ask(0, get("/a"));
    three.ask(1, delete("/a"));
    let session = three.sessions[0];
    three.server.reattach(at(1), session, 1).unwrap();
    assert_eq!(three.fired(0), [(Event::Deleted, "/a".into())]);

    three.ask(0, create("/a"));
    three.ask(0, get("/a"));
    three.server.detach(session);
    three.server.forget_watches(session);
    three.ask(1, delete("/a"));
    three.server.reattach(at(1), session, 1).unwrap();
    assert_eq!(three.fired(0), []);
}

#[test]
fn what_every_server_has_applied_is_not_kept() {
    let mut three = Three::new();
    let before = three.server.clone();
    for number in 0..10 {
        three.ask(0, create(&format!("/{number}")));
    }
    assert!(three.server != before);
    let mut other = three.server.clone();
    for server in [1, 2] {
        three.server.catch_up(server, 10);
        other.catch_up(3 - server, 10);
    }
    assert_eq!(three.server, other);
    assert_eq!((three.server.lag(1), three.server.lag(2)), (0, 0));
}

#[test]
fn a_deposed_leader_answers_reads_and_syncs_and_commits_nothing() {
    let mut three = Three::new();
    three.ask(0, create("/before"));
    three.ask(0, ephemeral("/held"));
    let held = three.sessions[0];
    // The other servers catch up, and close their connections. The former leader keeps its connections.
    assert_eq!(three.server.depose(at(100), 1), three.sessions[1..]);
    assert_eq!(three.server.leader(), 1);
    assert!(three.server.is_deposed(0) && !three.server.is_deposed(1));
    assert_eq!(three.server.connected_to(held), Some(0));
    let next = three.sessions[1];
    three.server.reattach(at(100), next, 1).unwrap();

    assert!(three.sees(0, "/before"));
    assert_eq!(three.ask(0, sync()), Some(Answer::Done));
    // It cannot commit a transaction, not even one that only checks.
    let check = Ask::Request(Request::Multi {
        writes: vec![Write::Check {
            path: "/".into(),
            version: None,
        }],
    });
    for write in [create("/after"), ephemeral("/after"), delete("/before"), check] {
        assert_eq!(three.ask(0, write), None);
    }
    assert!(three.sees(1, "/before") && !three.sees(1, "/after"));

    // It does not get the transactions that the others commit. So it does not know that a session has ended, and still
    // answers that session.
    three.ask(1, create("/beside"));
    three.server.heard(at(1050), next);
    three.server.heard(at(1050), held);
    assert!(three.server.expire_due(at(1101)).contains(&held));
    assert_eq!(three.server.owner("/held"), None);
    assert_eq!(three.ask(0, sync()), Some(Answer::Done));
    assert!(three.sees(0, "/held") && !three.sees(0, "/beside"));
    // No new client can connect to it.
    assert_eq!(three.server.open_session_at(at(1101), 0, TIMEOUT), None);

    assert_eq!(three.server.rejoin(0), [held]);
    assert!(!three.server.is_deposed(0));
    let back = three.server.reattach(at(1102), held, 0);
    assert_eq!(back, Err(CannotAttach::SessionOver));
    three.server.reattach(at(1102), next, 0).unwrap();
    assert!(three.sees(1, "/beside") && !three.sees(1, "/held"));
}

#[test]
fn a_leader_is_deposed_only_if_a_majority_is_left_to_the_other() {
    let mut three = Three::new();
    assert_eq!(three.server.depose(at(1), 0), []);
    three.server.cut_off(2);
    assert_eq!(three.server.depose(at(1), 2), []);
    assert_eq!(three.server.depose(at(1), 1), []);
    assert_eq!(three.server.leader(), 0);
    assert!(!three.server.is_deposed(0));
    assert_eq!(three.ask(0, create("/a")).map(|_| ()), Some(()));
}
