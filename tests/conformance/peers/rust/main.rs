//! Runs the commands of its input with the Rust client: the protocol is in ../../README.md.

mod command;
mod operations;
mod peer;
mod work;

use std::{io::BufRead as _, sync::Arc};

use tokio::sync::mpsc;

use command::Command;
use peer::Peer;

#[tokio::main]
async fn main() {
    let peer = Arc::new(Peer::default());
    let (lines, mut commands) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if lines.send(Command::parse(&line)).is_err() {
                return;
            }
        }
    });
    while let Some(command) = commands.recv().await {
        let peer = Arc::clone(&peer);
        let ended = peer.register(&command);
        tokio::spawn(async move {
            let mut answer = peer.answer(&command, ended).await;
            answer["id"] = command.number.into();
            println!("{answer}");
        });
    }
    peer.reset().await.expect("the clients close");
}
