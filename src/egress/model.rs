//! One world, ready to be asked what becomes of traffic.

use super::alias::Aliases;
use super::call::Call;
use super::client::Client;
use super::cluster::{self, ClusterName};
use super::destination_rule::Rules;
use super::facts::{CallResult, ClusterFacts};
use super::gateway::Gateways;
use super::mesh::Mesh;
use super::proxy::Proxy;
use super::registry::Registry;
use super::scope::Scope;
use super::settings::Settings;
use super::sidecar::Sidecars;
use super::virtual_service::VirtualServices;
use super::workload::Workloads;
use crate::istio::mesh::MeshConfig;
use crate::istio::proxy::Sidecar;
use crate::istio::resource::Resource;
use crate::world::World;

/// The indexes over one world. Building them takes time in proportion to it; the rest is computed when asked for.
#[derive(Debug)]
pub struct Model<'a> {
    pub registry: Registry<'a>,
    pub virtual_services: VirtualServices<'a>,
    pub sidecars: Sidecars<'a>,
    pub gateways: Gateways<'a>,
    pub aliases: Aliases,
    pub rules: Rules<'a>,
    pub workloads: Workloads<'a>,
    pub mesh: Mesh<'a>,
}

impl<'a> Model<'a> {
    pub fn new(world: &'a World<'_>, settings: &Settings) -> Self {
        Self::of_resources(&world.resources, world.mesh.config, settings)
    }

    pub fn of_resources(
        resources: &[&'a Resource],
        config: &'a MeshConfig,
        settings: &Settings,
    ) -> Self {
        let version = settings.version;
        let mesh = Mesh { config, version };
        let root = mesh.root_namespace().unwrap_or(&settings.root_namespace);
        let (registry, (virtual_services, rules)) = rayon::join(
            || Registry::new(resources, mesh.service_export(), version),
            || {
                rayon::join(
                    || VirtualServices::new(resources, mesh.virtual_service_export()),
                    || Rules::new(resources, mesh.rules_are_private(), root),
                )
            },
        );
        Self {
            aliases: Aliases::new(&registry),
            registry,
            virtual_services,
            sidecars: Sidecars::new(resources, root),
            gateways: Gateways::new(resources),
            rules,
            workloads: Workloads::new(resources),
            mesh,
        }
    }

    /// With the pods of these gateways, which stand behind the services that select them.
    pub fn with_gateways(mut self, clients: impl IntoIterator<Item = Client>) -> Self {
        self.workloads = self.workloads.with_gateways(clients);
        self
    }

    /// What the client's proxy sees.
    pub fn scope(&self, client: &Client) -> Scope<'_> {
        self.scope_by(client, self.sidecars.of(client))
    }

    /// What it would see if no Sidecar were there.
    pub fn scope_without_sidecar(&self, client: &Client) -> Scope<'_> {
        self.scope_by(client, None)
    }

    fn scope_by<'m>(
        &'m self,
        client: &Client,
        sidecar: Option<(&'m Resource, &'m Sidecar)>,
    ) -> Scope<'m> {
        Scope::new(
            client.clone(),
            &self.registry,
            &self.virtual_services,
            sidecar,
            self.mesh.config,
            self.mesh.version,
        )
    }

    /// The client's proxy, for more than one question.
    pub fn proxy(&self, client: &Client) -> Proxy<'_> {
        Proxy::new(self, client)
    }

    /// What becomes of a call.
    pub fn call(&self, call: &Call) -> CallResult {
        self.proxy(&call.client).call(call)
    }

    /// The cluster of that name as the client's proxy has it; `None` where it has none, so that requests for it fail.
    pub fn cluster(&self, client: &Client, name: &str) -> Option<ClusterFacts> {
        self.cluster_in(&self.scope(client), name)
    }

    /// The same where what the proxy sees is known.
    pub fn cluster_in(&self, scope: &Scope<'_>, name: &str) -> Option<ClusterFacts> {
        let name = ClusterName::parse(name)?;
        let service = scope.service(name.host)?;
        cluster::cluster(self, &scope.client, &service, name.port, name.subset)
    }
}
