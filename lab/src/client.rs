//! The application: HTTP/1.1 requests over connections that it keeps or not.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Longer than anything that is measured.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// A connection of the application to its sidecar.
#[derive(Debug)]
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn open(to: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&to, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// One request; `slow` is how long the server is to take for it.
    pub(crate) fn get(&mut self, host: &str, path: &str, slow: Duration) -> io::Result<Answer> {
        let delay = match slow.as_millis() {
            0 => String::new(),
            millis => format!("x-envoy-fault-delay-request: {millis}\r\n"),
        };
        self.ask(host, path, &delay)
    }

    /// One request with these lines in its head.
    fn ask(&mut self, host: &str, path: &str, more: &str) -> io::Result<Answer> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{more}\r\n");
        self.0.get_mut().write_all(request.as_bytes())?;
        self.answer()
    }

    fn answer(&mut self) -> io::Result<Answer> {
        let line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|it| it.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status in `{line}`")))?;
        let mut length = None;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse::<usize>().ok();
            }
        }
        let body = match length {
            Some(length) => self.exactly(length)?,
            None => self.chunks()?,
        };
        Ok(Answer {
            status,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok(body)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let length = usize::from_str_radix(&line, 16).map_err(io::Error::other)?;
            body.extend(self.exactly(length)?);
            self.line()?;
            if length == 0 {
                return Ok(body);
            }
        }
    }
}

/// One request over a connection of its own, and how long that took.
pub(crate) fn once(to: SocketAddr, host: &str) -> (io::Result<Answer>, Duration) {
    let start = Instant::now();
    let answer = Connection::open(to).and_then(|mut it| it.get(host, "/", Duration::ZERO));
    (answer, start.elapsed())
}

/// One request that Envoy takes for gRPC.
pub(crate) fn grpc(to: SocketAddr, host: &str) -> io::Result<Answer> {
    Connection::open(to)?.ask(
        host,
        "/service/method",
        "content-type: application/grpc\r\n",
    )
}

/// The address that served, unless the request failed.
pub(crate) fn served(answer: &io::Result<Answer>) -> Option<&str> {
    let answer = answer.as_ref().ok()?;
    (answer.status == 200).then_some(answer.body.as_str())
}

/// What the application sees: the status, and Envoy's flags where it is Envoy that answers.
pub(crate) fn told(answer: &io::Result<Answer>) -> String {
    match answer {
        Ok(Answer { status: 200, .. }) => "200".to_owned(),
        Ok(Answer { status, body }) => {
            let flags = body.split(' ').next().unwrap_or_default();
            format!("{status} {flags}").trim_end().to_owned()
        }
        Err(_) => "cut".to_owned(),
    }
}
