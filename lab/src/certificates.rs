//! The authorities and certificates of external hosts, made for each run.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;

/// Who signs certificates.
#[derive(Debug)]
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    folder: TempDir,
}

/// A certificate with its key.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
    certificate_pem: String,
    key_pem: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> anyhow::Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("ca.pem"), certificate.pem())?;
        Ok(Self {
            issuer: Issuer::new(params, key),
            certificate: certificate.der().clone(),
            folder,
        })
    }

    /// The file that `caCertificates` would name.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    pub(crate) fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// A certificate for these names.
    pub(crate) fn sign(&self, names: &[&str]) -> anyhow::Result<Identity> {
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>(),
        )?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity {
            certificate: certificate.der().clone(),
            key: PrivatePkcs8KeyDer::from(key.serialize_der()),
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        })
    }

    /// The files that `clientCertificate` and `privateKey` would name.
    pub(crate) fn write(&self, identity: &Identity) -> anyhow::Result<(PathBuf, PathBuf)> {
        let [certificate, key] =
            ["certificate.pem", "key.pem"].map(|file| self.folder.path().join(file));
        std::fs::write(&certificate, &identity.certificate_pem)?;
        std::fs::write(&key, &identity.key_pem)?;
        Ok((certificate, key))
    }
}

impl Identity {
    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        self.key.clone_key().into()
    }
}
