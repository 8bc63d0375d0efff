//! The Cache API's memory: where a Worker's cache channel leads when its configuration names no service for it.
//!
//! What the channel carries are fetches, as workerd sends them to a `cacheApiOutbound`: `GET` with
//! `Cache-Control: only-if-cached` matches, `PUT` stores the HTTP response that its body is, `PURGE` deletes.
//! `CF-Cache-Namespace` names a cache that the program opened; `CF-Cache-Status` of the answer is `HIT` or `MISS`. A
//! `PUT` is answered with 204, or with 413 where the response is not kept.
//!
//! A [`MemoryCache`] is shared by many Workers, each of which has a namespace of its own: nobody finds, replaces or
//! deletes what another put, and nobody takes more than its share. As everywhere, what was put may be gone at any time.
//!
//! | File | Owns |
//! |---|---|
//! | `store` | entries, the bounds on them, and which goes first |
//! | `payload` | the response that a `PUT` brings |
//! | `freshness` | whether a response may be kept, and for how long |
//! | `answer` | what a match answers with: conditions and ranges |

mod answer;
mod freshness;
mod payload;
mod store;

use std::any::Any;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use http_body_util::BodyExt;
use loaderd_runtime::rpc::{Call, Cap, CapKind, Capability, Reply, RpcError};

use self::payload::{Payload, PayloadError};
use self::store::{Namespace, Store};
use crate::fetch::{Body, FetchRequest, FetchResponse, header};

/// Bytes of all that a cache keeps when the host does not say.
pub const CACHE_BYTES_MAX: usize = 128 << 20;

/// Bytes of one response that a cache keeps.
pub const CACHE_ENTRY_BYTES_MAX: usize = 32 << 20;

/// Responses that a cache keeps.
pub const CACHE_ENTRIES_MAX: usize = 65_536;

/// Bytes that one Worker of those that others load may have in a cache.
pub const LOADED_SHARE_BYTES_MAX: usize = 8 << 20;

/// Responses that one Worker of those that others load may have in a cache.
pub const LOADED_SHARE_ENTRIES_MAX: usize = 1_024;

/// The bounds of one [`MemoryCache`]. Over any of them, what was not used for the longest time goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    /// Bytes of everything, responses on their way in included.
    pub bytes_max: usize,
    /// Responses in all.
    pub entries_max: usize,
    /// Bytes of one response, head and body. A larger one is not kept.
    pub entry_bytes_max: usize,
    /// Bytes of one namespace.
    pub share_bytes_max: usize,
    /// Responses in one namespace.
    pub share_entries_max: usize,
}

impl CacheLimits {
    /// For Workers of a configuration, who trust each other with what all of them may keep.
    #[must_use]
    pub fn configured(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            entries_max: CACHE_ENTRIES_MAX,
            entry_bytes_max: CACHE_ENTRY_BYTES_MAX.min(bytes_max),
            share_bytes_max: bytes_max,
            share_entries_max: CACHE_ENTRIES_MAX,
        }
    }

    /// For Workers that others load.
    #[must_use]
    pub fn loaded(bytes_max: usize) -> Self {
        let share_bytes_max = LOADED_SHARE_BYTES_MAX.min(bytes_max);
        Self {
            share_bytes_max,
            share_entries_max: LOADED_SHARE_ENTRIES_MAX,
            entry_bytes_max: share_bytes_max,
            ..Self::configured(bytes_max)
        }
    }
}

/// See the module. Cheap to clone; clones share what is kept.
#[derive(Clone)]
pub struct MemoryCache {
    store: Arc<Store>,
    tasks: tokio::runtime::Handle,
}

impl MemoryCache {
    /// An empty cache. Bodies are read on `tasks`.
    #[must_use]
    pub fn new(limits: CacheLimits, tasks: tokio::runtime::Handle) -> Self {
        Self { store: Store::new(limits), tasks }
    }

    /// A cache channel with a new namespace; what is kept in it goes with the channel's last holder.
    #[must_use]
    pub fn channel(&self) -> Cap {
        let target = Arc::new(Channel { namespace: Store::namespace(&self.store), tasks: self.tasks.clone() });
        Cap { kind: CapKind::Service, target }
    }

    /// Bytes that are kept, or on their way in.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.store.bytes()
    }
}

/// The cache channel of one Worker.
struct Channel {
    namespace: Arc<Namespace>,
    tasks: tokio::runtime::Handle,
}

