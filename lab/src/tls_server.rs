//! An HTTP server behind TLS, which remembers what arrived.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rustls::server::{Acceptor, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig, ServerConnection, Stream};

use crate::certificates::{Authority, Identity};

/// Nothing is waited for longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// When what has arrived is noted at the latest.
const NOTED: Duration = Duration::from_secs(5);

/// What it answers to what is no request.
const BAD_REQUEST: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// What came over one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// Not even a TLS handshake.
    NoTls,
    Tls {
        sni: Option<String>,
        alpn: Vec<String>,
        then: Then,
    },
}

/// What came after the names of the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing: the handshake failed, or the connection.
    Nothing,
    Request,
    /// Another handshake, inside of the first.
    Tls,
    Other,
}

/// Serves until the program ends; the connections end with the Envoy on the other side.
#[derive(Debug)]
pub(crate) struct TlsServer {
    pub(crate) at: SocketAddr,
    arrived: Receiver<Arrived>,
}

impl TlsServer {
    /// A server that shows this certificate, and demands one of `clients` if there is such an authority.
    pub(crate) fn start(identity: &Identity, clients: Option<&Authority>) -> anyhow::Result<Self> {
        let config = ServerConfig::builder();
        let config = match clients {
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(authority.certificate().clone())?;
                config
                    .with_client_cert_verifier(WebPkiClientVerifier::builder(roots.into()).build()?)
            }
            None => config.with_no_client_auth(),
        };
        let chain = vec![identity.certificate.clone()];
        let mut config = config.with_single_cert(chain, identity.key())?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let config = Arc::new(config);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let at = listener.local_addr()?;
        let (notes, arrived) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, notes) = (Arc::clone(&config), notes.clone());
                thread::spawn(move || serve(stream, &config, &notes));
            }
        });
        Ok(Self { at, arrived })
    }

    /// What arrived first; `None` if nothing does.
    pub(crate) fn first(&self) -> Option<Arrived> {
        self.arrived.recv_timeout(NOTED).ok()
    }
}

fn serve(
    mut stream: TcpStream,
    config: &Arc<ServerConfig>,
    notes: &Sender<Arrived>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut acceptor = Acceptor::default();
    let accepted = loop {
        if acceptor.read_tls(&mut stream)? == 0 {
            return Ok(());
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => break accepted,
            Ok(None) => {}
            Err((_, mut alert)) => {
                let _ = notes.send(Arrived::NoTls);
                return alert.write_all(&mut stream);
            }
        }
    };
    let hello = accepted.client_hello();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let sni = hello.server_name().map(str::to_owned);
    let alpn = hello.alpn().into_iter().flatten().map(text).collect();
    let note = |then| {
        // Who does not look any more need not know.
        let _ = notes.send(Arrived::Tls { sni, alpn, then });
    };
    let mut connection = match accepted.into_connection(Arc::clone(config)) {
        Ok(connection) => connection,
        Err((_, mut alert)) => {
            note(Then::Nothing);
            return alert.write_all(&mut stream);
        }
    };
    while connection.is_handshaking() {
        if connection.complete_io(&mut stream).is_err() {
            note(Then::Nothing);
            // Why, in an alert.
            connection.write_tls(&mut stream)?;
            return Ok(());
        }
    }
    answer(&mut connection, &mut stream, note)
}

/// Answers requests with the name of the server.
fn answer(
    connection: &mut ServerConnection,
    stream: &mut TcpStream,
    note: impl FnOnce(Then),
) -> io::Result<()> {
    let mut tls = Stream::new(connection, stream);
    let mut note = Some(note);
    let mut tell = |then| {
        if let Some(note) = note.take() {
            note(then);
        }
    };
    loop {
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while !request.ends_with(b"\r\n\r\n") {
            let length = match tls.read(&mut buffer) {
                Ok(length) => length,
                Err(error) => {
                    tell(Then::Nothing);
                    return Err(error);
                }
            };
            request.extend(buffer.iter().take(length));
            if length == 0 || !request.first().is_some_and(u8::is_ascii_uppercase) {
                tell(match request.first() {
                    Some(0x16) => Then::Tls,
                    _ => Then::Other,
                });
                return tls.write_all(BAD_REQUEST);
            }
        }
        tell(Then::Request);
        tls.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nTLS")?;
    }
}
