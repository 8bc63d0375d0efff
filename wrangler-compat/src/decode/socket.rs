//! Sockets, and the options of protocols.

use loaderd_loader::config::{
    FieldPath, HttpOptions, HttpStyle, InjectedHeader, Listen, Socket, SocketProtocol, TlsKeypair, TlsOptions,
    TlsVersion,
};
use loaderd_schema::workerd_capnp as schema;

use super::{Decoded, Decoder};

impl Decoder {
    pub(super) fn socket(&mut self, path: &FieldPath, socket: schema::socket::Reader<'_>) -> Decoded<Socket> {
        use schema::socket::Which;
        let name = self.text(&path.field("name"), socket.get_name())?;
        let protocol = match self.union(path, socket.which())? {
            Which::Http(options) => SocketProtocol::Http(self.http(&path.field("http"), options)?),
            Which::Https(https) => {
                let path = path.field("https");
                SocketProtocol::Https {
                    options: self.http(&path.field("options"), https.get_options())?,
                    tls: self.tls(&path.field("tlsOptions"), https.get_tls_options())?,
                }
            }
            Which::Tcp(tcp) => {
                let path = path.field("tcp").field("tlsOptions");
                SocketProtocol::Tcp { tls: self.optional_tls(&path, tcp.has_tls_options(), tcp.get_tls_options())? }
            }
        };
        let address = self.optional_text(&path.field("address"), socket.has_address(), socket.get_address())?;
        let service = self.designator(&path.field("service"), socket.get_service())?;
        Ok(Socket { name, listen: address.map(Listen::Address), protocol, service })
    }

    pub(super) fn http(
        &mut self,
        path: &FieldPath,
        read: capnp::Result<schema::http_options::Reader<'_>>,
    ) -> Decoded<HttpOptions> {
        use schema::http_options::Style;
        let options = self.part(path, read)?;
        let (proto, cf) = (path.field("forwardedProtoHeader"), path.field("cfBlobHeader"));
        let (request, response) = (path.field("injectRequestHeaders"), path.field("injectResponseHeaders"));
        let capnp = path.field("capnpConnectHost");
        Ok(HttpOptions {
            style: match self.union(&path.field("style"), options.get_style())? {
                Style::Host => HttpStyle::Host,
                Style::Proxy => HttpStyle::Proxy,
            },
            forwarded_proto_header: self.optional_text(
                &proto,
                options.has_forwarded_proto_header(),
                options.get_forwarded_proto_header(),
            )?,
            cf_blob_header: self.optional_text(&cf, options.has_cf_blob_header(), options.get_cf_blob_header())?,
            inject_request_headers: self.headers(&request, options.get_inject_request_headers())?,
            inject_response_headers: self.headers(&response, options.get_inject_response_headers())?,
            capnp_connect_host: self.optional_text(
                &capnp,
                options.has_capnp_connect_host(),
                options.get_capnp_connect_host(),
            )?,
        })
    }

    fn headers(
        &mut self,
        path: &FieldPath,
        read: capnp::Result<capnp::struct_list::Reader<'_, schema::http_options::header::Owned>>,
    ) -> Decoded<Vec<InjectedHeader>> {
        let headers = self.part(path, read)?;
        Ok(self.list(path, headers.iter(), |this, path, header| {
            Ok(InjectedHeader {
                name: this.text(&path.field("name"), header.get_name())?,
                value: this.optional_text(&path.field("value"), header.has_value(), header.get_value())?,
            })
        }))
    }

    pub(super) fn optional_tls(
        &mut self,
        path: &FieldPath,
        is_set: bool,
        read: capnp::Result<schema::tls_options::Reader<'_>>,
    ) -> Decoded<Option<TlsOptions>> {
        if is_set { self.tls(path, read).map(Some) } else { Ok(None) }
    }

    pub(super) fn tls(
        &mut self,
        path: &FieldPath,
        read: capnp::Result<schema::tls_options::Reader<'_>>,
    ) -> Decoded<TlsOptions> {
        use schema::tls_options::Version;
        let options = self.part(path, read)?;
        let keypair = if options.has_keypair() {
            let path = path.field("keypair");
            let keypair = self.part(&path, options.get_keypair())?;
            Some(TlsKeypair {
                private_key: self.text(&path.field("privateKey"), keypair.get_private_key())?,
                certificate_chain: self.text(&path.field("certificateChain"), keypair.get_certificate_chain())?,
            })
        } else {
            None
        };
        if options.has_cipher_list() {
            let instead = "Leave it out: the TLS library's own choice is used.";
            return Err(self.unsupported(&path.field("cipherList"), "`cipherList` is", instead));
        }
        let at = path.field("minVersion");
        let min_version = match self.union(&at, options.get_min_version())? {
            Version::GoodDefault => TlsVersion::GoodDefault,
            Version::Tls1Dot2 => TlsVersion::Tls1Dot2,
            Version::Tls1Dot3 => TlsVersion::Tls1Dot3,
            Version::Ssl3 | Version::Tls1Dot0 | Version::Tls1Dot1 => {
                let instead = "Ask for `tls1Dot2` or later.";
                return Err(self.unsupported(&at, "TLS versions before 1.2 are", instead));
            }
        };
        Ok(TlsOptions {
            keypair,
            require_client_certs: options.get_require_client_certs(),
            trust_browser_cas: options.get_trust_browser_cas(),
            trusted_certificates: self.texts(&path.field("trustedCertificates"), options.get_trusted_certificates())?,
            min_version,
        })
    }
}
