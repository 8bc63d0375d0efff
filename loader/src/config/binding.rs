//! The members of a Worker's `env`.

use std::sync::Arc;

use super::ServiceDesignator;

/// A named value or capability that a Worker is given.
#[derive(Clone, Debug)]
pub struct Binding {
    pub name: String,
    pub value: BindingValue,
}

/// What a binding gives.
#[derive(Clone, Debug)]
pub enum BindingValue {
    /// A string.
    Text(String),
    /// An `ArrayBuffer`.
    Data(Arc<[u8]>),
    /// The parsed value of this JSON text.
    Json(String),
    /// A `WebAssembly.Module`; only for service-worker scripts.
    WasmModule(Arc<[u8]>),
    CryptoKey(CryptoKey),
    /// A service, or one entrypoint of it.
    Service(ServiceDesignator),
    /// A Durable Object class without a namespace, for facets.
    DurableObjectClass(ServiceDesignator),
    DurableObjectNamespace(DurableObjectDesignator),
    /// A KV namespace whose operations become HTTP requests to the service.
    KvNamespace(ServiceDesignator),
    /// An R2 bucket, likewise.
    R2Bucket(ServiceDesignator),
    /// A queue's producer, likewise.
    Queue(ServiceDesignator),
    /// A data set to write points to, likewise.
    AnalyticsEngine(ServiceDesignator),
    Hyperdrive(Hyperdrive),
    Wrapped(WrappedBinding),
    /// The value of this environment variable, or null.
    FromEnvironment(String),
    /// An object that compiles code from strings.
    UnsafeEval,
    MemoryCache(MemoryCache),
    /// A Worker Loader. Bindings with the same id share what they have loaded; `None` shares with nobody.
    WorkerLoader {
        id: Option<String>,
    },
}

impl BindingValue {
    /// The name of this kind of binding in workerd's configuration format.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Data(_) => "data",
            Self::Json(_) => "json",
            Self::WasmModule(_) => "wasmModule",
            Self::CryptoKey(_) => "cryptoKey",
            Self::Service(_) => "service",
            Self::DurableObjectClass(_) => "durableObjectClass",
            Self::DurableObjectNamespace(_) => "durableObjectNamespace",
            Self::KvNamespace(_) => "kvNamespace",
            Self::R2Bucket(_) => "r2Bucket",
            Self::Queue(_) => "queue",
            Self::AnalyticsEngine(_) => "analyticsEngine",
            Self::Hyperdrive(_) => "hyperdrive",
            Self::Wrapped(_) => "wrapped",
            Self::FromEnvironment(_) => "fromEnvironment",
            Self::UnsafeEval => "unsafeEval",
            Self::MemoryCache(_) => "memoryCache",
            Self::WorkerLoader { .. } => "workerLoader",
        }
    }
}

/// A namespace of Durable Objects, by class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurableObjectDesignator {
    pub class_name: String,
    /// The Worker that defines the class; `None` is the Worker that has the binding.
    pub service: Option<String>,
}

/// A value that an internal module makes from bindings the Worker itself never sees.
#[derive(Clone, Debug)]
pub struct WrappedBinding {
    pub module_name: String,
    /// The exported function that is called once with the inner bindings.
    pub entrypoint: String,
    pub inner_bindings: Vec<Binding>,
}

/// A connection string's parts, and where the connection goes.
#[derive(Clone)]
pub struct Hyperdrive {
    pub designator: ServiceDesignator,
    pub database: String,
    pub user: String,
    pub password: String,
    pub scheme: String,
}

impl std::fmt::Debug for Hyperdrive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The password must not reach logs.
        f.debug_struct("Hyperdrive").field("designator", &self.designator).finish_non_exhaustive()
    }
}

/// A cache shared by the bindings of one process that name the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryCache {
    /// `None` shares with nobody.
    pub id: Option<String>,
    pub limits: MemoryCacheLimits,
}

/// Bounds of a memory cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryCacheLimits {
    pub keys_max: u32,
    /// Bytes of one value.
    pub value_bytes_max: u32,
    /// Bytes of all values together.
    pub total_value_bytes_max: u64,
}

/// The arguments of `crypto.subtle.importKey()`.
#[derive(Clone, PartialEq, Eq)]
pub struct CryptoKey {
    pub data: CryptoKeyData,
    pub algorithm: CryptoKeyAlgorithm,
    pub extractable: bool,
    pub usages: Vec<CryptoKeyUsage>,
}

impl std::fmt::Debug for CryptoKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Key material must not reach logs.
        f.debug_struct("CryptoKey").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// Key material, decoded.
#[derive(Clone, PartialEq, Eq)]
pub enum CryptoKeyData {
    /// The key's bytes.
    Raw(Vec<u8>),
    /// A private key, PEM (`PRIVATE KEY`).
    Pkcs8(String),
    /// A public key, PEM (`PUBLIC KEY`).
    Spki(String),
    /// JSON text.
    Jwk(String),
}

/// The `algorithm` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CryptoKeyAlgorithm {
    /// A name, such as `AES-GCM`.
    Name(String),
    /// An object, as JSON text.
    Json(String),
}

/// What a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CryptoKeyUsage {
    Encrypt,
    Decrypt,
    Sign,
    Verify,
    DeriveKey,
    DeriveBits,
    WrapKey,
    UnwrapKey,
}

impl CryptoKeyUsage {
    /// The name the Web Crypto API uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::DeriveKey => "deriveKey",
            Self::DeriveBits => "deriveBits",
            Self::WrapKey => "wrapKey",
            Self::UnwrapKey => "unwrapKey",
        }
    }
}
