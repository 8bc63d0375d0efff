//! Services that are not Workers, and designators.

use loaderd_loader::config::{
    AddressRules, DiskDirectory, ExternalProtocol, ExternalServer, FieldPath, Network, Service, ServiceDesignator,
    ServiceKind,
};
use loaderd_schema::workerd_capnp as schema;

use super::{Decoded, Decoder};

impl Decoder {
    pub(super) fn service(&mut self, path: &FieldPath, service: schema::service::Reader<'_>) -> Decoded<Service> {
        use schema::service::Which;
        let name = self.text(&path.field("name"), service.get_name())?;
        let kind = match self.union(path, service.which())? {
            Which::Unspecified(()) => {
                return Err(self.report(path, format!("Service named \"{name}\" does not specify what to serve.")));
            }
            Which::Worker(worker) => {
                let path = path.field("worker");
                let worker = self.part(&path, worker)?;
                ServiceKind::Worker(Box::new(self.worker(&path, worker)?))
            }
            Which::Network(network) => {
                let path = path.field("network");
                let network = self.part(&path, network)?;
                ServiceKind::Network(self.network(&path, network)?)
            }
            Which::External(server) => {
                let path = path.field("external");
                let server = self.part(&path, server)?;
                ServiceKind::External(Box::new(self.external(&path, server)?))
            }
            Which::Disk(disk) => {
                let path = path.field("disk");
                let disk = self.part(&path, disk)?;
                let at = path.field("path");
                ServiceKind::Disk(DiskDirectory {
                    path: self.optional_text(&at, disk.has_path(), disk.get_path())?.map(Into::into),
                    writable: disk.get_writable(),
                    allow_dotfiles: disk.get_allow_dotfiles(),
                })
            }
        };
        Ok(Service { name, kind })
    }

    fn network(&mut self, path: &FieldPath, network: schema::network::Reader<'_>) -> Decoded<Network> {
        let rules = AddressRules {
            allow: self.texts(&path.field("allow"), network.get_allow())?,
            deny: self.texts(&path.field("deny"), network.get_deny())?,
        };
        let tls = self.optional_tls(&path.field("tlsOptions"), network.has_tls_options(), network.get_tls_options())?;
        Ok(Network { rules, tls })
    }

    fn external(&mut self, path: &FieldPath, server: schema::external_server::Reader<'_>) -> Decoded<ExternalServer> {
        use schema::external_server::Which;
        let address = self.optional_text(&path.field("address"), server.has_address(), server.get_address())?;
        let protocol = match self.union(path, server.which())? {
            Which::Http(options) => ExternalProtocol::Http(self.http(&path.field("http"), options)?),
            Which::Https(https) => {
                let path = path.field("https");
                let host = path.field("certificateHost");
                ExternalProtocol::Https {
                    options: self.http(&path.field("options"), https.get_options())?,
                    tls: self.tls(&path.field("tlsOptions"), https.get_tls_options())?,
                    certificate_host: self.optional_text(
                        &host,
                        https.has_certificate_host(),
                        https.get_certificate_host(),
                    )?,
                }
            }
            Which::Tcp(tcp) => {
                let path = path.field("tcp");
                let host = path.field("certificateHost");
                let options = path.field("tlsOptions");
                ExternalProtocol::Tcp {
                    tls: self.optional_tls(&options, tcp.has_tls_options(), tcp.get_tls_options())?,
                    certificate_host: self.optional_text(
                        &host,
                        tcp.has_certificate_host(),
                        tcp.get_certificate_host(),
                    )?,
                }
            }
        };
        Ok(ExternalServer { address, protocol })
    }

    pub(super) fn designator(
        &mut self,
        path: &FieldPath,
        read: capnp::Result<schema::service_designator::Reader<'_>>,
    ) -> Decoded<ServiceDesignator> {
        use schema::service_designator::props::Which;
        let designator = self.part(path, read)?;
        let entrypoint = path.field("entrypoint");
        let props = path.field("props");
        Ok(ServiceDesignator {
            service: self.text(&path.field("name"), designator.get_name())?,
            entrypoint: self.optional_text(&entrypoint, designator.has_entrypoint(), designator.get_entrypoint())?,
            props_json: match self.union(&props, designator.get_props().which())? {
                Which::Empty(()) => None,
                Which::Json(json) => Some(self.text(&props.field("json"), json)?),
            },
        })
    }
}
