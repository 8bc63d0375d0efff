//! TLS of either side: from a configuration's options to what the TLS library wants.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, ServerConfig, SupportedProtocolVersion, WantsVerifier};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::config::{TlsKeypair, TlsOptions, TlsVersion};

/// Certificates of one PEM text, and of all texts of a list together.
const CERTIFICATES_MAX: usize = 10_000;

/// Why options cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("{0} is not PEM text of the kind that is needed")]
    Pem(&'static str),
    #[error("more than {CERTIFICATES_MAX} certificates")]
    TooMany,
    #[error("the certificate and its key: {0}")]
    Keypair(String),
    #[error("a server needs `tlsOptions.keypair`")]
    NoKeypair,
    #[error("`requireClientCerts` needs authorities to trust")]
    NoAuthorities,
    #[error("{0}")]
    Library(String),
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn versions(oldest: TlsVersion) -> &'static [&'static SupportedProtocolVersion] {
    static SINCE_1_2: [&SupportedProtocolVersion; 2] = [&rustls::version::TLS12, &rustls::version::TLS13];
    match oldest {
        TlsVersion::GoodDefault | TlsVersion::Tls1Dot2 => &SINCE_1_2,
        TlsVersion::Tls1Dot3 => &SINCE_1_2[1..],
    }
}

fn certificates(pem: &str, what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let mut found = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        found.push(certificate.map_err(|_| TlsError::Pem(what))?);
        if found.len() > CERTIFICATES_MAX {
            return Err(TlsError::TooMany);
        }
    }
    if found.is_empty() { Err(TlsError::Pem(what)) } else { Ok(found) }
}

fn roots(options: &TlsOptions) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    if options.trust_browser_cas {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!("the system's certificate authorities: {error}");
        }
        // Authorities of the system that the library cannot read are none of ours to mend.
        let _counts = roots.add_parsable_certificates(found.certs);
    }
    for pem in &options.trusted_certificates {
        for certificate in certificates(pem, "`trustedCertificates`")? {
            roots.add(certificate).map_err(|error| TlsError::Library(error.to_string()))?;
        }
    }
    Ok(roots)
}

struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

fn identity(keypair: &TlsKeypair) -> Result<Identity, TlsError> {
    let chain = certificates(&keypair.certificate_chain, "`certificateChain`")?;
    let key = PrivateKeyDer::from_pem_slice(keypair.private_key.as_bytes());
    Ok(Identity { chain, key: key.map_err(|_| TlsError::Pem("`privateKey`"))? })
}

fn library(error: rustls::Error) -> TlsError {
    TlsError::Library(error.to_string())
}

/// What is spoken with servers. `protocols` are offered by ALPN, the best one first.
///
/// # Errors
/// The options do not fit together, or are not PEM.
pub(crate) fn client(options: &TlsOptions, protocols: &[&str]) -> Result<Arc<ClientConfig>, TlsError> {
    let builder: ConfigBuilder<ClientConfig, WantsVerifier> = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(versions(options.min_version))
        .map_err(library)?;
    let roots = roots(options)?;
    // Without any authority every server is refused, which is what such options say.
    let builder = match roots.is_empty() {
        true => builder.with_root_certificates(roots),
        false => {
            let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build();
            builder.with_webpki_verifier(verifier.map_err(|error| TlsError::Library(error.to_string()))?)
        }
    };
    let mut config = match &options.keypair {
        None => builder.with_no_client_auth(),
        Some(keypair) => {
            let Identity { chain, key } = identity(keypair)?;
            builder.with_client_auth_cert(chain, key).map_err(|error| TlsError::Keypair(error.to_string()))?
        }
    };
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(Arc::new(config))
}

/// What is spoken on a socket.
///
/// # Errors
/// There is no key pair, the options do not fit together, or are not PEM.
pub(crate) fn server(options: &TlsOptions, protocols: &[&str]) -> Result<Arc<ServerConfig>, TlsError> {
    let builder = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(versions(options.min_version))
        .map_err(library)?;
    let Identity { chain, key } = identity(options.keypair.as_ref().ok_or(TlsError::NoKeypair)?)?;
    let builder = if options.require_client_certs {
        let roots = roots(options)?;
        if roots.is_empty() {
            return Err(TlsError::NoAuthorities);
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider()).build();
        builder.with_client_cert_verifier(verifier.map_err(|error| TlsError::Library(error.to_string()))?)
    } else {
        builder.with_no_client_auth()
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| TlsError::Keypair(error.to_string()))?;
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(Arc::new(config))
}
