//! The table of rooms: what exists, which globals each room answers for, and its two halves.

use super::{
    async_context, base64, buffer, compat, compression, crypto, durable_objects, encoding, fetch, form_data,
    html_rewriter, inspect, structured_clone, timers, tracing, unsafe_eval, url, url_pattern, web_assembly, websocket,
    worker_loader,
};
use super::{rpc, rpc_signal, rpc_values, workers};
use crate::compat::Flag;

/// Puts a room's Rust functions on the object its JavaScript receives as `native`.
pub(super) type Native = fn(&mut v8::PinScope<'_, '_>, v8::Local<'_, v8::Object>) -> Option<()>;

/// One API room.
pub(super) struct Room {
    pub(super) name: &'static str,
    /// A function body with parameters `(primordials, native, load)` that returns an object of exports. ASCII.
    pub(super) source: &'static str,
    /// Globals on `WorkerGlobalScope.prototype` (where the platform has its classes and functions).
    pub(super) on_scope: &'static [&'static str],
    /// Globals on `globalThis` itself (where the platform has its singletons).
    pub(super) on_global: &'static [&'static str],
    pub(super) native: Option<Native>,
}

/// A room that defines no global: others load it.
const fn library(name: &'static str, source: &'static str, native: Option<Native>) -> Room {
    Room { name, source, on_scope: &[], on_global: &[], native }
}

/// Globals that only Workers with one of some flags have.
pub(super) struct Flagged {
    pub(super) flags: &'static [Flag],
    pub(super) names: &'static [&'static str],
    pub(super) ahead: Ahead,
}

/// How globals are prepared before it is known which flags a Worker has: as most Workers want them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// They are there, and taken away from those that have no flag for them.
    Put,
    /// They are put there for those that have one.
    Left,
}

pub(super) static FLAGGED: &[Flagged] = &[
    Flagged { flags: &[Flag::GlobalNavigator], names: &["navigator", "Navigator"], ahead: Ahead::Put },
    Flagged {
        flags: &[Flag::ExposeGlobalMessageChannel],
        names: &["MessageChannel", "MessagePort"],
        ahead: Ahead::Left,
    },
    Flagged {
        flags: &[Flag::EnableGlobalPerformanceClasses, Flag::EnableNodejsPerfHooksModule],
        names: &[
            "Performance",
            "PerformanceEntry",
            "PerformanceMark",
            "PerformanceMeasure",
            "PerformanceResourceTiming",
            "PerformanceObserver",
            "PerformanceObserverEntryList",
        ],
        ahead: Ahead::Left,
    },
];

/// Globals of the language itself that a room puts something in the place of.
pub(super) static OF_LANGUAGE: &[&str] = &["WebAssembly", "SharedArrayBuffer"];

