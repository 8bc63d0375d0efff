//! Bindings.

use loaderd_loader::config::{
    Binding, BindingValue, CryptoKey, CryptoKeyAlgorithm, CryptoKeyData, CryptoKeyUsage, DurableObjectDesignator,
    FieldPath, Hyperdrive, MemoryCache, MemoryCacheLimits, WrappedBinding,
};
use loaderd_schema::workerd_capnp as schema;
use schema::worker::binding;

use super::{Decoded, Decoder};

impl Decoder {
    pub(super) fn binding(&mut self, path: &FieldPath, binding: binding::Reader<'_>) -> Decoded<Binding> {
        let name = self.text(&path.field("name"), binding.get_name())?;
        let value = self.binding_value(path, &name, binding)?;
        Ok(Binding { name, value })
    }

    fn binding_value(&mut self, path: &FieldPath, name: &str, binding: binding::Reader<'_>) -> Decoded<BindingValue> {
        use binding::Which;
        let which = self.union(path, binding.which())?;
        Ok(match which {
            Which::Unspecified(()) => {
                return Err(self.report(path, format!("Binding \"{name}\" does not specify any binding value.")));
            }
            Which::Text(text) => BindingValue::Text(self.text(&path.field("text"), text)?),
            Which::Data(data) => BindingValue::Data(self.bytes(&path.field("data"), data)?),
            Which::Json(json) => BindingValue::Json(self.text(&path.field("json"), json)?),
            Which::WasmModule(wasm) => BindingValue::WasmModule(self.bytes(&path.field("wasmModule"), wasm)?),
            Which::CryptoKey(key) => {
                let path = path.field("cryptoKey");
                let key = self.part(&path, key)?;
                BindingValue::CryptoKey(self.crypto_key(&path, name, key)?)
            }
            Which::Service(it) => BindingValue::Service(self.designator(&path.field("service"), it)?),
            Which::DurableObjectClass(it) => {
                BindingValue::DurableObjectClass(self.designator(&path.field("durableObjectClass"), it)?)
            }
            Which::DurableObjectNamespace(it) => {
                let path = path.field("durableObjectNamespace");
                let it = self.part(&path, it)?;
                let service = path.field("serviceName");
                BindingValue::DurableObjectNamespace(DurableObjectDesignator {
                    class_name: self.text(&path.field("className"), it.get_class_name())?,
                    service: self.optional_text(&service, it.has_service_name(), it.get_service_name())?,
                })
            }
            Which::KvNamespace(it) => BindingValue::KvNamespace(self.designator(&path.field("kvNamespace"), it)?),
            Which::R2Bucket(it) => BindingValue::R2Bucket(self.designator(&path.field("r2Bucket"), it)?),
            Which::Queue(it) => BindingValue::Queue(self.designator(&path.field("queue"), it)?),
            Which::AnalyticsEngine(it) => {
                BindingValue::AnalyticsEngine(self.designator(&path.field("analyticsEngine"), it)?)
            }
            Which::Wrapped(wrapped) => {
                let path = path.field("wrapped");
                let wrapped = self.part(&path, wrapped)?;
                let inner = path.field("innerBindings");
                let bindings = self.part(&inner, wrapped.get_inner_bindings())?;
                BindingValue::Wrapped(WrappedBinding {
                    module_name: self.text(&path.field("moduleName"), wrapped.get_module_name())?,
                    entrypoint: self.text(&path.field("entrypoint"), wrapped.get_entrypoint())?,
                    inner_bindings: self.list(&inner, bindings.iter(), Self::binding),
                })
            }
            Which::FromEnvironment(name) => {
                BindingValue::FromEnvironment(self.text(&path.field("fromEnvironment"), name)?)
            }
            Which::Hyperdrive(it) => {
                let path = path.field("hyperdrive");
                BindingValue::Hyperdrive(Hyperdrive {
                    designator: self.designator(&path.field("designator"), it.get_designator())?,
                    database: self.text(&path.field("database"), it.get_database())?,
                    user: self.text(&path.field("user"), it.get_user())?,
                    password: self.text(&path.field("password"), it.get_password())?,
                    scheme: self.text(&path.field("scheme"), it.get_scheme())?,
                })
            }
            Which::UnsafeEval(()) => BindingValue::UnsafeEval,
            Which::MemoryCache(it) => BindingValue::MemoryCache(self.memory_cache(&path.field("memoryCache"), it)?),
            Which::WorkerLoader(it) => {
                let id = path.field("workerLoader").field("id");
                BindingValue::WorkerLoader { id: self.optional_text(&id, it.has_id(), it.get_id())? }
            }
            Which::Parameter(_) => {
                let instead = "It belongs to `inherit`, which is not supported either: write the Worker out.";
                return Err(self.unsupported(&path.field("parameter"), "`parameter` is", instead));
            }
            Which::WorkerdDebugPort(()) => {
                let path = path.field("workerdDebugPort");
                return Err(self.unsupported(&path, "`workerdDebugPort` is", "Bind the service itself."));
            }
            Which::Obsolete0(_) => {
                let path = path.field("obsolete0");
                return Err(self.unsupported(&path, "This obsolete kind of binding is", "Use another kind."));
            }
        })
    }

