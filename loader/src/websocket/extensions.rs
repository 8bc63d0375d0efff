//! permessage-deflate (RFC 7692): what is offered, and what comes of it. No other extension is known.
//!
//! Messages that go out are compressed with a window of 2¹⁵ bytes and no other, so an offer that asks this side for a
//! smaller one is not taken up; messages that come in may have been compressed with any.

use http::HeaderValue;

const NAME: &str = "permessage-deflate";
const SERVER_NO_CONTEXT_TAKEOVER: &str = "server_no_context_takeover";
const CLIENT_NO_CONTEXT_TAKEOVER: &str = "client_no_context_takeover";
const SERVER_MAX_WINDOW_BITS: &str = "server_max_window_bits";
const CLIENT_MAX_WINDOW_BITS: &str = "client_max_window_bits";

/// The size of the window that this side compresses with, as its binary logarithm.
const OWN_WINDOW_BITS: u8 = 15;

/// Whether a compressor remembers earlier messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Context {
    #[default]
    Kept,
    /// Each message stands for itself.
    PerMessage,
}

/// What both sides agreed on, of use to one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deflate {
    pub(crate) incoming: Context,
    pub(crate) outgoing: Context,
}

/// One offer, or one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parameters {
    server: Context,
    client: Context,
    server_bits: Option<u8>,
    client_bits: Option<Bits>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bits {
    /// Whatever the server likes.
    Any,
    AtMost(u8),
}

/// Reads what stands between two commas; `None` where it is not this extension, or not as the RFC has it.
fn parse(offer: &str) -> Option<Parameters> {
    let mut parts = offer.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case(NAME) {
        return None;
    }
    let mut parameters = Parameters::default();
    for part in parts {
        let (name, value) = match part.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(value.trim_start())),
            None => (part, None),
        };
        // A parameter twice is an error of the RFC's.
        let fresh = match (name, value) {
            (SERVER_NO_CONTEXT_TAKEOVER, None) => {
                std::mem::replace(&mut parameters.server, Context::PerMessage) == Context::Kept
            }
            (CLIENT_NO_CONTEXT_TAKEOVER, None) => {
                std::mem::replace(&mut parameters.client, Context::PerMessage) == Context::Kept
            }
            (SERVER_MAX_WINDOW_BITS, Some(value)) => parameters.server_bits.replace(bits(value)?).is_none(),
            (CLIENT_MAX_WINDOW_BITS, None) => parameters.client_bits.replace(Bits::Any).is_none(),
            (CLIENT_MAX_WINDOW_BITS, Some(value)) => {
                parameters.client_bits.replace(Bits::AtMost(bits(value)?)).is_none()
            }
            _ => false,
        };
        if !fresh {
            return None;
        }
    }
    Some(parameters)
}

fn bits(value: &str) -> Option<u8> {
    value.parse().ok().filter(|bits| (8..=15).contains(bits) && !value.starts_with(['+', '0']))
}

/// The offers in the lines of a header that are in order.
fn offers<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Parameters> {
    lines.flat_map(|line| line.split(',')).filter_map(|offer| parse(offer.trim()))
}

impl Parameters {
    fn to_header(self) -> Option<HeaderValue> {
        let mut text = NAME.to_owned();
        let mut add = |parameter: &str| {
            text.push_str("; ");
            text.push_str(parameter);
        };
        if self.client == Context::PerMessage {
            add(CLIENT_NO_CONTEXT_TAKEOVER);
        }
        if self.server == Context::PerMessage {
            add(SERVER_NO_CONTEXT_TAKEOVER);
        }
        match self.client_bits {
            Some(Bits::AtMost(bits)) => add(&format!("{CLIENT_MAX_WINDOW_BITS}={bits}")),
            Some(Bits::Any) => add(CLIENT_MAX_WINDOW_BITS),
            None => {}
        }
        if let Some(bits) = self.server_bits {
            add(&format!("{SERVER_MAX_WINDOW_BITS}={bits}"));
        }
        HeaderValue::from_str(&text).ok()
    }
}

/// As a server: what is made of the client's offers, where the Worker's own line says what it would have. The header that
/// answers the offer, and what it means.
pub(crate) fn accept<'a>(
    offered: impl Iterator<Item = &'a str>,
    wanted: impl Iterator<Item = &'a str>,
) -> Option<(HeaderValue, Deflate)> {
    let wanted = offers(wanted).next()?;
    let mut agreed = offers(offered).find(|offer| offer.server_bits.is_none_or(|bits| bits >= OWN_WINDOW_BITS))?;
    if wanted.server == Context::PerMessage {
        agreed.server = Context::PerMessage;
    }
    if agreed.client_bits == Some(Bits::Any) {
        agreed.client_bits = Some(Bits::AtMost(OWN_WINDOW_BITS));
    }
    Some((agreed.to_header()?, Deflate { incoming: agreed.client, outgoing: agreed.server }))
}

