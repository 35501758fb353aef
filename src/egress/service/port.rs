//! The ports of services.

use smol_str::SmolStr;

use crate::egress::protocol::Protocol;
use crate::istio::service as api;
use crate::istio::value::IntOrString;
use crate::source::{Span, Spanned};

/// A port of a service.
#[derive(Clone, Debug)]
pub struct Port<'a> {
    pub number: u32,
    pub number_line: Span,
    pub name: &'a str,
    pub name_line: Option<Span>,
    pub protocol: Protocol,
    /// The line that decides the protocol: `protocol`, or of a Kubernetes port `appProtocol` or `name`.
    pub protocol_line: Option<Span>,
    /// Few have one.
    target: Option<Box<TargetPort<'a>>>,
}

impl<'a> Port<'a> {
    pub fn target(&self) -> Option<TargetPort<'a>> {
        self.target.as_deref().copied()
    }

    /// Where it says what it carries: the line of the protocol, or of the number where there is none.
    pub fn line(&self) -> Span {
        self.protocol_line.unwrap_or(self.number_line)
    }
}

/// `targetPort`, with its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetPort<'a> {
    Number(u32, Span),
    /// Of a Kubernetes port: the name of a container's port.
    Name(&'a str, Span),
}

impl TargetPort<'_> {
    pub fn number(&self) -> Option<(u32, Span)> {
        match *self {
            Self::Number(number, line) => Some((number, line)),
            Self::Name(..) => None,
        }
    }
}

pub(super) fn of_entry(port: &Spanned<api::ServicePort>) -> Port<'_> {
    let protocol = port.protocol.as_ref();
    Port {
        number: number(port.number.as_ref().map(|n| n.value)),
        number_line: port.number.as_ref().map_or(port.key, |n| n.span),
        name_line: port.name.as_ref().map(|name| name.span),
        name: port.name.as_ref().map_or("", |n| n.value.as_str()),
        protocol: Protocol::parse(protocol.map_or("", |p| p.value.as_str())),
        protocol_line: protocol.map(|p| p.span),
        target: port
            .target_port
            .as_ref()
            .filter(|target| target.value != 0)
            .map(|target| TargetPort::Number(number(Some(target.value)), target.span))
            .map(Box::new),
    }
}

pub(super) fn of_kubernetes(port: &Spanned<api::KubeServicePort>) -> Port<'_> {
    let text = |field: &'_ Option<Spanned<SmolStr>>| field.as_ref().map(|f| f.span);
    let name = port.name.as_ref().map_or("", |n| n.value.as_str());
    let number_value = number(port.port.as_ref().map(|n| n.value));
    let transport = port.protocol.as_ref().map(|p| p.value.as_str());
    Port {
        number: number_value,
        number_line: port.port.as_ref().map_or(port.key, |n| n.span),
        name_line: port.name.as_ref().map(|name| name.span),
        name,
        protocol: Protocol::of_kubernetes_port(
            number_value,
            name,
            transport,
            port.app_protocol.as_ref().map(|p| p.value.as_str()),
        ),
        protocol_line: (port.app_protocol.as_ref().map(|f| f.span)).or_else(|| text(&port.name)),
        target: port
            .target_port
            .as_ref()
            .and_then(|target| match &target.value {
                IntOrString::Int(0) => None,
                IntOrString::Int(value) => {
                    Some(TargetPort::Number(number(Some(*value)), target.span))
                }
                IntOrString::Str(value) => Some(TargetPort::Name(value, target.span)),
            })
            .map(Box::new),
    }
}

/// A port number; admission has refused what is out of range.
fn number(value: Option<i64>) -> u32 {
    value
        .and_then(|value| u32::try_from(value).ok())
        .unwrap_or(0)
}
