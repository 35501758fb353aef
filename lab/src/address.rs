//! One address of an external host: it passes connections on to a server behind it, until it is told to die.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use socket2::{Domain, Socket, Type};

/// How long a connect to a full backlog is waited for.
const FULL: Duration = Duration::from_millis(200);

/// What all connections of an address share.
#[derive(Debug, Default)]
struct Shared {
    /// What comes in goes nowhere; nothing is closed.
    silent: AtomicBool,
    ended: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        for connection in self.connections().drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

#[derive(Debug)]
pub(crate) struct Address {
    at: SocketAddr,
    behind: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<Arc<Socket>>,
    /// They fill the backlog of a silent address.
    fill: Vec<TcpStream>,
}

impl Address {
    /// An address that nobody listens on: it refuses connections.
    pub(crate) fn new(at: SocketAddr, behind: SocketAddr) -> Self {
        Self {
            at,
            behind,
            shared: Arc::default(),
            listener: None,
            fill: Vec::new(),
        }
    }

    /// Passes connections on to the server behind, also after it did something else.
    pub(crate) fn serve(&mut self) -> anyhow::Result<()> {
        let (shared, behind) = (Arc::clone(&self.shared), self.behind);
        self.accept(move |connection| {
            let _ = pass_on(connection, behind, &shared);
        })
    }

    /// Passes connections on to another server from now on.
    pub(crate) fn lead_to(&mut self, behind: SocketAddr) -> anyhow::Result<()> {
        self.refuse();
        self.behind = behind;
        self.serve()
    }

    /// Accepts connections and closes them at once, as a load balancer may whose servers are dead.
    pub(crate) fn close_at_once(&mut self) -> anyhow::Result<()> {
        self.refuse();
        self.accept(drop)
    }

    /// Closes everything. From now on connections are refused.
    pub(crate) fn refuse(&mut self) {
        self.stop_listening();
        self.shared.close();
    }

    /// Answers nothing from now on: neither on the connections that there are, nor the SYN of new ones.
    pub(crate) fn fall_silent(&mut self) -> anyhow::Result<()> {
        self.shared.silent.store(true, Ordering::Relaxed);
        self.stop_listening();
        self.listener = Some(Arc::new(self.listen(0)?));
        // The kernel drops the SYN for which there is no room.
        while let Ok(connection) = TcpStream::connect_timeout(&self.at, FULL) {
            self.fill.push(connection);
        }
        Ok(())
    }

    fn accept(&mut self, then: impl Fn(TcpStream) + Send + 'static) -> anyhow::Result<()> {
        let listener = Arc::new(self.listen(1024)?);
        self.listener = Some(Arc::clone(&listener));
        thread::spawn(move || {
            while let Ok((connection, _)) = listener.accept() {
                then(connection.into());
            }
        });
        Ok(())
    }

    fn listen(&self, backlog: i32) -> anyhow::Result<Socket> {
        let listen = || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            socket.set_reuse_address(true)?;
            socket.bind(&self.at.into())?;
            socket.listen(backlog)?;
            io::Result::Ok(socket)
        };
        listen().with_context(|| format!("cannot listen on {}", self.at))
    }

    fn stop_listening(&mut self) {
        if let Some(listener) = self.listener.take() {
            // Who waits in `accept` gets an error, and lets go of the socket.
            let _ = listener.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        self.refuse();
    }
}

fn pass_on(front: TcpStream, behind: SocketAddr, shared: &Arc<Shared>) -> io::Result<()> {
    let back = TcpStream::connect(behind)?;
    front.set_nodelay(true)?;
    back.set_nodelay(true)?;
    let (other_front, other_back) = (front.try_clone()?, back.try_clone()?);
    shared
        .connections()
        .extend([front.try_clone()?, back.try_clone()?]);
    for (from, to) in [(front, back), (other_back, other_front)] {
        let shared = Arc::clone(shared);
        thread::spawn(move || pump(from, to, &shared));
    }
    Ok(())
}

fn pump(mut from: TcpStream, mut to: TcpStream, shared: &Shared) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length) = from.read(&mut buffer) {
        while shared.silent.load(Ordering::Relaxed) {
            if shared.ended.load(Ordering::Relaxed) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let read = buffer.get(..length).unwrap_or_default();
        if length == 0 || to.write_all(read).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
