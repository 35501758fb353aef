//! Paths: the hops over which a client's traffic reaches an external host.

mod clients;
mod destination;
mod part;
mod question;
mod walk;

use std::sync::Arc;

pub use part::Parts;
pub use question::Question;

use self::clients::Clients;
use self::walk::Walk;
use super::call::Call;
use super::client::Client;
use super::cluster::ClusterName;
use super::facts::{CallResult, ClusterFacts, Speaks};
use super::model::Model;
use super::service::Service;
use crate::source::Span;

/// What one proxy does with a call that reaches it.
#[derive(Clone, Debug)]
pub struct Hop {
    pub call: Arc<Call>,
    /// The route that is followed here, and all of its clusters.
    pub result: Arc<CallResult>,
    /// Which of its clusters is followed.
    pub chosen: usize,
    /// The facts of that cluster; `None` where there is none of that name, so that what is sent to it fails.
    pub cluster: Option<Arc<ClusterFacts>>,
}

impl Hop {
    pub fn client(&self) -> &Client {
        &self.call.client
    }

    /// The name of the cluster that is followed.
    pub fn cluster_name(&self) -> Option<&str> {
        let cluster = self.result.clusters.get(self.chosen)?;
        Some(&cluster.name.value)
    }
}

/// One way of one client's traffic to one port of an external host.
#[derive(Clone, Debug)]
pub struct Path {
    /// As its ServiceEntry writes it, wildcards too.
    pub host: String,
    pub port: u32,
    pub speaks: Speaks,
    /// Where a ServiceEntry of the files defines it; `None` where none does, as it may be with what was asked for.
    pub declared: Option<Declared>,
    /// The client's sidecar first; never empty.
    pub hops: Vec<Hop>,
}

/// Where a ServiceEntry defines a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its place among the definitions of the model's registry.
    pub definition: usize,
    /// The place of the host among those of the definition.
    pub number: usize,
    pub host: Span,
    /// The line of the port's protocol, or else of its number.
    pub port: Span,
}

impl Declared {
    /// The service that it is.
    pub fn service<'m>(&self, model: &'m Model<'_>) -> Option<Service<'m>> {
        let definition = model.registry.definitions().get(self.definition)?;
        let host = definition.hosts.get(self.number)?;
        Some(Service { definition, host })
    }
}

impl Path {
    /// The hop that reaches the address, or at which the way ends.
    pub fn last(&self) -> Option<&Hop> {
        self.hops.last()
    }

    /// Whether the host's own cluster is reached, on whatever port.
    pub fn reaches_host(&self) -> bool {
        let cluster = self.last().and_then(Hop::cluster_name);
        cluster
            .and_then(ClusterName::parse)
            .is_some_and(|name| name.host == self.host)
    }
}

/// The paths that are asked for; the way of the very call where the files define no such destination.
pub fn paths_to(model: &Model<'_>, question: &Question) -> Vec<Path> {
    let asked = Asked::new(model);
    let found = asked.declared(question);
    match found.is_empty() {
        true => asked.undeclared(question),
        false => found,
    }
}

/// Answers questions about the paths of one world, one after the other.
pub struct Asked<'m>(Clients<'m>);

impl<'m> Asked<'m> {
    pub fn new(model: &'m Model<'m>) -> Self {
        Self(Clients::new(model))
    }

    /// The paths to what the files define.
    pub fn declared(&self, question: &Question) -> Vec<Path> {
        Parts::asked(&self.0, question.clone()).flatten().collect()
    }

    /// The way of the very call.
    fn undeclared(&self, question: &Question) -> Vec<Path> {
        let mut walk = Walk::new(self.0.model, Arc::default(), usize::MAX);
        let mut found = Vec::new();
        for client in self.0.askers(question) {
            let Some(call) = question.call(&client) else {
                continue;
            };
            let (host, port, speaks) = (call.host.clone(), call.port, call.speaks);
            let chains = walk.chains(call);
            found.extend(chains.into_iter().map(|hops| Path {
                host: host.clone(),
                port,
                speaks,
                declared: None,
                hops,
            }));
        }
        found
    }
}
