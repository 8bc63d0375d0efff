//! What the command line changes about a configuration before it is validated.

use std::path::PathBuf;

use super::error::{ConfigError, FieldPath};
use super::service::ServiceKind;
use super::socket::Listen;
use super::{Config, Service};

/// Values from the command line, in the order given; of two for one name the last wins.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--socket-addr` and `--socket-fd`.
    pub sockets: Vec<Override<Listen>>,
    /// `--external-addr`.
    pub externals: Vec<Override<String>>,
    /// `--directory-path`.
    pub directories: Vec<Override<PathBuf>>,
}

/// A new value for the service or socket with this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override<T> {
    pub name: String,
    pub value: T,
}

/// A folder that workerd's own test runner always passes, whether the configuration has it or not.
const TEST_TMPDIR: &str = "TEST_TMPDIR";

/// Who is asking: `test` tolerates one override without a match, as workerd does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideUse {
    Serve,
    Test,
}

impl Config {
    /// Puts the values in place. Each override that matches nothing is an error; the others still apply.
    pub fn apply_overrides(&mut self, overrides: &Overrides, used_for: OverrideUse) -> Vec<ConfigError> {
        let mut errors = Vec::new();
        let mut unmatched = |what: &str, name: &str| {
            let message = format!(
                "Config did not define any {what} named \"{name}\" to match the override provided on the command line."
            );
            errors.push(ConfigError::new(FieldPath::root(), message));
        };
        for given in &overrides.sockets {
            match self.sockets.iter_mut().find(|socket| socket.name == given.name) {
                Some(socket) => socket.listen = Some(given.value.clone()),
                None => unmatched("socket", &given.name),
            }
        }
        for given in &overrides.externals {
            match self.services.iter_mut().find(|service| service.name == given.name) {
                Some(Service { kind: ServiceKind::External(server), .. }) => {
                    server.address = Some(given.value.clone());
                }
                _ => unmatched("external service", &given.name),
            }
        }
        for given in &overrides.directories {
            match self.services.iter_mut().find(|service| service.name == given.name) {
                Some(Service { kind: ServiceKind::Disk(disk), .. }) => disk.path = Some(given.value.clone()),
                _ if used_for == OverrideUse::Test && given.name == TEST_TMPDIR => {}
                _ => unmatched("disk service", &given.name),
            }
        }
        errors
    }
}
