//! Durable Objects: how an object is named, and the trait through which a namespace reaches its objects.
//!
//! An object's id is 32 bytes: 16 that say which, and 16 that prove that they belong to the namespace. Objects whose
//! namespace has no unique key have any string for an id.

use std::any::Any;
use std::fmt::Write as _;
use std::sync::Arc;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::rpc::{Call, Cap, Capability, Reply, RpcError};

/// Which object of a class an entrypoint means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ObjectKey {
    /// 64 hexadecimal digits or, in a namespace without a unique key, any string.
    pub id: String,
    /// What it was named by, where it was.
    pub name: Option<String>,
    /// Which facet of another object it is; `None`: it is none.
    pub facet: Option<Facet>,
    /// What calls of it do.
    pub purpose: Purpose,
}

/// What makes a facet another object than those with its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Facet {
    /// Its parent, and its name there, as one text that no other facet has.
    pub path: String,
    /// How far it is from an object that is no facet; from 1.
    pub depth: u32,
}

/// What a call of an object does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// It is an event of the object.
    #[default]
    Event,
    /// It ends the object, whose events fail with the call's argument. The next event makes it anew.
    Abort,
    /// The same, and what the object stored is gone.
    Delete,
}

impl ObjectKey {
    /// What tells it from the other objects of its class.
    pub(crate) fn identity(&self) -> (String, String) {
        (self.id.clone(), self.facet.as_ref().map_or_else(String::new, |facet| facet.path.clone()))
    }
}

/// A class of Durable Objects that is not bound to a namespace: facets are made of it.
pub trait ObjectClass: Send + Sync + 'static {
    /// An object, as a service. It comes into being when it is first called, and lasts while the service is held.
    fn object(&self, key: ObjectKey) -> Cap;

    /// Why it may not be handed to another Worker, if it may not; the text of the `DataCloneError` that says so.
    fn refuses_transfer(&self) -> Option<&'static str> {
        None
    }
}

/// A class as a capability: revived as a `DurableObjectClass`. It does not cross to other processes.
pub struct ClassCap(pub Arc<dyn ObjectClass>);

impl Capability for ClassCap {
    fn call(&self, _: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        reply.send(Err(RpcError::new("TypeError", "This object cannot be called over RPC.")));
        None
    }

    fn refuses_transfer(&self) -> Option<&'static str> {
        self.0.refuses_transfer()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The objects of one class.
pub trait ObjectNamespace: Send + Sync + 'static {
    /// What ids are derived from; `None`: any string is an id.
    fn unique_key(&self) -> Option<&str>;

    /// An object, as a service. It comes into being when it is first called.
    fn object(&self, key: ObjectKey) -> Cap;
}

/// A namespace as a capability: revived as a `DurableObjectNamespace`. It does not cross to other processes.
pub struct NamespaceCap(pub Arc<dyn ObjectNamespace>);

impl Capability for NamespaceCap {
    fn call(&self, _: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        reply.send(Err(RpcError::new("TypeError", "This object cannot be called over RPC.")));
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Why text is no id of a namespace, in the platform's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("Invalid Durable Object ID: must be 64 hex digits")]
    Form,
    #[error("Durable Object ID is not valid for this namespace.")]
    Foreign,
}

/// Bytes of an id that say which object it is.
const BASE_BYTES: usize = 16;

/// The id of the object with a name.
#[must_use]
pub fn id_from_name(unique_key: &str, name: &str) -> String {
    let base = mac(unique_key, name.as_bytes());
    with_proof(unique_key, &base[..BASE_BYTES])
}

/// A new id. `None` where the system has no random numbers.
#[must_use]
pub fn new_unique_id(unique_key: &str) -> Option<String> {
    let mut base = [0; BASE_BYTES];
    getrandom::fill(&mut base).ok()?;
    Some(with_proof(unique_key, &base))
}

/// Checks that text is an id of the namespace, and gives it in small letters.
///
/// # Errors
/// It is not.
pub fn id_from_string(unique_key: &str, text: &str) -> Result<String, IdError> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(IdError::Form);
    }
    let text = text.to_ascii_lowercase();
    let base: Option<Vec<u8>> =
        (0..BASE_BYTES).map(|index| u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()).collect();
    let base = base.ok_or(IdError::Form)?;
    if with_proof(unique_key, &base) == text { Ok(text) } else { Err(IdError::Foreign) }
}

fn with_proof(unique_key: &str, base: &[u8]) -> String {
    let mut id = String::with_capacity(64);
    for byte in base.iter().chain(&mac(unique_key, base)[..BASE_BYTES]) {
        // Writing to a string does not fail.
        let _ = write!(id, "{byte:02x}");
    }
    id
}

fn mac(unique_key: &str, data: &[u8]) -> [u8; 32] {
    let key = Sha256::digest(unique_key.as_bytes());
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key) else { unreachable!("HMAC takes keys of every length") };
    mac.update(data);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_belong_to_their_namespace() {
        let id = id_from_name("key", "name");
        assert_eq!(id.len(), 64);
        assert_eq!(id, id_from_name("key", "name"));
        assert_ne!(id, id_from_name("key", "other"));
        assert_ne!(id, id_from_name("other", "name"));
        assert_eq!(id_from_string("key", &id.to_uppercase()), Ok(id.clone()));
        assert_eq!(id_from_string("other", &id), Err(IdError::Foreign));
        for bad in ["", "xyz", &id[1..], &format!("{}g", &id[1..]), &"é".repeat(32)] {
            assert_eq!(id_from_string("key", bad), Err(IdError::Form), "{bad}");
        }
        let unique = new_unique_id("key").expect("random numbers");
        assert_eq!(id_from_string("key", &unique), Ok(unique));
    }
}
