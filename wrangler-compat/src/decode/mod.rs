//! From the encoded form of a workerd config to [`Config`]. What loaderd does not support is refused here, by name.
//!
//! Every problem is reported, with the path of its field; [`Reported`] stands for a value that could not be had because
//! of a problem already reported.

mod binding;
mod service;
mod socket;
mod worker;

use std::sync::Arc;

use loaderd_loader::config::{
    Config, ConfigError, ExtensionModule, ExtensionVisibility, FieldPath, LogFormat, Logging,
};
use loaderd_schema::workerd_capnp as schema;

use crate::encoded::Encoded;
use crate::source::Diagnostic;

/// Problems that are listed.
const DIAGNOSTICS_MAX: usize = 100;

/// Proof that a problem has been reported.
struct Reported;

type Decoded<T> = Result<T, Reported>;

struct Decoder {
    errors: Vec<ConfigError>,
}

/// Decodes the root of a message.
pub(crate) fn config(encoded: &Encoded) -> Result<Config, Vec<Diagnostic>> {
    let mut decoder = Decoder { errors: Vec::new() };
    let decoded = decoder.config(encoded);
    match decoded {
        Ok(config) if decoder.errors.is_empty() => Ok(config),
        Ok(_) | Err(Reported) => Err(decoder.errors.iter().map(|error| encoded.diagnose(error)).collect()),
    }
}

impl Decoder {
    fn report(&mut self, path: &FieldPath, message: impl Into<String>) -> Reported {
        if self.errors.len() < DIAGNOSTICS_MAX {
            self.errors.push(ConfigError::new(path.clone(), message));
        }
        Reported
    }

    /// Refuses a feature that exists in workerd. `instead` says what to do, as a sentence.
    fn unsupported(&mut self, path: &FieldPath, feature: &str, instead: &str) -> Reported {
        self.report(path, format!("{feature} not supported by loaderd. {instead}"))
    }

    /// A part of the message that could be read.
    fn part<T>(&mut self, path: &FieldPath, read: capnp::Result<T>) -> Decoded<T> {
        read.map_err(|problem| self.report(path, format!("The config's encoding is broken here: {problem}")))
    }

    /// Which member of a union is set.
    fn union<T>(&mut self, path: &FieldPath, which: Result<T, capnp::NotInSchema>) -> Decoded<T> {
        which.map_err(|_| {
            let message = "Has an unrecognized type. Was the config compiled with a newer version of the schema?";
            self.report(path, message)
        })
    }

    /// A string that has to be well-formed: names, addresses.
    fn text(&mut self, path: &FieldPath, read: capnp::Result<capnp::text::Reader<'_>>) -> Decoded<String> {
        let text = self.part(path, read)?;
        text.to_string().map_err(|_| self.report(path, "This has to be UTF-8 text."))
    }

    fn optional_text(
        &mut self,
        path: &FieldPath,
        is_set: bool,
        read: capnp::Result<capnp::text::Reader<'_>>,
    ) -> Decoded<Option<String>> {
        if is_set { self.text(path, read).map(Some) } else { Ok(None) }
    }

    /// Source code. As in workerd, bytes that are not UTF-8 become replacement characters.
    fn source(&mut self, path: &FieldPath, read: capnp::Result<capnp::text::Reader<'_>>) -> Decoded<Arc<str>> {
        let text = self.part(path, read)?;
        Ok(String::from_utf8_lossy(text.as_bytes()).into())
    }

    fn bytes(&mut self, path: &FieldPath, read: capnp::Result<capnp::data::Reader<'_>>) -> Decoded<Arc<[u8]>> {
        self.part(path, read).map(Arc::from)
    }

    fn texts(&mut self, path: &FieldPath, read: capnp::Result<capnp::text_list::Reader<'_>>) -> Decoded<Vec<String>> {
        let list = self.part(path, read)?;
        let mut texts = Vec::new();
        for (index, text) in list.iter().enumerate() {
            texts.push(self.text(&path.index(index), text)?);
        }
        Ok(texts)
    }

    /// The elements of a list that could be decoded; problems of the others have been reported.
    fn list<R, T>(
        &mut self,
        path: &FieldPath,
        elements: impl Iterator<Item = R>,
        decode: impl Fn(&mut Self, &FieldPath, R) -> Decoded<T>,
    ) -> Vec<T> {
        elements.enumerate().filter_map(|(index, element)| decode(self, &path.index(index), element).ok()).collect()
    }

    fn config(&mut self, encoded: &Encoded) -> Decoded<Config> {
        let path = FieldPath::root();
        let config = self.part(&path, encoded.root())?;

        let at = path.field("services");
        let services = self.part(&at, config.get_services())?;
        let services = self.list(&at, services.iter(), Self::service);

        let at = path.field("sockets");
        let sockets = self.part(&at, config.get_sockets())?;
        let sockets = self.list(&at, sockets.iter(), Self::socket);

        let at = path.field("extensions");
        let extensions = self.part(&at, config.get_extensions())?;
        let extensions = self.list(&at, extensions.iter(), Self::extension).into_iter().flatten().collect();

        Ok(Config {
            services,
            sockets,
            v8_flags: self.texts(&path.field("v8Flags"), config.get_v8_flags())?,
            extensions,
            autogates: self.texts(&path.field("autogates"), config.get_autogates())?,
            logging: self.logging(&path, config)?,
        })
    }

    fn extension(
        &mut self,
        path: &FieldPath,
        extension: schema::extension::Reader<'_>,
    ) -> Decoded<Vec<ExtensionModule>> {
        let at = path.field("modules");
        let modules = self.part(&at, extension.get_modules())?;
        Ok(self.list(&at, modules.iter(), |this, path, module| {
            Ok(ExtensionModule {
                name: this.text(&path.field("name"), module.get_name())?,
                visibility: if module.get_internal() {
                    ExtensionVisibility::Internal
                } else {
                    ExtensionVisibility::Public
                },
                source: this.source(&path.field("esModule"), module.get_es_module())?,
            })
        }))
    }

    fn logging(&mut self, path: &FieldPath, config: schema::config::Reader<'_>) -> Decoded<Logging> {
        let mut logging = Logging::default();
        let mut structured = config.get_structured_logging();
        if config.has_logging() {
            let path = path.field("logging");
            let options = self.part(&path, config.get_logging())?;
            structured = options.get_structured_logging();
            if options.has_stdout_prefix() {
                logging.stdout_prefix = self.text(&path.field("stdoutPrefix"), options.get_stdout_prefix())?;
            }
            if options.has_stderr_prefix() {
                logging.stderr_prefix = self.text(&path.field("stderrPrefix"), options.get_stderr_prefix())?;
            }
        }
        logging.format = if structured { LogFormat::Json } else { LogFormat::Text };
        Ok(logging)
    }
}