impl Capability for Channel {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let request = match FetchRequest::from_call(&call) {
            Some(Ok(request)) => request,
            Some(Err(error)) => {
                reply.send(Err(error.to_rpc()));
                return None;
            }
            None => {
                let message = "The RPC receiver does not implement the method: this service is a cache.";
                reply.send(Err(RpcError::new("TypeError", message)));
                return None;
            }
        };
        let cache = header(&request.headers, "cf-cache-namespace").unwrap_or_default().to_owned();
        let (namespace, url) = (&self.namespace, request.url.clone());
        match request.method.as_str() {
            "GET" => {
                let response = match namespace.find(&cache, &url, Instant::now()) {
                    Some(found) => found.answer(&request.headers, Instant::now(), &self.tasks),
                    None => status(504, "Gateway Timeout", Some("MISS")),
                };
                reply.send(response.into_answer());
            }
            "PURGE" => {
                let (code, text) = if namespace.remove(&cache, &url) { (200, "OK") } else { (404, "Not Found") };
                reply.send(status(code, text, None).into_answer());
            }
            "PUT" => {
                let namespace = Arc::clone(namespace);
                self.tasks.spawn(async move {
                    let response = match put(&namespace, &cache, &url, request.body).await {
                        Ok(()) => status(204, "No Content", None),
                        Err(NotKept::Refused) => status(413, "Payload Too Large", None),
                        Err(NotKept::Broken) => status(400, "Bad Request", None),
                    };
                    reply.send(response.into_answer());
                });
            }
            _ => reply.send(status(405, "Method Not Allowed", None).into_answer()),
        }
        None
    }

    fn counts_as_subrequest(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Why a response is not kept.
enum NotKept {
    /// It may not be, or there is no room for it.
    Refused,
    /// It broke off, or is no response.
    Broken,
}

impl From<PayloadError> for NotKept {
    fn from(_: PayloadError) -> Self {
        Self::Broken
    }
}

/// Reads a response and keeps it. Dropping the future leaves what was there before.
async fn put(namespace: &Arc<Namespace>, cache: &str, url: &str, body: Body) -> Result<(), NotKept> {
    let mut room = namespace.reserve();
    room.grow(store::ENTRY_OVERHEAD_BYTES + cache.len() + url.len()).map_err(|_| NotKept::Refused)?;
    let mut payload = Payload::default();
    let mut lifetime = None;
    let mut body = body.into_http();
    while let Some(frame) = body.frame().await {
        let Ok(bytes) = frame.map_err(|_| NotKept::Broken)?.into_data() else { continue };
        room.grow(bytes.len()).map_err(|_| NotKept::Refused)?;
        payload.push(bytes)?;
        // Known before the body is there, so that nobody sends what is not kept.
        if let (None, Some(head)) = (lifetime, payload.head_mut()) {
            lifetime = Some(freshness::lifetime(head, SystemTime::now()).ok_or(NotKept::Refused)?);
        }
    }
    let (head, body) = payload.finish()?;
    let lifetime = lifetime.ok_or(NotKept::Broken)?;
    room.keep(cache, url, store::Stored { head, body, kept_at: Instant::now(), lifetime });
    Ok(())
}

/// An answer without a body.
fn status(status: u16, text: &str, cache_status: Option<&str>) -> FetchResponse {
    let headers = cache_status.map(|status| ("CF-Cache-Status".to_owned(), status.to_owned()));
    FetchResponse {
        status,
        status_text: text.to_owned(),
        headers: headers.into_iter().collect(),
        body: Body::Empty,
        web_socket: None,
    }
}

/// The head of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    status_text: String,
    /// Without those that say how the body is framed.
    headers: Vec<(String, String)>,
}

/// A body in pieces of the size that bodies travel in.
fn body_of(bytes: Bytes, tasks: &tokio::runtime::Handle) -> Body {
    if bytes.len() <= crate::fetch::CHUNK_BYTES_MAX {
        return Body::Bytes(bytes);
    }
    let length = bytes.len() as u64;
    let starts = (0..bytes.len()).step_by(crate::fetch::CHUNK_BYTES_MAX);
    let pieces = starts.map(move |start| {
        let end = bytes.len().min(start + crate::fetch::CHUNK_BYTES_MAX);
        Ok::<_, std::convert::Infallible>(http_body::Frame::data(bytes.slice(start..end)))
    });
    Body::from_http(http_body_util::StreamBody::new(futures::stream::iter(pieces)), tasks).with_length(length)
}
