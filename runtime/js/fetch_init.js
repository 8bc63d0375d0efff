// What may be given to make requests and responses: read, checked and brought into their internal form.
'use strict';
const { TypeError } = primordials;
const { badField } = load('webidl');
const { Headers } = load('headers');
const { has } = load('compat');

const METHODS = new Set([
  'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'PURGE', 'OPTIONS', 'TRACE', 'COPY', 'LOCK', 'MKCOL', 'MOVE',
  'PROPFIND', 'PROPPATCH', 'SEARCH', 'UNLOCK', 'ACL', 'REPORT', 'MKACTIVITY', 'CHECKOUT', 'MERGE', 'MSEARCH', 'NOTIFY',
  'SUBSCRIBE', 'UNSUBSCRIBE', 'QUERY', 'BAN',
]);
// Those that the Fetch standard brings into upper case.
const NORMALIZED = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);

function isObject(value) {
  return (typeof value === 'object' || typeof value === 'function') && value !== null;
}

function readMethod(value) {
  const text = `${value}`;
  if (METHODS.has(text)) return text;
  const upper = text.toUpperCase();
  if (METHODS.has(upper) && (NORMALIZED.has(upper) || has('upper_case_all_http_methods'))) return upper;
  throw new TypeError(`Invalid HTTP method string: ${text}`);
}

function readRedirect(value) {
  const text = `${value}`.toLowerCase();
  if (text === 'follow' || text === 'manual') return text;
  throw new TypeError(
    'Invalid redirect value, must be one of "follow" or "manual" ("error" won\'t be implemented since it does not make sense at the edge; use "manual" and check the response status code).',
  );
}

// A `cf` object, as it will cross: JSON.
function readCf(struct, value) {
  if (!isObject(value)) badField(struct, 'cf', 'Object');
  return cloneCf(value);
}

function cloneCf(cf) {
  return cf === undefined ? undefined : primordials.jsonParse(primordials.jsonStringify(cf));
}

function readHeaders(struct, value) {
  if (!isObject(value)) badField(struct, 'headers', 'Headers or Sequence or object');
  return new Headers(value);
}

function readEncoding(field, value) {
  const text = `${value}`;
  if (text !== 'automatic' && text !== 'manual') throw new TypeError(`${field}: unexpected value: ${text}`);
  return text;
}

function readCache(value) {
  const text = `${value}`;
  if (!has('cache_option_enabled')) {
    throw new primordials.Error("The 'cache' field on 'RequestInitializerDict' is not implemented.");
  }
  const known =
    text === 'no-store' ||
    (text === 'no-cache' && has('cache_no_cache_enabled')) ||
    (text === 'reload' && has('cache_reload_enabled'));
  if (!known) throw new TypeError(`Unsupported cache mode: ${text}`);
  return text;
}

function isService(value) {
  const { stateOf, SERVICE, LOOPBACK } = load('rpc');
  const kind = stateOf(value)?.kind;
  return kind === SERVICE || kind === LOOPBACK;
}

const REQUEST = 'RequestInitializerDict';

// The members of a request's dictionary that were given, in internal form.
function readRequestInit(init) {
  const read = { __proto__: null };
  const { method, headers, body, redirect, fetcher, cf, cache, integrity, signal, encodeResponseBody } = init;
  if (fetcher !== undefined && fetcher !== null && !isService(fetcher)) badField(REQUEST, 'fetcher', 'Fetcher');
  if (signal !== undefined && signal !== null && !load('abort').isAbortSignal(signal)) badField(REQUEST, 'signal', 'AbortSignal');
  if (headers !== undefined) read.headers = readHeaders(REQUEST, headers);
  if (cf !== undefined && !isObject(cf)) badField(REQUEST, 'cf', 'Object');
  if (cache !== undefined) read.cache = readCache(cache);
  if (cf !== undefined) checkCacheControl(cf, cache !== undefined);
  if (encodeResponseBody !== undefined) read.encodeResponseBody = readEncoding('encodeResponseBody', encodeResponseBody);
  if (integrity !== undefined && `${integrity}` !== '') {
    throw new TypeError(
      'Subrequest integrity checking is not implemented. The integrity option must be either undefined or an empty string.',
    );
  }
  if (method !== undefined) read.method = readMethod(method);
  if (fetcher !== undefined) read.fetcher = fetcher;
  if (signal !== undefined) read.signal = signal;
  if (cf !== undefined) read.cf = cloneCf(cf);
  if (body !== undefined) read.body = body;
  if (redirect !== undefined) read.redirect = readRedirect(redirect);
  return read;
}

function checkCacheControl(cf, hasCache) {
  if (cf.cacheControl === undefined) return;
  if (cf.cacheTtl !== undefined) {
    throw new TypeError(
      "The 'cacheControl' and 'cacheTtl' options on cf are mutually exclusive. Use 'cacheControl' for explicit Cache-Control header directives, or 'cacheTtl' for a simplified TTL, but not both.",
    );
  }
  if (hasCache) {
    throw new TypeError(
      "The 'cacheControl' option on cf cannot be used together with the 'cache' request option. The 'cache' option ('no-store'/'no-cache') maps to cache TTL behavior internally, which conflicts with explicit Cache-Control directives.",
    );
  }
}

// The `cf` that goes with a request: what its cache mode means there, and `cacheControl` beside a `cacheTtl`.
function outgoingCf(cf, cache) {
  if (cache === undefined) {
    if (cf?.cacheTtl === undefined || 'cacheControl' in cf) return cf;
    return withCacheControl(cf);
  }
  const out = { ...cf };
  if (cache === 'no-store') {
    if ('cacheTtl' in out && out.cacheTtl !== -1) {
      throw new TypeError(`CacheTtl: ${out.cacheTtl}, is not compatible with cache: no-store header.`);
    }
    out.cacheTtl = -1;
  }
  if (cache === 'no-cache') out.cacheForceRevalidate = true;
  else out.cacheLevel = 'bypass';
  if (cache !== 'reload' && !('cacheControl' in out) && !has('cache_option_preserves_cache_control')) out.cacheControl = cache;
  return out;
}

function withCacheControl(cf) {
  const ttl = cf.cacheTtl;
  if (ttl === -1) return { ...cf, cacheControl: 'no-store' };
  return typeof ttl === 'number' && (ttl | 0) === ttl ? { ...cf, cacheControl: `max-age=${ttl}` } : cf;
}

return { isObject, readMethod, readRequestInit, readCf, cloneCf, readHeaders, readEncoding, outgoingCf };
