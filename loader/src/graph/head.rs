//! Request heads that hyper lets through and that are refused here: what two readers of the same bytes might take for
//! different requests, and what names no place. (Of Content-Length and Transfer-Encoding together, hyper believes the
//! second, does not show the first, and closes the connection after its answer.)

use http::StatusCode;
use http::header::HOST;
use http::request::Parts;

/// The methods that a request may have: those the platform knows.
const METHODS: [&str; 28] = [
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "PURGE",
    "OPTIONS",
    "TRACE",
    "COPY",
    "LOCK",
    "MKCOL",
    "MOVE",
    "PROPFIND",
    "PROPPATCH",
    "SEARCH",
    "UNLOCK",
    "ACL",
    "REPORT",
    "MKACTIVITY",
    "CHECKOUT",
    "MERGE",
    "MSEARCH",
    "NOTIFY",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "QUERY",
    "BAN",
];

/// Why a request is refused before anybody sees it: status and text.
pub(super) fn refusal(head: &Parts) -> Option<(StatusCode, &'static str)> {
    if !METHODS.contains(&head.method.as_str()) {
        return Some((StatusCode::NOT_IMPLEMENTED, "ERROR: Unrecognized request method."));
    }
    let mut hosts = head.headers.get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return bad("ERROR: A request must not have more than one Host.");
    }
    let host = match host.map(|host| host.to_str().map(str::parse::<http::uri::Authority>)) {
        None => None,
        Some(Ok(Ok(host))) if !host.as_str().contains('@') => Some(host),
        Some(_) => return bad("ERROR: The Host of this request is not a host."),
    };
    match (head.uri.scheme(), head.uri.authority()) {
        // Of the two, a proxy would believe the target and a server the header.
        (Some(_), Some(target)) if host.as_ref().is_some_and(|host| host != target) => {
            bad("ERROR: The Host of this request is not the one of its target.")
        }
        (None, Some(_)) => bad("ERROR: The target of this request has no path."),
        _ => None,
    }
}

fn bad(text: &'static str) -> Option<(StatusCode, &'static str)> {
    Some((StatusCode::BAD_REQUEST, text))
}
