//! A server on loopback that tells every answer as a stream of events, and
//! when it had read what it was asked.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustix::time::ClockId;

use crate::process::{Result, processor_time};

/// How the events of an answer go out.
#[derive(Clone, Copy)]
pub enum Pace {
    /// All at once.
    Whole,
    /// Each as a chunk, and a write, of its own.
    Events,
}

/// The server, until the program ends.
pub struct Server {
    pub base_url: String,
    pub address: String,
    served: Receiver<Served>,
}

/// One request, and its answer.
pub struct Served {
    /// When the whole request had been read.
    pub arrived: Instant,
    /// Head and body as they came.
    pub request: Vec<u8>,
    /// What answering took of the processor.
    pub processor: Duration,
}

impl Server {
    /// Answers each request with these events, one connection at a time.
    pub fn start(events: Vec<String>, pace: Pace) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let (tell, served) = channel();
        std::thread::spawn(move || {
            let answer = Answer::of(&events, pace);
            while answer.serve(&listener, &tell).is_ok() {}
        });
        Ok(Self {
            base_url: format!("http://{address}/v1"),
            address,
            served,
        })
    }

    /// The next request that was answered.
    pub fn served(&self) -> Result<Served> {
        Ok(self.served.recv_timeout(Duration::from_mins(1))?)
    }
}

/// The bytes of an answer, in the pieces in which they are written.
struct Answer(Vec<Vec<u8>>);

impl Answer {
    fn of(events: &[String], pace: Pace) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
        let frames = events.iter().map(|event| format!("data: {event}\n\n"));
        Self(match pace {
            Pace::Whole => {
                let body: String = frames.collect();
                vec![format!("{head}\r\n{body}").into_bytes()]
            }
            Pace::Events => {
                let chunk = |frame: String| format!("{:x}\r\n{frame}\r\n", frame.len());
                let start = format!("{head}transfer-encoding: chunked\r\n\r\n");
                let pieces = std::iter::once(start).chain(frames.map(chunk));
                let pieces = pieces.chain(["0\r\n\r\n".to_owned()]);
                pieces.map(String::into_bytes).collect()
            }
        })
    }

    fn serve(&self, listener: &TcpListener, tell: &Sender<Served>) -> Result<()> {
        let (mut connection, _) = listener.accept()?;
        connection.set_nodelay(true)?;
        let request = read_request(&connection)?;
        let arrived = Instant::now();
        let before = processor_time(ClockId::ThreadCPUTime)?;
        for piece in &self.0 {
            connection.write_all(piece)?;
        }
        drop(connection);
        let processor = processor_time(ClockId::ThreadCPUTime)?.saturating_sub(before);
        tell.send(Served {
            arrived,
            request,
            processor,
        })?;
        Ok(())
    }
}

/// Reads a request with a body of the length that its head tells.
fn read_request(connection: &TcpStream) -> Result<Vec<u8>> {
    let mut connection = BufReader::with_capacity(64 << 10, connection);
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        connection.read_exact(&mut byte)?;
        request.extend(byte);
    }
    let head = String::from_utf8_lossy(&request).to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(Ok(0), |length| length.trim().parse())?;
    let start = request.len();
    request.resize(start + length, 0);
    connection.read_exact(&mut request[start..])?;
    Ok(request)
}
