//! What a match answers with: the response that is kept, or what a condition or a range leaves of it (RFC 9110 13 and 14).

use std::time::Instant;

use bytes::Bytes;

use super::body_of;
use super::store::Stored;
use crate::fetch::{Body, FetchResponse, header};

/// What a request asks for of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// From, and up to without.
    Range(usize, usize),
    Unsatisfiable,
}

impl Stored {
    /// The answer to a request with these headers.
    pub(super) fn answer(
        &self,
        request: &[(String, String)],
        now: Instant,
        tasks: &tokio::runtime::Handle,
    ) -> FetchResponse {
        let length = self.body.len();
        let (status, text, body, range) = if self.is_not_modified(request) {
            (304, "Not Modified", None, None)
        } else {
            match self.part(request) {
                Part::Whole => (self.head.status, &*self.head.status_text, Some(self.body.clone()), None),
                Part::Range(from, to) => {
                    let range = format!("bytes {from}-{}/{length}", to - 1);
                    (206, "Partial Content", Some(self.body.slice(from..to)), Some(range))
                }
                Part::Unsatisfiable => {
                    (416, "Range Not Satisfiable", Some(Bytes::new()), Some(format!("bytes */{length}")))
                }
            }
        };
        let own = |name: &str| name.eq_ignore_ascii_case("cf-cache-status") || name.eq_ignore_ascii_case("age");
        let mut headers: Vec<_> = self.head.headers.iter().filter(|(name, _)| !own(name)).cloned().collect();
        headers.extend(range.map(|range| ("Content-Range".to_owned(), range)));
        headers.extend(body.as_ref().map(|body| ("Content-Length".to_owned(), body.len().to_string())));
        let before = header(&self.head.headers, "age").and_then(|age| age.trim().parse().ok()).unwrap_or(0);
        let age = now.saturating_duration_since(self.kept_at).as_secs().saturating_add(before);
        headers.push(("Age".to_owned(), age.to_string()));
        headers.push(("CF-Cache-Status".to_owned(), "HIT".to_owned()));
        FetchResponse {
            status,
            status_text: text.to_owned(),
            headers,
            body: body.map_or(Body::Empty, |body| body_of(body, tasks)),
            web_socket: None,
        }
    }

    /// Whether the one who asks has it already.
    fn is_not_modified(&self, request: &[(String, String)]) -> bool {
        if let Some(wanted) = header(request, "if-none-match") {
            let Some(etag) = header(&self.head.headers, "etag") else { return false };
            return wanted.trim() == "*" || wanted.split(',').any(|tag| weak(tag) == weak(etag));
        }
        let date = |headers, name| header(headers, name).and_then(|date| httpdate::parse_http_date(date.trim()).ok());
        let since = date(request, "if-modified-since");
        let modified = date(&self.head.headers, "last-modified");
        matches!((since, modified), (Some(since), Some(modified)) if modified <= since)
    }

    fn part(&self, request: &[(String, String)]) -> Part {
        let Some(range) = header(request, "range").filter(|_| self.head.status == 200) else { return Part::Whole };
        if let Some(only_if) = header(request, "if-range") {
            let same = ["etag", "last-modified"].iter().filter_map(|name| header(&self.head.headers, name));
            let mut same = same.filter(|value| !value.starts_with("W/"));
            if !same.any(|value| value.trim() == only_if.trim()) {
                return Part::Whole;
            }
        }
        range_of(range, self.body.len())
    }
}

/// An entity tag for weak comparison.
fn weak(tag: &str) -> &str {
    let tag = tag.trim();
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// One range of bytes. Several, and what is not understood, are the whole: a server may ignore them.
fn range_of(value: &str, length: usize) -> Part {
    let Some((unit, spec)) = value.split_once('=') else { return Part::Whole };
    let Some((first, last)) = spec.trim().split_once('-') else { return Part::Whole };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return Part::Whole;
    }
    let (first, last) = (first.trim(), last.trim());
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // What does not fit is larger than any body.
    let number = |text: &str| text.parse().unwrap_or(usize::MAX);
    match (first, last) {
        ("", last) if digits(last) => match number(last).min(length) {
            0 => Part::Unsatisfiable,
            count => Part::Range(length - count, length),
        },
        (first, last) if digits(first) && (last.is_empty() || digits(last)) => {
            let (first, last) = (number(first), if last.is_empty() { usize::MAX } else { number(last) });
            match (first, last) {
                (first, last) if last < first => Part::Whole,
                (first, _) if first >= length => Part::Unsatisfiable,
                (first, last) => Part::Range(first, last.saturating_add(1).min(length)),
            }
        }
        _ => Part::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let cases = [
            ("bytes=0-1", Part::Range(0, 2)),
            ("bytes=2-", Part::Range(2, 10)),
            ("bytes=-3", Part::Range(7, 10)),
            ("bytes=-30", Part::Range(0, 10)),
            ("bytes=8-99999999999999999999999", Part::Range(8, 10)),
            ("bytes=10-", Part::Unsatisfiable),
            ("bytes=-0", Part::Unsatisfiable),
            ("bytes=3-2", Part::Whole),
            ("bytes=0-1,3-4", Part::Whole),
            ("bytes=x", Part::Whole),
            ("lines=0-1", Part::Whole),
            ("bytes=-", Part::Whole),
        ];
        for (value, part) in cases {
            assert_eq!(range_of(value, 10), part, "{value}");
        }
        assert_eq!(range_of("bytes=0-", 0), Part::Unsatisfiable);
    }
}