/// Every room. Order does not matter; names are unique.
pub(super) static ROOMS: &[Room] = &[
    library("webidl", include_str!("../../js/webidl.js"), None),
    library("rpc", include_str!("../../js/rpc.js"), Some(rpc::install)),
    library("rpc_objects", include_str!("../../js/rpc_objects.js"), None),
    library("rpc_values", include_str!("../../js/rpc_values.js"), Some(rpc_values::install)),
    library("rpc_serve", include_str!("../../js/rpc_serve.js"), Some(rpc::install_serve)),
    library("rpc_http", include_str!("../../js/rpc_http.js"), None),
    library("rpc_fetch", include_str!("../../js/rpc_fetch.js"), Some(workers::install_fetch)),
    library("rpc_signal", include_str!("../../js/rpc_signal.js"), Some(rpc_signal::install)),
    library("rpc_streams", include_str!("../../js/rpc_streams.js"), None),
    library("workers", include_str!("../../js/workers.js"), Some(workers::install)),
    library("durable_objects", include_str!("../../js/durable_objects.js"), Some(durable_objects::install)),
    library("durable_object_state", include_str!("../../js/durable_object_state.js"), None),
    library("durable_object_storage", include_str!("../../js/durable_object_storage.js"), None),
    library(
        "durable_object_facets",
        include_str!("../../js/durable_object_facets.js"),
        Some(durable_objects::install_facets),
    ),
    library("socket", include_str!("../../js/socket.js"), None),
    library("socket_connection", include_str!("../../js/socket_connection.js"), None),
    library("socket_addresses", include_str!("../../js/socket_addresses.js"), Some(workers::install_hosts)),
    library("sockets", include_str!("../../js/sockets.js"), None),
    library("unsafe", include_str!("../../js/unsafe.js"), Some(unsafe_eval::install)),
    library("wrapped", include_str!("../../js/wrapped.js"), Some(unsafe_eval::install_wrapped)),
    Room {
        name: "service_worker",
        source: include_str!("../../js/service_worker.js"),
        on_scope: &["ExtendableEvent", "FetchEvent", "ScheduledEvent"],
        on_global: &[],
        native: None,
    },
    library("worker_loader", include_str!("../../js/worker_loader.js"), Some(worker_loader::install)),
    library("tracing", include_str!("../../js/tracing.js"), Some(tracing::install)),
    library("trace_items", include_str!("../../js/trace_items.js"), Some(tracing::install)),
    library("handlers", include_str!("../../js/handlers.js"), Some(tracing::install)),
    library("inspect_text", include_str!("../../js/inspect_text.js"), None),
    Room {
        name: "web_assembly",
        source: include_str!("../../js/web_assembly.js"),
        on_scope: &[],
        on_global: &["WebAssembly"],
        native: Some(web_assembly::install),
    },
    Room {
        name: "shared_memory",
        source: include_str!("../../js/shared_memory.js"),
        on_scope: &[],
        on_global: &["SharedArrayBuffer"],
        native: Some(web_assembly::install_count),
    },
    library("inspect_names", include_str!("../../js/inspect_names.js"), Some(inspect::install)),
    library("inspect_format", include_str!("../../js/inspect_format.js"), None),
    library("inspect", include_str!("../../js/inspect.js"), None),
    library("stack_traces", include_str!("../../js/stack_traces.js"), None),
    library("deep_equal", include_str!("../../js/deep_equal.js"), None),
    library("node_errors", include_str!("../../js/node/errors.js"), None),
    library("node_assert", include_str!("../../js/node/assert.js"), None),
    library("node_async_hooks", include_str!("../../js/node/async_hooks.js"), Some(async_context::install_hooks)),
    library("node_buffer", include_str!("../../js/node/buffer.js"), Some(buffer::install)),
    library("node_buffer_encodings", include_str!("../../js/node/buffer_encodings.js"), None),
    library("node_buffer_methods", include_str!("../../js/node/buffer_methods.js"), Some(buffer::install)),
    library("node_buffer_numbers", include_str!("../../js/node/buffer_numbers.js"), None),
    library("node_process", include_str!("../../js/node/process.js"), None),
    library("node_test", include_str!("../../js/node/test.js"), None),
    library("node_timers", include_str!("../../js/node/timers.js"), None),
    library("node_timers_promises", include_str!("../../js/node/timers_promises.js"), None),
    library("node_util", include_str!("../../js/node/util.js"), None),
    library("node_util_types", include_str!("../../js/node/util_types.js"), Some(inspect::install_types)),
    Room {
        name: "compat",
        source: include_str!("../../js/compat.js"),
        on_scope: &[],
        on_global: &["Cloudflare"],
        native: Some(compat::install),
    },
    Room {
        name: "dom_exception",
        source: include_str!("../../js/dom_exception.js"),
        on_scope: &["DOMException"],
        on_global: &[],
        native: None,
    },
    Room {
        name: "events",
        source: include_str!("../../js/events.js"),
        on_scope: &[
            "Event",
            "EventTarget",
            "CustomEvent",
            "ExtendableEvent",
            "ErrorEvent",
            "MessageEvent",
            "CloseEvent",
            "PromiseRejectionEvent",
            "addEventListener",
            "removeEventListener",
            "dispatchEvent",
            "reportError",
        ],
        on_global: &[],
        native: Some(timers::install_errors),
    },
    Room {
        name: "abort",
        source: include_str!("../../js/abort.js"),
        on_scope: &["AbortController", "AbortSignal"],
        on_global: &[],
        native: None,
    },
    Room {
        name: "timers",
        source: include_str!("../../js/timers.js"),
        on_scope: &["setTimeout", "clearTimeout", "setInterval", "clearInterval", "queueMicrotask"],
        on_global: &["scheduler"],
        native: Some(timers::install),
    },
    Room {
        name: "base64",
        source: include_str!("../../js/base64.js"),
        on_scope: &["atob", "btoa"],
        on_global: &[],
        native: Some(base64::install),
    },
    Room {
        name: "encoding",
        source: include_str!("../../js/encoding.js"),
        on_scope: &["TextEncoder", "TextDecoder"],
        on_global: &[],
        native: Some(encoding::install),
    },
    Room {
        name: "url",
        source: include_str!("../../js/url.js"),
        on_scope: &["URL", "URLSearchParams"],
        on_global: &[],
        native: Some(url::install),
    },
    Room {
        name: "caches",
        source: include_str!("../../js/caches.js"),
        on_scope: &["Cache", "CacheStorage"],
        on_global: &["caches"],
        native: Some(workers::install_caches),
    },
    Room {
        name: "url_pattern",
        source: include_str!("../../js/url_pattern.js"),
        on_scope: &["URLPattern"],
        on_global: &[],
        native: Some(url_pattern::install),
    },
    Room {
        name: "structured_clone",
        source: include_str!("../../js/structured_clone.js"),
        on_scope: &["structuredClone"],
        on_global: &[],
        native: Some(structured_clone::install),
    },
    Room {
        name: "navigator",
        source: include_str!("../../js/navigator.js"),
        on_scope: &["Navigator"],
        on_global: &["navigator"],
        native: Some(timers::install_clock),
    },
    library("streams_support", include_str!("../../js/streams_support.js"), None),
    library("streams_source", include_str!("../../js/streams_source.js"), None),
    library("streams_sink", include_str!("../../js/streams_sink.js"), None),
    library("streams_native", include_str!("../../js/streams_native.js"), None),
    library("streams_native_sink", include_str!("../../js/streams_native_sink.js"), None),
    library("streams_derived", include_str!("../../js/streams_derived.js"), None),
    Room {
        name: "streams_byob",
        source: include_str!("../../js/streams_byob.js"),
        on_scope: &["ReadableStreamBYOBReader"],
        on_global: &[],
        native: None,
    },
    Room {
        name: "streams_strategies",
        source: include_str!("../../js/streams_strategies.js"),
        on_scope: &["CountQueuingStrategy", "ByteLengthQueuingStrategy"],
        on_global: &[],
        native: None,
    },
    library("streams_pipe", include_str!("../../js/streams_pipe.js"), None),
    Room {
        name: "streams_readable",
        source: include_str!("../../js/streams_readable.js"),
        on_scope: &["ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamDefaultController"],
        on_global: &[],
        native: None,
    },
    Room {
        name: "streams_byte",
        source: include_str!("../../js/streams_byte.js"),
        on_scope: &["ReadableStreamBYOBRequest", "ReadableByteStreamController"],
        on_global: &[],
        native: None,
    },
    Room {
        name: "streams_writable",
        source: include_str!("../../js/streams_writable.js"),
        on_scope: &["WritableStream", "WritableStreamDefaultWriter", "WritableStreamDefaultController"],
        on_global: &[],
        native: None,
    },
    Room {
        name: "streams_transform",
        source: include_str!("../../js/streams_transform.js"),
        on_scope: &["TransformStream", "TransformStreamDefaultController"],
        on_global: &[],
        native: None,
    },
    Room {
        name: "streams_identity",
        source: include_str!("../../js/streams_identity.js"),
        on_scope: &["IdentityTransformStream", "FixedLengthStream"],
        on_global: &[],
        native: None,
    },
    Room {
        name: "streams_encoding",
        source: include_str!("../../js/streams_encoding.js"),
        on_scope: &["TextEncoderStream", "TextDecoderStream", "CompressionStream", "DecompressionStream"],
        on_global: &[],
        native: Some(compression::install),
    },
    Room {
        name: "headers",
        source: include_str!("../../js/headers.js"),
        on_scope: &["Headers"],
        on_global: &[],
        native: None,
    },
    Room {
        name: "blob",
        source: include_str!("../../js/blob.js"),
        on_scope: &["Blob", "File"],
        on_global: &[],
        native: Some(timers::install_clock),
    },
    Room {
        name: "form_data",
        source: include_str!("../../js/form_data.js"),
        on_scope: &["FormData"],
        on_global: &[],
        native: Some(form_data::install),
    },
    library("body", include_str!("../../js/body.js"), None),
    library("body_coding", include_str!("../../js/body_coding.js"), Some(compression::install)),
    library("fetch_init", include_str!("../../js/fetch_init.js"), None),
    Room {
        name: "fetch",
        source: include_str!("../../js/fetch.js"),
        on_scope: &["Request", "Response", "Body", "fetch"],
        on_global: &[],
        native: Some(fetch::install),
    },
    Room {
        name: "html_rewriter",
        source: include_str!("../../js/html_rewriter.js"),
        on_scope: &["HTMLRewriter"],
        on_global: &[],
        native: Some(html_rewriter::install),
    },
    library("html_tokens", include_str!("../../js/html_tokens.js"), Some(html_rewriter::install_tokens)),
    Room {
        name: "crypto",
        source: include_str!("../../js/crypto.js"),
        on_scope: &["Crypto"],
        on_global: &["crypto"],
        native: Some(crypto::install_random),
    },
    Room {
        name: "crypto_subtle",
        source: include_str!("../../js/crypto_subtle.js"),
        on_scope: &["SubtleCrypto"],
        on_global: &[],
        native: Some(crypto::install_subtle),
    },
    Room {
        name: "crypto_key",
        source: include_str!("../../js/crypto_key.js"),
        on_scope: &["CryptoKey"],
        on_global: &[],
        native: Some(crypto::install_keys),
    },
    Room {
        name: "performance",
        source: include_str!("../../js/performance.js"),
        on_scope: &[
            "Performance",
            "PerformanceEntry",
            "PerformanceMark",
            "PerformanceMeasure",
            "PerformanceResourceTiming",
            "PerformanceObserver",
            "PerformanceObserverEntryList",
        ],
        on_global: &["performance"],
        native: Some(timers::install_clock),
    },
    Room {
        name: "message_channel",
        source: include_str!("../../js/message_channel.js"),
        on_scope: &["MessageChannel", "MessagePort"],
        on_global: &[],
        native: Some(timers::install_handler_errors),
    },
    Room {
        name: "event_source",
        source: include_str!("../../js/event_source.js"),
        on_scope: &["EventSource"],
        on_global: &[],
        native: Some(timers::install_handler_errors),
    },
    library("websocket_pipe", include_str!("../../js/websocket_pipe.js"), Some(websocket::install_pipe)),
    Room {
        name: "websocket",
        source: include_str!("../../js/websocket.js"),
        on_scope: &["WebSocket", "WebSocketPair"],
        on_global: &[],
        native: Some(websocket::install),
    },
    library("crypto_algorithms", include_str!("../../js/crypto_algorithms.js"), None),
    library("crypto_import", include_str!("../../js/crypto_import.js"), Some(crypto::install_keys)),
    library("crypto_export", include_str!("../../js/crypto_export.js"), Some(crypto::install_keys)),
    library(
        "crypto_digest_stream",
        include_str!("../../js/crypto_digest_stream.js"),
        Some(crypto::install_digest_stream),
    ),
];
