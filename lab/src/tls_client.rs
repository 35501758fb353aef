//! An application that speaks TLS itself.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};

use crate::certificates::Authority;

/// Longer than anything that is measured.
const PATIENCE: Duration = Duration::from_secs(60);

/// One request over TLS, and the first line of what comes back.
pub(crate) fn once(
    to: SocketAddr,
    host: &str,
    trusted: &Authority,
) -> anyhow::Result<io::Result<String>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.certificate().clone())?;
    let config = ClientConfig::builder().with_root_certificates(roots);
    let config = Arc::new(config.with_no_client_auth());
    let mut connection = ClientConnection::new(config, host.to_owned().try_into()?)?;
    let mut stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(ask(Stream::new(&mut connection, &mut stream), host))
}

fn ask(mut tls: Stream<'_, ClientConnection, TcpStream>, host: &str) -> io::Result<String> {
    write!(tls, "GET / HTTP/1.1\r\nhost: {host}\r\n\r\n")?;
    let mut buffer = [0; 4096];
    let length = tls.read(&mut buffer)?;
    let text = String::from_utf8_lossy(buffer.get(..length).unwrap_or_default()).into_owned();
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
