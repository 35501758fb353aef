//! What a VirtualService is bound to.

use smol_str::SmolStr;

use crate::egress::namespace::{Same, same};
use crate::source::Spanned;

/// What a VirtualService is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding<'a> {
    /// All sidecars.
    Mesh,
    Gateway {
        namespace: Option<&'a str>,
        name: &'a str,
    },
}

impl<'a> Binding<'a> {
    /// As `gateways` spells it: `mesh`, `name`, `namespace/name`, `./name`, or `name.namespace…`.
    pub fn parse(text: &'a str, own: Option<&'a str>) -> Self {
        if text == "mesh" {
            return Self::Mesh;
        }
        if let Some((namespace, name)) = text.split_once('/') {
            let namespace = if namespace == "." {
                own
            } else {
                Some(namespace)
            };
            return Self::Gateway { namespace, name };
        }
        match text.split_once('.') {
            Some((name, rest)) => Self::Gateway {
                namespace: rest.split('.').next(),
                name,
            },
            None => Self::Gateway {
                namespace: own,
                name: text,
            },
        }
    }

    /// Whether both are one, as far as their namespaces are known.
    pub fn is(&self, other: &Binding<'_>) -> bool {
        match (self, other) {
            (Binding::Mesh, Binding::Mesh) => true,
            (
                Binding::Gateway { namespace, name },
                Binding::Gateway {
                    namespace: other_namespace,
                    name: other_name,
                },
            ) => name == other_name && same(*namespace, *other_namespace) != Same::No,
            _ => false,
        }
    }
}

/// Whether a match with these `gateways` is for sidecars, too.
pub fn names_mesh(gateways: &[Spanned<SmolStr>]) -> bool {
    gateways.is_empty() || gateways.iter().any(|it| it.value == "mesh")
}
