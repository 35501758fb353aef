//! What decides at the proxies: `Sidecar`, `Gateway`, and as much of `EnvoyFilter` as tells that it touches egress.

use smol_str::SmolStr;

use super::decode::{List, Map, enumeration, message};
use super::route::Destination;
use super::service::WorkloadSelector;
use super::traffic::ConnectionPool;
use super::value::{Bool, Int};

message! {
    Sidecar {
        workload_selector: WorkloadSelector = "workloadSelector",
        ingress: List<SidecarIngress> = "ingress",
        egress: List<SidecarEgress> = "egress",
        inbound_connection_pool: ConnectionPool = rare "inboundConnectionPool",
        outbound_traffic_policy: OutboundTrafficPolicy = "outboundTrafficPolicy",
    }
    SidecarEgress {
        port: SidecarPort = "port",
        bind: SmolStr = "bind",
        capture_mode: CaptureMode = "captureMode",
        hosts: List<SmolStr> = "hosts",
    }
    SidecarIngress {
        port: SidecarPort = "port",
        bind: SmolStr = "bind",
        capture_mode: CaptureMode = "captureMode",
        default_endpoint: SmolStr = "defaultEndpoint",
        tls: ServerTls = rare "tls",
        connection_pool: ConnectionPool = rare "connectionPool",
    }
    SidecarPort {
        number: Int = "number",
        protocol: SmolStr = "protocol",
        name: SmolStr = "name",
        target_port: Int = "targetPort",
    }
    OutboundTrafficPolicy {
        mode: OutboundMode = "mode",
        egress_proxy: Destination = "egressProxy",
    }
    Gateway {
        selector: Map<SmolStr> = "selector",
        servers: List<Server> = "servers",
    }
    Server {
        port: GatewayPort = "port",
        bind: SmolStr = "bind",
        hosts: List<SmolStr> = "hosts",
        tls: ServerTls = rare "tls",
        default_endpoint: SmolStr = "defaultEndpoint",
        name: SmolStr = "name",
    }
    GatewayPort {
        number: Int = "number",
        protocol: SmolStr = "protocol",
        name: SmolStr = "name",
        target_port: Int = "targetPort",
    }
    ServerTls {
        https_redirect: Bool = "httpsRedirect",
        mode: ServerTlsMode = "mode",
        server_certificate: SmolStr = "serverCertificate",
        private_key: SmolStr = "privateKey",
        ca_certificates: SmolStr = "caCertificates",
        ca_crl: SmolStr = "caCrl",
        credential_name: SmolStr = "credentialName",
        credential_names: List<SmolStr> = "credentialNames",
        ca_cert_credential_name: SmolStr = "caCertCredentialName",
        tls_certificates: List<TlsCertificate> = "tlsCertificates",
        subject_alt_names: List<SmolStr> = "subjectAltNames",
        verify_certificate_spki: List<SmolStr> = "verifyCertificateSpki",
        verify_certificate_hash: List<SmolStr> = "verifyCertificateHash",
        min_protocol_version: TlsProtocol = "minProtocolVersion",
        max_protocol_version: TlsProtocol = "maxProtocolVersion",
        cipher_suites: List<SmolStr> = "cipherSuites",
    }
    TlsCertificate {
        server_certificate: SmolStr = "serverCertificate",
        private_key: SmolStr = "privateKey",
        ca_certificates: SmolStr = "caCertificates",
    }
}

enumeration! {
    CaptureMode { Default = "DEFAULT", Iptables = "IPTABLES", None = "NONE" }
    /// `AllowAnyDynamicDns` exists in `MeshConfig` only, from 1.31.
    OutboundMode { RegistryOnly = "REGISTRY_ONLY", AllowAny = "ALLOW_ANY", AllowAnyDynamicDns = "ALLOW_ANY_DYNAMIC_DNS" }
    ServerTlsMode {
        Passthrough = "PASSTHROUGH",
        Simple = "SIMPLE",
        Mutual = "MUTUAL",
        AutoPassthrough = "AUTO_PASSTHROUGH",
        IstioMutual = "ISTIO_MUTUAL",
        OptionalMutual = "OPTIONAL_MUTUAL",
    }
    TlsProtocol { Auto = "TLS_AUTO", V1_0 = "TLSV1_0", V1_1 = "TLSV1_1", V1_2 = "TLSV1_2", V1_3 = "TLSV1_3" }
}
