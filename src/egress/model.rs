//! One world, ready to be asked what becomes of traffic.

use super::client::Client;
use super::cluster::{self, ClusterName};
use super::destination_rule::Rules;
use super::effective::{EffectiveService, of_one_namespace};
use super::endpoint::Workloads;
use super::facts::ClusterFacts;
use super::mesh::Mesh;
use super::registry::Registry;
use super::settings::Settings;
use crate::istio::mesh::MeshConfig;
use crate::istio::resource::Resource;

/// The indexes over one world. Building them takes time in proportion to it; the rest is computed when asked for.
#[derive(Debug)]
pub struct Model<'a> {
    pub registry: Registry<'a>,
    pub rules: Rules<'a>,
    pub workloads: Workloads<'a>,
    pub mesh: Mesh<'a>,
}

impl<'a> Model<'a> {
    pub fn of_resources(
        resources: &[&'a Resource],
        config: Option<&'a MeshConfig>,
        settings: &Settings,
    ) -> Self {
        let mesh = Mesh {
            config,
            version: settings.version,
        };
        let root = mesh.root_namespace().unwrap_or(&settings.root_namespace);
        Self {
            registry: Registry::new(resources, mesh.service_export(), settings.version),
            rules: Rules::new(resources, mesh.rules_are_private(), root),
            workloads: Workloads::new(resources),
            mesh,
        }
    }

    /// The service that the client has under a host; `None` where it has none.
    pub fn service(&self, client: &Client, host: &str) -> Option<EffectiveService<'_>> {
        let visible = self
            .registry
            .visible(self.registry.of_host(host), client.namespace());
        let mut found: Vec<_> = visible.into_iter().map(EffectiveService::of).collect();
        if !client.is_gateway() {
            found = of_one_namespace(found, client.namespace());
        }
        let mut found = found.into_iter();
        let mut service = found.next()?;
        service.take(found);
        Some(service)
    }

    /// The cluster of that name as the client's proxy has it; `None` where it has none, so that requests for it fail.
    pub fn cluster(&self, client: &Client, name: &str) -> Option<ClusterFacts> {
        let name = ClusterName::parse(name)?;
        let service = self.service(client, name.host)?;
        cluster::cluster(self, client, &service, name.port, name.subset)
    }
}
