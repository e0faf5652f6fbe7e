//! TLS by rustls. The driver sets it up itself: the `redis` crate uses the cryptography provider of the process, and
//! panics if there is none or there are two.

use alloc::sync::Arc;
use std::{fs::File, io::BufReader};

use redis::{ErrorKind, RedisError};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        self, ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

/// The settings to check the server.
#[derive(Clone)]
pub(super) struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl Tls {
    /// Makes the settings for the server `host`: they check its certificate against the certificates in the file `ca`,
    /// or else against the system's.
    pub(super) fn new(host: &str, ca: Option<&str>) -> Result<Self, String> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| format!("{host}: {error}"))?;
        let roots = match ca {
            Some(path) => from_file(path).map_err(|why| format!("ca={path}: {why}"))?,
            None => from_the_system()?,
        };
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            connector: TlsConnector::from(Arc::new(config)),
            name,
        })
    }

    /// Does the handshake. If the certificate or the TLS of the server is not acceptable, the error is
    /// [`ErrorKind::InvalidClientConfig`].
    pub(super) async fn wrap(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>, RedisError> {
        let shaken = self.connector.connect(self.name.clone(), stream).await;
        shaken.map_err(|error| match error.get_ref() {
            Some(why) if why.is::<rustls::Error>() => {
                let kind = ErrorKind::InvalidClientConfig;
                RedisError::from((kind, "the TLS handshake has failed", why.to_string()))
            }
            _ => error.into(),
        })
    }
}

fn from_file(path: &str) -> Result<RootCertStore, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_reader_iter(BufReader::new(file)) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() {
        return Err("this file contains no certificate in the PEM format".into());
    }
    Ok(roots)
}

fn from_the_system() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(|error| format!(" ({error})"));
        let why = why.unwrap_or_default();
        return Err(format!(
            "the system has no certificates to check the server's against{why}: give ca=FILE"
        ));
    }
    Ok(roots)
}
