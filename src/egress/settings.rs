//! What the manifests do not say and the configuration does.

use crate::istio::version::IstioVersion;

/// The conditions under which the model holds.
#[derive(Clone, Debug)]
pub struct Settings {
    pub version: IstioVersion,
    /// Where Istio's control plane stands, whose rules hold for all; `MeshConfig.rootNamespace` wins over it.
    pub root_namespace: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: IstioVersion::default(),
            root_namespace: "istio-system".to_owned(),
        }
    }
}
