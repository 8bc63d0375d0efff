//! Whether a response may be kept in a shared cache, and for how long (RFC 9111 3 and 4.2, and Cloudflare's rules for its
//! Cache API: a response that sets cookies is not kept, and one that says nothing is kept for a time that its status
//! decides).

use std::time::{Duration, SystemTime};

use super::Head;
use crate::fetch::header;

/// How long a response is kept that does not say, by its status.
const BY_STATUS: [(u16, Duration); 6] = [
    (200, Duration::from_secs(7_200)),
    (301, Duration::from_secs(7_200)),
    (302, Duration::from_secs(1_200)),
    (303, Duration::from_secs(1_200)),
    (404, Duration::from_secs(180)),
    (410, Duration::from_secs(180)),
];

/// The longest that anything is kept.
const LIFETIME_MAX: Duration = Duration::from_secs(365 * 86_400);

/// How long the response stays fresh from now on; `None`: it is not to be kept. Takes the cookies out of a head whose
/// `Cache-Control` says that they are not for others.
pub(super) fn lifetime(head: &mut Head, now: SystemTime) -> Option<Duration> {
    let directives = Directives::of(head);
    if header(&head.headers, "set-cookie").is_some() {
        if !directives.names_field("private", "set-cookie") && !directives.names_field("no-cache", "set-cookie") {
            return None;
        }
        head.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("set-cookie"));
    }
    if directives.has("no-store") || directives.is_bare("private") || directives.is_bare("no-cache") {
        return None;
    }
    let given = match directives.seconds("s-maxage").or_else(|| directives.seconds("max-age")) {
        Some(seconds) => Some(Duration::from_secs(seconds)),
        None => header(&head.headers, "expires").map(|expires| until(expires, head, now)),
    };
    let given = match given {
        Some(given) => given,
        None => BY_STATUS.iter().find(|(status, _)| *status == head.status)?.1,
    };
    let age = header(&head.headers, "age").and_then(|age| age.trim().parse().ok()).unwrap_or(0);
    let left = given.min(LIFETIME_MAX).checked_sub(Duration::from_secs(age))?;
    (left > Duration::ZERO).then_some(left)
}

/// From the response's own date, if it has one, to when it expires. What is no date has expired.
fn until(expires: &str, head: &Head, now: SystemTime) -> Duration {
    let date = header(&head.headers, "date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    let expires = httpdate::parse_http_date(expires.trim()).ok();
    expires.and_then(|expires| expires.duration_since(date).ok()).unwrap_or_default()
}

/// The directives of `Cache-Control`, names in lower case.
struct Directives(Vec<(String, Option<String>)>);

impl Directives {
    fn of(head: &Head) -> Self {
        let lines = head.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("cache-control"));
        Self(lines.flat_map(|(_, value)| split(value)).filter_map(directive).collect())
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(given, _)| given == name)
    }

    /// Whether it is there and concerns the whole response.
    fn is_bare(&self, name: &str) -> bool {
        self.0.iter().any(|(given, fields)| given == name && fields.is_none())
    }

    fn names_field(&self, name: &str, field: &str) -> bool {
        let fields = self.0.iter().filter(|(given, _)| given == name).filter_map(|(_, fields)| fields.as_deref());
        fields.flat_map(|fields| fields.split(',')).any(|given| given.trim().eq_ignore_ascii_case(field))
    }

    /// An age; what is no number is none at all (RFC 9111 4.2.1).
    fn seconds(&self, name: &str) -> Option<u64> {
        let (_, value) = self.0.iter().find(|(given, _)| given == name)?;
        Some(value.as_deref().and_then(|value| value.trim().parse().ok()).unwrap_or(0))
    }
}

/// Parts between commas that are not in quotes.
fn split(value: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    value.split(move |character| {
        quoted ^= character == '"';
        character == ',' && !quoted
    })
}

fn directive(part: &str) -> Option<(String, Option<String>)> {
    let (name, value) = match part.split_once('=') {
        Some((name, value)) => (name, Some(value.trim().trim_matches('"').to_owned())),
        None => (part, None),
    };
    let name = name.trim().to_ascii_lowercase();
    (!name.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:00:00 GMT").unwrap();
        let cases: [(u16, &[(&str, &str)], Option<u64>); 22] = [
            (200, &[], Some(7_200)),
            (302, &[], Some(1_200)),
            (404, &[], Some(180)),
            (500, &[], None),
            (500, &[("cache-control", "max-age=5")], Some(5)),
            (200, &[("Cache-Control", "public, max-age=60")], Some(60)),
            (200, &[("cache-control", "max-age=60, s-maxage=\"5\"")], Some(5)),
            (200, &[("cache-control", "MAX-AGE=60"), ("cache-control", "no-store")], None),
            (200, &[("cache-control", "private, max-age=60")], None),
            (200, &[("cache-control", "no-cache")], None),
            (200, &[("cache-control", "private=\"x-a, x-b\", max-age=60")], Some(60)),
            (200, &[("cache-control", "max-age=0")], None),
            (200, &[("cache-control", "max-age=soon")], None),
            (200, &[("cache-control", "max-age=60"), ("age", "20")], Some(40)),
            (200, &[("cache-control", "max-age=60"), ("age", "60")], None),
            (200, &[("expires", "Wed, 21 Oct 2026 07:01:00 GMT")], Some(60)),
            (200, &[("expires", "Wed, 21 Oct 2026 06:01:00 GMT")], None),
            (200, &[("expires", "0")], None),
            (200, &[("expires", "Wed, 21 Oct 2020 07:01:00 GMT"), ("date", "Wed, 21 Oct 2020 07:00:00 GMT")], Some(60)),
            (200, &[("expires", "0"), ("cache-control", "max-age=7")], Some(7)),
            (200, &[("set-cookie", "a=b"), ("cache-control", "max-age=7")], None),
            (200, &[("set-cookie", "a=b"), ("cache-control", "max-age=7, private=Set-Cookie")], Some(7)),
        ];
        for (status, headers, seconds) in cases {
            let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let mut head = Head { status, status_text: String::new(), headers };
            let found = lifetime(&mut head, now);
            assert_eq!(found, seconds.map(Duration::from_secs), "{head:?}");
            assert!(found.is_none() || header(&head.headers, "set-cookie").is_none(), "{head:?}");
        }
    }
}
