//! Withdraws money with a ticket: a token, which the bank issues for one withdrawal from one account.
//!
//! ```sh
//! cargo run --example withdraw
//! cargo run --example withdraw redis://localhost:6379
//! cargo run --example withdraw zk://localhost:2181/bank
//! ```

use std::{collections::BTreeMap, env, fmt::Write as _, time::Duration};

use fencepost::{Claimed, Error, Idempotency};

/// The bank's database.
type Balances = BTreeMap<&'static str, i64>;

/// Withdraws an amount, and returns the balance after it. A ticket withdraws only once, even if it is used again.
async fn withdraw(
    tickets: &Idempotency,
    balances: &mut Balances,
    (ticket, account, amount): (&str, &'static str, i64),
) -> Result<String, Error> {
    let fingerprint = amount.to_string();
    match tickets
        .consume(ticket, account.as_bytes(), fingerprint.as_bytes())
        .await?
    {
        Claimed::Run(claim) => {
            let balance = balances.entry(account).or_default();
            *balance -= amount;
            let balance = balance.to_string();
            // No other process can have stored a result, because the claim is not lost.
            let _stored = claim.complete("", balance.as_bytes()).await?;
            Ok(balance)
        }
        Claimed::Replayed(record) => Ok(String::from_utf8_lossy(&record.result).into()),
    }
}

/// Makes a random ticket.
fn ticket() -> Result<String, Box<dyn std::error::Error>> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    let mut text = String::new();
    for byte in random {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = env::args().nth(1);
    let client = fencepost::connect(address.as_deref().unwrap_or("memory:")).await?;
    let tickets = client.idempotency("withdrawals")?;
    let mut balances = Balances::from([("account-7", 100), ("account-8", 100)]);
    // The ticket is valid for one minute, and for this account only.
    let (ticket, guessed) = (ticket()?, ticket()?);
    tickets
        .issue(&ticket, b"account-7", Duration::from_secs(60))
        .await?;

    for when in ["the withdrawal", "a repetition"] {
        let balance = withdraw(&tickets, &mut balances, (&ticket, "account-7", 30)).await?;
        println!("balance after {when}: {balance}");
    }
    for (what, request) in [
        ("another amount", (ticket.as_str(), "account-7", 50)),
        ("another account", (ticket.as_str(), "account-8", 30)),
        ("a guessed ticket", (guessed.as_str(), "account-7", 30)),
    ] {
        if let Err(error) = withdraw(&tickets, &mut balances, request).await {
            println!("{what}: {}", error.name());
        }
    }
    println!("the bank's balances: {balances:?}");
    client.close().await?;
    Ok(())
}
