//! A certificate authority of one's own, and servers that answer every
//! request in one way: over TLS, as a proxy, or as a proxy to one over TLS.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection};

/// One that nobody trusts who was not told to.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// Its own certificate, as it is put in a file.
    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// What a server of this name needs.
    pub(crate) fn vouch_for(&self, name: &str) -> Arc<ServerConfig> {
        self.vouch(&CertificateParams::new([name.to_owned()]).unwrap())
    }

    /// The same, but over since 2021.
    pub(crate) fn vouched_for(&self, name: &str) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.vouch(&params)
    }

    fn vouch(&self, params: &CertificateParams) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let crypto = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(crypto)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let chain = vec![certificate.der().clone()];
        Arc::new(config.with_single_cert(chain, key.into()).unwrap())
    }
}

/// What a server is.
#[derive(Clone)]
pub(crate) enum Kind {
    Plain,
    Tls(Arc<ServerConfig>),
    /// Answers for every plain host, and for every one over TLS as this.
    Proxy(Arc<ServerConfig>),
}

/// A server on loopback, which lives as long as the tests.
pub(crate) struct Site {
    /// Its host and port.
    pub(crate) address: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// A server that answers each request with this response.
    pub(crate) fn start(kind: Kind, response: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that does not trust it goes away.
                let _ = serve(stream.unwrap(), &kind, &response, &seen);
            }
        });
        Self { address, heads }
    }

    /// The heads of the requests so far, in lower case.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    kind: &Kind,
    response: &[u8],
    heads: &Mutex<Vec<String>>,
) -> io::Result<()> {
    let config = match kind {
        Kind::Plain => None,
        Kind::Tls(config) => Some(config),
        Kind::Proxy(config) => {
            let head = read_request(&mut stream)?;
            heads.lock().unwrap().push(head.clone());
            if !head.starts_with("connect ") {
                return stream.write_all(response);
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            Some(config)
        }
    };
    let Some(config) = config else {
        let head = read_request(&mut stream)?;
        heads.lock().unwrap().push(head);
        return stream.write_all(response);
    };
    let connection = ServerConnection::new(Arc::clone(config)).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, stream);
    let head = read_request(&mut stream)?;
    heads.lock().unwrap().push(head);
    stream.write_all(response)?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// Reads a request and not a byte more; gives its head.
fn read_request(stream: &mut impl Read) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    stream.read_exact(&mut vec![0; length])?;
    Ok(head)
}
