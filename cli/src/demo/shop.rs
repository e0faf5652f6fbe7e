//! The shop's stock: a number that buyers read and write, without any protection.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Mutex,
};

use super::Failure;

/// Access to the stock.
#[derive(Clone)]
pub(super) enum Shop {
    /// In this process.
    Here(Arc<AtomicI64>),
    /// In the process that started this one.
    There(Arc<Mutex<BufReader<TcpStream>>>),
}

impl Shop {
    pub(super) fn new(items: u32) -> Self {
        Self::Here(Arc::new(AtomicI64::new(items.into())))
    }

    /// Connects to the shop at `address`.
    pub(super) async fn at(address: &str) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self::There(Arc::new(Mutex::new(BufReader::new(stream)))))
    }

    pub(super) async fn read(&self) -> Result<i64, Failure> {
        match self {
            Self::Here(stock) => Ok(stock.load(Ordering::SeqCst)),
            Self::There(line) => ask(line, "?\n").await,
        }
    }

    pub(super) async fn write(&self, stock: i64) -> Result<(), Failure> {
        match self {
            Self::Here(place) => place.store(stock, Ordering::SeqCst),
            Self::There(line) => {
                ask(line, &format!("{stock}\n")).await?;
            }
        }
        Ok(())
    }
}

async fn ask(line: &Mutex<BufReader<TcpStream>>, question: &str) -> Result<i64, Failure> {
    let mut line = line.lock().await;
    line.write_all(question.as_bytes()).await?;
    let mut answer = String::new();
    line.read_line(&mut answer).await?;
    Ok(answer.trim_end().parse()?)
}

/// Serves the stock on a loopback port: `?` reads it, and a number writes it. The reply is always the stock.
pub(super) async fn serve(listener: TcpListener, stock: Arc<AtomicI64>) {
    while let Ok((stream, _)) = listener.accept().await {
        let stock = Arc::clone(&stock);
        tokio::spawn(async move {
            let _gone = stream.set_nodelay(true);
            let mut line = BufReader::new(stream);
            let mut question = String::new();
            while line.read_line(&mut question).await.is_ok_and(|read| read > 0) {
                if let Ok(written) = question.trim_end().parse() {
                    stock.store(written, Ordering::SeqCst);
                }
                let answer = format!("{}\n", stock.load(Ordering::SeqCst));
                if line.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
                question.clear();
            }
        });
    }
}