    fn memory_cache(&mut self, path: &FieldPath, cache: binding::memory_cache::Reader<'_>) -> Decoded<MemoryCache> {
        if !cache.has_limits() {
            let message = "MemoryCache bindings must specify limits. Please update the binding in the worker \
                           configuration and try again.";
            return Err(self.report(path, message));
        }
        let limits = self.part(&path.field("limits"), cache.get_limits())?;
        Ok(MemoryCache {
            id: self.optional_text(&path.field("id"), cache.has_id(), cache.get_id())?,
            limits: MemoryCacheLimits {
                keys_max: limits.get_max_keys(),
                value_bytes_max: limits.get_max_value_size(),
                total_value_bytes_max: limits.get_max_total_value_size(),
            },
        })
    }

    fn crypto_key(&mut self, path: &FieldPath, name: &str, key: binding::crypto_key::Reader<'_>) -> Decoded<CryptoKey> {
        use binding::crypto_key::{Which, algorithm};
        let data = match self.union(path, key.which())? {
            Which::Raw(raw) => CryptoKeyData::Raw(self.part(&path.field("raw"), raw)?.to_vec()),
            Which::Hex(hex) => {
                let path = path.field("hex");
                let digits = self.text(&path, hex)?;
                match decode_hex(&digits) {
                    Some(bytes) => CryptoKeyData::Raw(bytes),
                    None => {
                        return Err(self.report(&path, format!("CryptoKey binding \"{name}\" contained invalid hex.")));
                    }
                }
            }
            Which::Base64(base64) => {
                let path = path.field("base64");
                let digits = self.text(&path, base64)?;
                match decode_base64(&digits) {
                    Some(bytes) => CryptoKeyData::Raw(bytes),
                    None => {
                        let message = format!("CryptoKey binding \"{name}\" contained invalid base64.");
                        return Err(self.report(&path, message));
                    }
                }
            }
            Which::Pkcs8(pem) => CryptoKeyData::Pkcs8(self.text(&path.field("pkcs8"), pem)?),
            Which::Spki(pem) => CryptoKeyData::Spki(self.text(&path.field("spki"), pem)?),
            Which::Jwk(json) => CryptoKeyData::Jwk(self.text(&path.field("jwk"), json)?),
        };
        let at = path.field("algorithm");
        let algorithm = match self.union(&at, key.get_algorithm().which())? {
            algorithm::Which::Name(name) => CryptoKeyAlgorithm::Name(self.text(&at.field("name"), name)?),
            algorithm::Which::Json(json) => CryptoKeyAlgorithm::Json(self.text(&at.field("json"), json)?),
        };
        let at = path.field("usages");
        let mut usages = Vec::new();
        for usage in self.part(&at, key.get_usages())?.iter() {
            usages.push(crypto_key_usage(self.union(&at, usage)?));
        }
        Ok(CryptoKey { data, algorithm, extractable: key.get_extractable(), usages })
    }
}

fn crypto_key_usage(usage: binding::crypto_key::Usage) -> CryptoKeyUsage {
    use binding::crypto_key::Usage;
    match usage {
        Usage::Encrypt => CryptoKeyUsage::Encrypt,
        Usage::Decrypt => CryptoKeyUsage::Decrypt,
        Usage::Sign => CryptoKeyUsage::Sign,
        Usage::Verify => CryptoKeyUsage::Verify,
        Usage::DeriveKey => CryptoKeyUsage::DeriveKey,
        Usage::DeriveBits => CryptoKeyUsage::DeriveBits,
        Usage::WrapKey => CryptoKeyUsage::WrapKey,
        Usage::UnwrapKey => CryptoKeyUsage::UnwrapKey,
    }
}

fn decode_hex(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    let value = |digit: u8| char::from(digit).to_digit(16);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(|pair| u8::try_from(value(pair[0])? * 16 + value(pair[1])?).ok()).collect()
}

/// Standard base64; white space is skipped and padding may be left out.
fn decode_base64(digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let end = digits.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    if digits.len() - end > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(end / 4 * 3 + 2);
    let (mut bits, mut bit_count) = (0_u32, 0);
    for digit in &digits[..end] {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((bits >> bit_count) as u8);
            bits &= (1 << bit_count) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_material() {
        assert_eq!(decode_hex("00fF"), Some(vec![0, 255]));
        assert_eq!(decode_hex("0"), None);
        assert_eq!(decode_hex("0g"), None);
        assert_eq!(decode_base64("aGVs bG8="), Some(b"hello".to_vec()));
        assert_eq!(decode_base64("aGVsbG8"), Some(b"hello".to_vec()));
        assert_eq!(decode_base64("aGV$"), None);
        assert_eq!(decode_base64("===="), None);
    }
}
