//! A server on loopback that does to each connection what it is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One thing that is done to a connection.
#[derive(Clone, Debug)]
pub enum Step {
    Send(Vec<u8>),
    /// Each byte in a packet of its own.
    Drip(Vec<u8>),
    /// The connection is torn, without a proper end.
    Reset,
    /// Nothing more is sent until the client goes away.
    Hang,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// The request line and the headers, in lower case.
    pub head: String,
    pub body: Vec<u8>,
}

pub struct Server {
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
    left: Arc<tokio::sync::Semaphore>,
}

impl Server {
    /// Each connection gets the next of these scripts; those behind the last
    /// are closed at once.
    pub async fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let left = Arc::new(tokio::sync::Semaphore::new(0));
        let mut scripts = VecDeque::from(scripts);
        let (kept, gone) = (Arc::clone(&received), Arc::clone(&left));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let script = scripts.pop_front().unwrap_or_default();
                let (kept, gone) = (Arc::clone(&kept), Arc::clone(&gone));
                tokio::spawn(async move {
                    // A client may go away at any moment.
                    let _ = serve(stream, script, &kept).await;
                    gone.add_permits(1);
                });
            }
        });
        Self {
            url,
            received,
            left,
        }
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until so many connections are over.
    pub async fn is_left_by(&self, connections: u32) {
        let _ = self.left.acquire_many(connections).await.unwrap();
    }
}

async fn serve(
    mut stream: TcpStream,
    script: Vec<Step>,
    received: &Mutex<Vec<Received>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let request = read_request(&mut stream).await?;
    received.lock().unwrap().push(request);
    for step in script {
        match step {
            Step::Send(bytes) => stream.write_all(&bytes).await?,
            Step::Drip(bytes) => {
                for byte in bytes {
                    stream.write_all(&[byte]).await?;
                    tokio::task::yield_now().await;
                }
            }
            Step::Reset => {
                stream.set_zero_linger()?;
                return Ok(());
            }
            Step::Hang => {
                let mut rest = [0; 64];
                while stream.read(&mut rest).await? > 0 {}
            }
        }
    }
    stream.shutdown().await
}

async fn read_request(stream: &mut TcpStream) -> std::io::Result<Received> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            let mut body = bytes.split_off(end + 4);
            while body.len() < length {
                stream.read_buf(&mut body).await?;
            }
            return Ok(Received { head, body });
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}
