//! The manifests of an experiment, as a user would write them.

use std::fmt::Write as _;

/// The port of every external host. High, so that nobody need be root.
pub(crate) const PORT: u16 = 28_080;

/// One external host and what is said about it.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    host: String,
    protocol: &'static str,
    resolution: &'static str,
    endpoints: u8,
    /// What the ServiceEntry says beside that.
    entry: Vec<String>,
    /// What the rule of its route says beside the destination.
    route: Vec<String>,
    policy: String,
    gateway: Option<EgressGateway>,
}

/// What is said of the way from an egress gateway to the host.
#[derive(Clone, Debug, Default)]
struct EgressGateway {
    /// What the rule for it says beside the destination.
    route: String,
    /// The `trafficPolicy` of a DestinationRule for its own service.
    policy: String,
}

impl Setup {
    /// A host whose addresses come from DNS: `resolution` is `DNS` or `DNS_ROUND_ROBIN`.
    pub(crate) fn dns(name: &str, protocol: &'static str, resolution: &'static str) -> Self {
        Self {
            host: format!("{name}.lab.example"),
            protocol,
            resolution,
            endpoints: 0,
            entry: Vec::new(),
            route: Vec::new(),
            policy: String::new(),
            gateway: None,
        }
    }

    /// A host with that many endpoints: 192.0.2.1, 192.0.2.2, …
    pub(crate) fn of_endpoints(name: &str, protocol: &'static str, endpoints: u8) -> Self {
        Self {
            endpoints,
            ..Self::dns(name, protocol, "STATIC")
        }
    }

    /// A line of its ServiceEntry.
    pub(crate) fn entry(mut self, line: &str) -> Self {
        self.entry.push(line.to_owned());
        self
    }

    /// A line of the rule of its route, such as `retries: {attempts: 0}`. Without any there is no VirtualService.
    pub(crate) fn route(mut self, line: &str) -> Self {
        self.route.push(line.to_owned());
        self
    }

    /// The `trafficPolicy` of its DestinationRule, in flow style.
    pub(crate) fn policy(self, policy: &str) -> Self {
        let policy = policy.to_owned();
        Self { policy, ..self }
    }

    /// Its requests go over an egress gateway, whose rule says that.
    pub(crate) fn over_gateway(self, route: &str) -> Self {
        let gateway = EgressGateway {
            route: route.to_owned(),
            ..self.gateway.unwrap_or_default()
        };
        let gateway = Some(gateway);
        Self { gateway, ..self }
    }

    /// The `trafficPolicy` for the egress gateway itself.
    pub(crate) fn gateway_policy(self, policy: &str) -> Self {
        let gateway = EgressGateway {
            policy: policy.to_owned(),
            ..self.gateway.unwrap_or_default()
        };
        let gateway = Some(gateway);
        Self { gateway, ..self }
    }

    /// Whether its servers speak HTTP/2, as its port declares.
    pub(crate) fn is_http2(&self) -> bool {
        self.protocol == "HTTP2"
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn manifests(&self) -> String {
        let Self {
            host,
            protocol,
            resolution,
            ..
        } = self;
        let mut out = format!(
            "apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: host, namespace: lab}}
spec:
  hosts: [{host}]
  location: MESH_EXTERNAL
  ports: [{{number: {PORT}, name: port, protocol: {protocol}}}]
  resolution: {resolution}
"
        );
        if self.endpoints > 0 {
            let endpoints =
                (1..=self.endpoints).map(|number| format!("{{address: 192.0.2.{number}}}"));
            let endpoints: Vec<String> = endpoints.collect();
            let _ = writeln!(out, "  endpoints: [{}]", endpoints.join(", "));
        }
        for line in &self.entry {
            let _ = writeln!(out, "  {line}");
        }
        if !self.policy.is_empty() {
            out += &destination_rule("host", host, &self.policy);
        }
        let lines = self.route.join("\n    ");
        match &self.gateway {
            Some(gateway) => out += &gateway.manifests(host, &lines),
            None if self.route.is_empty() => {}
            None => {
                let _ = write!(
                    out,
                    "---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: host, namespace: lab}}
spec:
  hosts: [{host}]
  http:
  - route: [{{destination: {{host: {host}}}}}]
    {lines}
"
                );
            }
        }
        out
    }
}

impl EgressGateway {
    const SERVICE: &str = "egressgateway.lab.svc.cluster.local";

    /// The way over it, as Istio documents it; the rule of sidecars says `lines` beside the destination.
    fn manifests(&self, host: &str, lines: &str) -> String {
        let service = Self::SERVICE;
        let mut out = format!(
            "---
apiVersion: v1
kind: Service
metadata: {{name: egressgateway, namespace: lab}}
spec:
  selector: {{istio: egressgateway}}
  ports: [{{port: {PORT}, name: http}}]
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {{name: egress, namespace: lab}}
spec:
  selector: {{istio: egressgateway}}
  servers: [{{port: {{number: {PORT}, name: http, protocol: HTTP}}, hosts: [{host}]}}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: host, namespace: lab}}
spec:
  hosts: [{host}]
  gateways: [mesh, egress]
  http:
  - match: [{{gateways: [mesh]}}]
    route: [{{destination: {{host: {service}, port: {{number: {PORT}}}}}}}]
    {lines}
  - match: [{{gateways: [egress]}}]
    route: [{{destination: {{host: {host}}}}}]
    {}
",
            self.route
        );
        if !self.policy.is_empty() {
            out += &destination_rule("gateway", service, &self.policy);
        }
        out
    }
}

fn destination_rule(name: &str, host: &str, policy: &str) -> String {
    format!(
        "---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: {name}, namespace: lab}}
spec:
  host: {host}
  trafficPolicy: {policy}
"
    )
}
