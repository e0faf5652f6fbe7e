//! A flash sale that sells each user only one piece of an item, even if the user clicks several times.
//!
//! The user and the item are the key of the operation. The program already knows the result, an order number. So one
//! request claims the operation and completes it.
//!
//! ```sh
//! cargo run --example seckill
//! cargo run --example seckill redis://localhost:6379
//! cargo run --example seckill zk://localhost:2181/shop
//! ```

use std::{collections::BTreeSet, env};

use fencepost::{Completion, Error, Idempotency};

const USERS: usize = 10;
const CLICKS: usize = 3;
const PIECES: usize = 5;

/// An order: its number, and whether an earlier click made it.
struct Order {
    number: String,
    user: String,
    replayed: bool,
}

/// Handles a click.
async fn buy(sales: Idempotency, key: String, user: String, number: String) -> Result<Order, Error> {
    Ok(match sales.register(&key, b"", "", number.as_bytes()).await? {
        Completion::Stored => Order {
            number,
            user,
            replayed: false,
        },
        Completion::Replayed(record) => {
            let number = String::from_utf8_lossy(&record.result).into();
            Order {
                number,
                user,
                replayed: true,
            }
        }
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = env::args().nth(1);
    let client = fencepost::connect(address.as_deref().unwrap_or("memory:")).await?;
    let sales = client.idempotency("flash-sale")?;
    // Each run of this example sells another item.
    let run = getrandom::u64()?;
    let clicks: Vec<_> = (0..USERS * CLICKS)
        .map(|click| {
            let user = format!("user-{}", click % USERS);
            let key = format!("item-{run:x}/{user}");
            tokio::spawn(buy(sales.clone(), key, user, format!("order-{run:x}-{click}")))
        })
        .collect();
    // The queue of orders. An order that is already in the queue is not added again. The program also adds the order
    // after a replay: the process that registered the order may have ended before it added the order.
    let mut queue: Vec<(String, String)> = Vec::new();
    let (mut new, mut replayed) = (0, 0);
    for click in clicks {
        let order = click.await??;
        if order.replayed {
            replayed += 1;
        } else {
            new += 1;
        }
        if !queue.iter().any(|(number, _)| *number == order.number) {
            queue.push((order.number, order.user));
        }
    }
    println!("{} clicks, {new} orders, {replayed} replayed", USERS * CLICKS);
    queue.truncate(PIECES);
    let winners: BTreeSet<&String> = queue.iter().map(|(_, user)| user).collect();
    println!("{} pieces, {} users", queue.len(), winners.len());
    client.close().await?;
    Ok(())
}