/// As a client: what is offered of what the Worker's request offers.
pub(crate) fn offer<'a>(wanted: impl Iterator<Item = &'a str>) -> Option<HeaderValue> {
    let wanted = offers(wanted).next()?;
    // Nothing is said of this side's window, so that the server cannot ask for another.
    Parameters { client_bits: None, ..wanted }.to_header()
}

/// As a client: what the server made of an offer; an error where it is not what it may be.
pub(crate) fn agreed<'a>(
    mut lines: impl Iterator<Item = &'a str>,
    offered: bool,
) -> Result<Option<Deflate>, &'static str> {
    let Some(line) = lines.next() else { return Ok(None) };
    if !offered {
        return Err("the server chose extensions that were not offered");
    }
    match parse(line.trim()) {
        Some(Parameters { client_bits: None, server, client, .. }) if lines.next().is_none() => {
            Ok(Some(Deflate { incoming: server, outgoing: client }))
        }
        _ => Err("the server chose extensions that were not offered"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(offered: &str, wanted: &str) -> Option<(String, Deflate)> {
        let (header, deflate) = accept([offered].into_iter(), [wanted].into_iter())?;
        Some((header.to_str().unwrap().to_owned(), deflate))
    }

    #[test]
    fn offers_are_answered() {
        let cases = [
            ("permessage-deflate", Some("permessage-deflate")),
            ("permessage-deflate; client_max_window_bits", Some("permessage-deflate; client_max_window_bits=15")),
            ("permessage-deflate;client_max_window_bits = 10", Some("permessage-deflate; client_max_window_bits=10")),
            ("permessage-deflate; server_max_window_bits=15", Some("permessage-deflate; server_max_window_bits=15")),
            (
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
                Some("permessage-deflate; client_no_context_takeover; server_no_context_takeover"),
            ),
            ("permessage-deflate; foo=1, x-foo, permessage-deflate", Some("permessage-deflate")),
            ("permessage-deflate; server_max_window_bits=10, permessage-deflate", Some("permessage-deflate")),
            ("permessage-deflate; server_max_window_bits=10", None),
            ("permessage-deflate; foo=1", None),
            ("permessage-deflate; server_max_window_bits=7", None),
            ("permessage-deflate; server_max_window_bits", None),
            ("permessage-deflate; server_max_window_bits=015", None),
            ("permessage-deflate; client_no_context_takeover=1", None),
            ("permessage-deflate; client_max_window_bits=\"10\"", None),
            ("permessage-deflate; client_max_window_bits; client_max_window_bits", None),
            ("x-webkit-deflate-frame", None),
            ("", None),
        ];
        for (offered, answer) in cases {
            assert_eq!(accepted(offered, offered).as_ref().map(|(header, _)| header.as_str()), answer, "{offered}");
        }
        let (header, deflate) = accepted(NAME, "permessage-deflate; server_no_context_takeover").unwrap();
        assert_eq!(header, "permessage-deflate; server_no_context_takeover");
        assert_eq!(deflate, Deflate { incoming: Context::Kept, outgoing: Context::PerMessage });
        assert_eq!(accepted(NAME, "foo"), None, "the Worker wants none");
    }

    #[test]
    fn answers_of_servers() {
        let agreed = |line: &str, offered| agreed([line].into_iter(), offered);
        assert_eq!(agreed(NAME, true), Ok(Some(Deflate::default())));
        let answer = "permessage-deflate; server_no_context_takeover; server_max_window_bits=9";
        let deflate = Deflate { incoming: Context::PerMessage, outgoing: Context::Kept };
        assert_eq!(agreed(answer, true), Ok(Some(deflate)));
        assert!(agreed(NAME, false).is_err());
        for line in ["x", "permessage-deflate; client_max_window_bits=9", "permessage-deflate, permessage-deflate"] {
            assert!(agreed(line, true).is_err(), "{line}");
        }
        assert_eq!(super::agreed(std::iter::empty(), true), Ok(None));
        let offered = offer(["permessage-deflate; client_max_window_bits; server_no_context_takeover"].into_iter());
        assert_eq!(offered.unwrap(), "permessage-deflate; server_no_context_takeover");
    }
}
