//! What there is besides calls: the context, and the global scope.

pub(super) const CASES: &[(&str, &str, &str)] = &[
    // The rest.
    (
        "hang",
        "return service.hang()",
        "Error: The Workers runtime canceled this request because it detected that your Worker's code had hung and \
         would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/",
    ),
    ("withEnv", "return withEnv({ a: 1 }, async () => { await null; return env.a })", "1"),
    ("imported waitUntil", "return waitUntil(Promise.resolve(1))", "undefined"),
    // Of the global scope.
    (
        "an error of a microtask is an event",
        "const told = new Promise((done) => addEventListener('error', (e) => { done(e.message); return true; }, \
         { once: true })); queueMicrotask(() => { throw new Error('m'); }); return told",
        "\"Uncaught Error: m\"",
    ),
    (
        "a late handler is told of",
        "const told = new Promise((done) => addEventListener('rejectionhandled', () => done('late'), { once: true })); \
         addEventListener('unhandledrejection', (e) => { e.promise.catch(() => {}); return true; }, { once: true }); \
         Promise.reject('r'); return told",
        "\"late\"",
    ),
    (
        "timers are bounded",
        "for (let i = 0; i < 10_000; i++) setTimeout(() => {}, 1e6); setTimeout(() => {})",
        "QuotaExceededError: You have exceeded the number of active timeouts you may set. max active timeouts: 10000, \
         current active timeouts: 10000, finished timeouts: 0",
    ),
    (
        "a URL with a user and no password",
        "const u = new URL('ws://user@a.test'); u.username = ''; return [u.href, u.password]",
        r#"["ws://a.test/",""]"#,
    ),
    (
        "the platform's classes are marked",
        "const mark = Symbol.for('cloudflare:internal-class'); return Headers.prototype[mark] === mark",
        "true",
    ),
];
