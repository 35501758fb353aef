//! The addresses that clients connect to.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;
use smol_str::SmolStr;

use crate::source::{Span, Spanned};

/// An address that clients connect to.
#[derive(Clone, Debug)]
pub struct Address<'a> {
    pub text: &'a str,
    /// A single IP is the widest prefix.
    pub net: IpNet,
    pub line: Span,
}

impl Address<'_> {
    /// Istio takes `0.0.0.0` for no address at all.
    pub fn is_any(&self) -> bool {
        self.ip() == Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }

    /// The IP, where it is one and not a range.
    pub fn ip(&self) -> Option<IpAddr> {
        (self.net.prefix_len() == self.net.max_prefix_len()).then(|| self.net.addr())
    }
}

pub(super) fn read(text: &Spanned<SmolStr>) -> Option<Address<'_>> {
    let net = match text.value.parse::<IpAddr>() {
        Ok(ip) => IpNet::from(ip),
        Err(_) => text.value.parse::<IpNet>().ok()?,
    };
    Some(Address {
        text: &text.value,
        net,
        line: text.span,
    })
}
