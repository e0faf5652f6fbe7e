//! The contender in Rust: see README.md.

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

type Failed = Box<dyn std::error::Error>;

struct Counter(BufReader<TcpStream>);

impl Counter {
    async fn ask(&mut self, line: String) -> Result<String, Failed> {
        self.0.get_mut().write_all(line.as_bytes()).await?;
        let mut answer = String::new();
        self.0.read_line(&mut answer).await?;
        Ok(answer.trim().to_owned())
    }
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, name, rounds, host, port] = arguments.as_slice() else {
        return Err("usage: contender URL LOCK ROUNDS COUNTER_HOST COUNTER_PORT".into());
    };
    let connection = TcpStream::connect((host.as_str(), port.parse()?)).await?;
    connection.set_nodelay(true)?;
    let mut counter = Counter(BufReader::new(connection));
    let client = fencepost::connect(url).await?;
    let lock = client.lock(name)?;
    let (rounds, mut done, mut stale, mut lost) = (rounds.parse::<u32>()?, 0, 0, 0);
    while done < rounds {
        let grant = lock.acquire().await?;
        let fence = grant.fence().ok_or("a grant without a fence")?;
        let value = counter.ask(format!("read {fence}\n")).await?;
        if value == "stale"
            || counter
                .ask(format!("write {fence} {}\n", value.parse::<u64>()? + 1))
                .await?
                == "stale"
        {
            stale += 1;
        } else {
            done += 1;
        }
        if grant.release().await.is_err() {
            lost += 1;
        }
    }
    client.close().await?;
    println!("{{\"done\": {done}, \"stale\": {stale}, \"lost\": {lost}}}");
    Ok(())
}
