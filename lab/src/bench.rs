//! What one experiment runs on: a client's sidecar, the addresses of the external hosts, and their DNS, on a part of the
//! loopback network of its own.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::address::Address;
use crate::bootstrap::{self, Places, Way, bootstrap};
use crate::certificates::Authority;
use crate::dns::{Dns, Says};
use crate::envoy::{Build, Envoy};
use crate::setup::{PORT, Setup};

/// The programs that experiments are made with.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) build: Build,
    /// egress-lint.
    pub(crate) linter: PathBuf,
    /// The authority that the system trusts.
    pub(crate) public: Arc<Authority>,
}

/// 127.*block*.0.0/16.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block(u8);

impl Block {
    fn next() -> Self {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        Self(64 + NEXT.fetch_add(1, Ordering::Relaxed) % 128)
    }

    fn at(self, group: u8, number: u8) -> SocketAddr {
        (Ipv4Addr::new(127, self.0, group, number), PORT).into()
    }

    /// Where the address 192.0.2.*n* of the manifests lies.
    pub(crate) fn address_of(self, documented: Ipv4Addr) -> Ipv4Addr {
        let [.., number] = documented.octets();
        Ipv4Addr::new(127, self.0, 1, number)
    }
}

#[derive(Debug)]
pub(crate) struct Bench {
    envoy: Envoy,
    /// That of the egress gateway, if a host is reached over it.
    gateway: Option<Envoy>,
    dns: Dns,
    block: Block,
    addresses: Vec<Address>,
    /// What `trace` says of each host.
    traced: Vec<Value>,
}

impl Bench {
    /// A sidecar for these hosts, and so many addresses, 192.0.2.1 and on, all of which serve. DNS answers with the first
    /// `resolved` of them.
    pub(crate) fn start(
        lab: &Lab,
        hosts: &[Setup],
        addresses: u8,
        resolved: u8,
    ) -> anyhow::Result<Self> {
        let block = Block::next();
        let dns = Dns::start(Ipv4Addr::new(127, block.0, 0, 53))?;
        let numbers: Vec<u8> = (1..=resolved).collect();
        dns.say(says(block, &numbers));
        let authorities = lab.public.file();
        let (mut sidecar, mut gateway) = (Proxy::default(), Proxy::default());
        let mut traced = Vec::new();
        for (number, host) in (0..).zip(hosts) {
            let result = trace(lab, host)?;
            let places = Places {
                block,
                dns: dns.at,
                authorities: &authorities,
                gateway: block.at(4, number),
            };
            sidecar.add(bootstrap::way(&result, entry(block, number), places)?);
            for hop in result["hops"].as_array().into_iter().flatten() {
                gateway.add(bootstrap::way(hop, places.gateway, places)?);
            }
            traced.push(result);
        }
        let http2 = hosts.iter().any(Setup::is_http2);
        let mut all = Vec::new();
        for number in 1..=addresses {
            let behind = block.at(2, number);
            sidecar.listeners.push(bootstrap::server(
                behind,
                &format!("192.0.2.{number}"),
                http2,
            ));
            let mut address = Address::new(block.at(1, number), behind);
            address.serve()?;
            all.push(address);
        }
        let gateway = match gateway.listeners.is_empty() {
            true => None,
            false => Some(gateway.start(lab, block.at(0, 2))?),
        };
        Ok(Self {
            envoy: sidecar.start(lab, block.at(0, 1))?,
            gateway,
            dns,
            block,
            addresses: all,
            traced,
        })
    }

    /// Where the application reaches a host, by its place among those of the bench.
    pub(crate) fn entry(&self, host: u8) -> SocketAddr {
        entry(self.block, host)
    }

    /// The address 192.0.2.*number*.
    pub(crate) fn address(&mut self, number: u8) -> anyhow::Result<&mut Address> {
        let place = usize::from(number).checked_sub(1);
        let address = place.and_then(|place| self.addresses.get_mut(place));
        address.with_context(|| format!("there is no 192.0.2.{number}"))
    }

    /// Where 192.0.2.*number* lies.
    pub(crate) fn place_of(&self, number: u8) -> SocketAddr {
        self.block.at(1, number)
    }

    /// DNS answers with these from now on.
    pub(crate) fn resolve_to(&self, numbers: &[u8]) {
        self.dns.say(says(self.block, numbers));
    }

    /// DNS fails that way from now on.
    pub(crate) fn fail_dns(&self, says: Says) {
        self.dns.say(says);
    }

    /// A statistic of a host's cluster, such as `membership_total`.
    pub(crate) fn stat(&self, host: usize, name: &str) -> anyhow::Result<u64> {
        let result = self.traced.get(host).context("no such host")?;
        stat(&self.envoy, result, name)
    }

    /// The same of the gateway's cluster for a host.
    pub(crate) fn stat_of_gateway(&self, host: usize, name: &str) -> anyhow::Result<u64> {
        let result = self.traced.get(host).context("no such host")?;
        let gateway = self.gateway.as_ref().context("no gateway")?;
        stat(gateway, &result["hops"][0], name)
    }
}

/// What a proxy is to do.
#[derive(Default)]
struct Proxy {
    listeners: Vec<Value>,
    clusters: Vec<Value>,
}

impl Proxy {
    fn add(&mut self, way: Way) {
        self.listeners.push(way.listener);
        self.clusters.push(way.cluster);
    }

    fn start(self, lab: &Lab, admin: SocketAddr) -> anyhow::Result<Envoy> {
        let config = bootstrap(admin, self.listeners, self.clusters);
        Envoy::start(&lab.build, &config, admin)
    }
}

fn stat(envoy: &Envoy, result: &Value, name: &str) -> anyhow::Result<u64> {
    let cluster = result["clusters"][0]["name"].as_str();
    let cluster = bootstrap::stat_name(cluster.context("no cluster")?);
    envoy.stat(&format!("cluster.{cluster}.{name}"))
}

fn entry(block: Block, host: u8) -> SocketAddr {
    block.at(3, host)
}

fn says(block: Block, numbers: &[u8]) -> Says {
    let addresses = numbers
        .iter()
        .map(|&number| block.address_of(Ipv4Addr::new(192, 0, 2, number)));
    Says::Addresses(addresses.collect())
}

/// What `trace` says of the calls to a host: there is one.
fn trace(lab: &Lab, host: &Setup) -> anyhow::Result<Value> {
    let mut linter = Command::new(&lab.linter)
        .args(["trace", "--isolated", "--format", "json"])
        .args(["--istio-version", &lab.build.istio()?])
        .args(["--to", host.host(), "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} cannot be run", lab.linter.display()))?;
    let mut stdin = linter.stdin.take().context("no standard input")?;
    stdin.write_all(host.manifests().as_bytes())?;
    drop(stdin);
    let said = linter.wait_with_output()?;
    let mut said: Value = serde_json::from_slice(&said.stdout).context("`trace` says nothing")?;
    match said["results"]
        .as_array_mut()
        .map(std::mem::take)
        .as_deref_mut()
    {
        Some([result]) => Ok(result.take()),
        _ => bail!("not one way to {}: {said}", host.host()),
    }
}
