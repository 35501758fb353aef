//! An authoritative DNS server whose answers change while it runs.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use simple_dns::rdata::{A, RData};
use simple_dns::{CLASS, Packet, PacketFlag, QTYPE, RCODE, ResourceRecord, TYPE};

/// How long an answer may be kept, in seconds: a move is seen after so long.
pub(crate) const TTL: u32 = 1;

/// What the server says to every question.
#[derive(Clone, Debug)]
pub(crate) enum Says {
    Addresses(Vec<Ipv4Addr>),
    NxDomain,
    ServFail,
}

/// Serves until it is dropped.
#[derive(Debug)]
pub(crate) struct Dns {
    pub(crate) at: SocketAddr,
    says: Arc<Mutex<Says>>,
    ended: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Dns {
    pub(crate) fn start(ip: Ipv4Addr) -> io::Result<Self> {
        let socket = UdpSocket::bind((ip, 0))?;
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        let at = socket.local_addr()?;
        let says = Arc::new(Mutex::new(Says::Addresses(Vec::new())));
        let ended = Arc::new(AtomicBool::new(false));
        let server = {
            let (says, ended) = (Arc::clone(&says), Arc::clone(&ended));
            thread::spawn(move || serve(&socket, &says, &ended))
        };
        Ok(Self {
            at,
            says,
            ended,
            server: Some(server),
        })
    }

    pub(crate) fn say(&self, says: Says) {
        *lock(&self.says) = says;
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

fn lock(says: &Mutex<Says>) -> MutexGuard<'_, Says> {
    says.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(socket: &UdpSocket, says: &Mutex<Says>, ended: &AtomicBool) {
    let mut buffer = [0; 1500];
    while !ended.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        let question = buffer.get(..length).and_then(|it| Packet::parse(it).ok());
        let says = lock(says).clone();
        let answer = question.and_then(|question| answer(&question, &says));
        if let Some(answer) = answer {
            let _ = socket.send_to(&answer, from);
        }
    }
}

fn answer(question: &Packet<'_>, says: &Says) -> Option<Vec<u8>> {
    let asked = question.questions.first()?.clone();
    let mut reply = Packet::new_reply(question.id());
    reply.set_flags(PacketFlag::AUTHORITATIVE_ANSWER);
    match says {
        Says::NxDomain => *reply.rcode_mut() = RCODE::NameError,
        Says::ServFail => *reply.rcode_mut() = RCODE::ServerFailure,
        Says::Addresses(addresses) if asked.qtype == QTYPE::TYPE(TYPE::A) => {
            let records = addresses.iter().map(|address| {
                let data = RData::A(A::from(*address));
                ResourceRecord::new(asked.qname.clone(), CLASS::IN, TTL, data)
            });
            reply.answers.extend(records);
        }
        Says::Addresses(_) => {}
    }
    reply.questions.push(asked);
    reply.build_bytes_vec().ok()
}
