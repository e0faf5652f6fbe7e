//! The shop: a stock that is read and written in two steps, over a socket, so that buyers of all processes see the same.
//!
//! Lines in, lines out: `read FENCE` → `STOCK` or `stale`; `write FENCE STOCK` → `ok` or `stale`. A fence below the highest seen is refused;
//! buyers without a lock have the fence 0, and nothing to be refused by.

use core::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

use super::Failed;

/// The shop, open until it is dropped.
pub(super) struct Shop {
    /// Where it is.
    pub(super) address: SocketAddr,
    books: Arc<Mutex<Books>>,
    door: AbortHandle,
}

struct Books {
    stock: u32,
    highest: u64,
    fences: Vec<u64>,
    stale: u32,
}

impl Shop {
    /// Opens a shop with so many items, on a loopback port of its own.
    pub(super) async fn open(stock: u32) -> Result<Self, Failed> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let books = Arc::new(Mutex::new(Books {
            stock,
            highest: 0,
            fences: Vec::new(),
            stale: 0,
        }));
        let served = Arc::clone(&books);
        let door = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                // A buyer that leaves in the middle is no concern of the shop's.
                tokio::spawn(serve(connection, Arc::clone(&served)));
            }
        });
        Ok(Self {
            address,
            books,
            door: door.abort_handle(),
        })
    }

    /// The fences of those who were served, in order.
    pub(super) fn fences(&self) -> Vec<u64> {
        lock(&self.books).fences.clone()
    }

    /// How many requests came with a fence that had been overtaken.
    pub(super) fn stale(&self) -> u32 {
        lock(&self.books).stale
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.door.abort();
    }
}

fn lock(books: &Mutex<Books>) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(connection: TcpStream, books: Arc<Mutex<Books>>) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut lines = BufReader::new(connection).lines();
    while let Some(line) = lines.next_line().await? {
        let answer = lock(&books).answer(&line) + "\n";
        lines.get_mut().get_mut().write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

impl Books {
    fn answer(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let fence = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        if fence < self.highest {
            self.stale += 1;
            return "stale".into();
        }
        if fence > self.highest {
            self.highest = fence;
            self.fences.push(fence);
        }
        match words.as_slice() {
            ["read", _] => self.stock.to_string(),
            ["write", _, stock] => match stock.parse() {
                Ok(stock) => {
                    self.stock = stock;
                    "ok".into()
                }
                Err(_) => "what?".into(),
            },
            _ => "what?".into(),
        }
    }
}

/// A buyer's connection to the shop.
pub(super) struct Counter(BufReader<TcpStream>);

impl Counter {
    /// Walks up to the counter.
    pub(super) async fn reach(shop: SocketAddr) -> Result<Self, Failed> {
        let connection = TcpStream::connect(shop).await?;
        connection.set_nodelay(true)?;
        Ok(Self(BufReader::new(connection)))
    }

    /// How many items the shop has; `None`: the fence has been overtaken.
    pub(super) async fn read(&mut self, fence: u64) -> Result<Option<u32>, Failed> {
        let answer = self.ask(format!("read {fence}\n")).await?;
        Ok(answer.parse().ok())
    }

    /// Says how many it has now; whether that was taken.
    pub(super) async fn write(&mut self, fence: u64, stock: u32) -> Result<bool, Failed> {
        Ok(self.ask(format!("write {fence} {stock}\n")).await? == "ok")
    }

    async fn ask(&mut self, line: String) -> Result<String, Failed> {
        self.0.get_mut().write_all(line.as_bytes()).await?;
        let mut answer = String::new();
        if self.0.read_line(&mut answer).await? == 0 {
            return Err("the shop has closed".into());
        }
        Ok(answer.trim_end().into())
    }
}
