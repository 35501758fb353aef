//! What decides at the proxies: `Sidecar`, `Gateway`, and as much of `EnvoyFilter` as tells that it touches egress.

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
        inbound_connection_pool: Box<ConnectionPool> = "inboundConnectionPool",
        outbound_traffic_policy: OutboundTrafficPolicy = "outboundTrafficPolicy",
    }
    SidecarEgress {
        port: SidecarPort = "port",
        bind: String = "bind",
        capture_mode: CaptureMode = "captureMode",
        hosts: List<String> = "hosts",
    }
    SidecarIngress {
        port: SidecarPort = "port",
        bind: String = "bind",
        capture_mode: CaptureMode = "captureMode",
        default_endpoint: String = "defaultEndpoint",
        tls: Box<ServerTls> = "tls",
        connection_pool: Box<ConnectionPool> = "connectionPool",
    }
    SidecarPort {
        number: Int = "number",
        protocol: String = "protocol",
        name: String = "name",
        target_port: Int = "targetPort",
    }
    OutboundTrafficPolicy {
        mode: OutboundMode = "mode",
        egress_proxy: Destination = "egressProxy",
    }
    Gateway {
        selector: Map<String> = "selector",
        servers: List<Server> = "servers",
    }
    Server {
        port: GatewayPort = "port",
        bind: String = "bind",
        hosts: List<String> = "hosts",
        tls: Box<ServerTls> = "tls",
        default_endpoint: String = "defaultEndpoint",
        name: String = "name",
    }
    GatewayPort {
        number: Int = "number",
        protocol: String = "protocol",
        name: String = "name",
        target_port: Int = "targetPort",
    }
    ServerTls {
        https_redirect: Bool = "httpsRedirect",
        mode: ServerTlsMode = "mode",
        server_certificate: String = "serverCertificate",
        private_key: String = "privateKey",
        ca_certificates: String = "caCertificates",
        ca_crl: String = "caCrl",
        credential_name: String = "credentialName",
        credential_names: List<String> = "credentialNames",
        ca_cert_credential_name: String = "caCertCredentialName",
        tls_certificates: List<TlsCertificate> = "tlsCertificates",
        subject_alt_names: List<String> = "subjectAltNames",
        verify_certificate_spki: List<String> = "verifyCertificateSpki",
        verify_certificate_hash: List<String> = "verifyCertificateHash",
        min_protocol_version: TlsProtocol = "minProtocolVersion",
        max_protocol_version: TlsProtocol = "maxProtocolVersion",
        cipher_suites: List<String> = "cipherSuites",
    }
    TlsCertificate {
        server_certificate: String = "serverCertificate",
        private_key: String = "privateKey",
        ca_certificates: String = "caCertificates",
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
