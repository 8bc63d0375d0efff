//! The body of a `PUT`: a whole HTTP response. Its body is as it is, whatever `Transfer-Encoding` says.

use bytes::{Bytes, BytesMut};

use super::Head;

/// Bytes of a response's head.
const HEAD_BYTES_MAX: usize = 128 << 10;

/// Header lines of a response's head.
const HEAD_LINES_MAX: usize = 1_024;

/// Headers that say how a body is framed, or belong to a connection: they are not the response's.
const FRAMING: [&str; 7] =
    ["content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade"];

/// Why something is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PayloadError {
    NotHttp,
    HeadTooLarge,
    /// The body is shorter or longer than its head says.
    WrongLength,
}

/// A response that arrives piece by piece.
#[derive(Default)]
pub(super) struct Payload {
    /// What came of the head, until it is whole.
    start: BytesMut,
    head: Option<Head>,
    length: Option<usize>,
    pieces: Vec<Bytes>,
}

impl Payload {
    pub(super) fn push(&mut self, bytes: Bytes) -> Result<(), PayloadError> {
        if self.head.is_some() {
            self.pieces.push(bytes);
            return Ok(());
        }
        self.start.extend_from_slice(&bytes);
        let mut lines = [httparse::EMPTY_HEADER; HEAD_LINES_MAX];
        let mut response = httparse::Response::new(&mut lines);
        let end = match response.parse(&self.start) {
            Ok(httparse::Status::Complete(end)) if end <= HEAD_BYTES_MAX => end,
            Ok(httparse::Status::Partial) if self.start.len() <= HEAD_BYTES_MAX => return Ok(()),
            Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(PayloadError::HeadTooLarge),
            Err(_) => return Err(PayloadError::NotHttp),
        };
        let mut headers = Vec::with_capacity(response.headers.len());
        for line in response.headers.iter() {
            // Byte strings: each char one byte.
            let value: String = line.value.iter().copied().map(char::from).collect();
            if line.name.eq_ignore_ascii_case("content-length") {
                self.length = Some(value.parse().map_err(|_| PayloadError::NotHttp)?);
            }
            if !FRAMING.iter().any(|name| line.name.eq_ignore_ascii_case(name)) {
                headers.push((line.name.to_owned(), value));
            }
        }
        self.head = Some(Head {
            status: response.code.filter(|code| (200..600).contains(code)).ok_or(PayloadError::NotHttp)?,
            status_text: response.reason.unwrap_or_default().to_owned(),
            headers,
        });
        let start = std::mem::take(&mut self.start).freeze();
        self.pieces.push(start.slice(end..));
        Ok(())
    }

    /// The head, once it is whole.
    pub(super) fn head_mut(&mut self) -> Option<&mut Head> {
        self.head.as_mut()
    }

    /// All of it has come.
    pub(super) fn finish(self) -> Result<(Head, Bytes), PayloadError> {
        let head = self.head.ok_or(PayloadError::NotHttp)?;
        // Into a buffer of its own size: the pieces may be parts of larger ones.
        let mut body = Vec::with_capacity(self.pieces.iter().map(Bytes::len).sum());
        for piece in &self.pieces {
            body.extend_from_slice(piece);
        }
        if self.length.is_some_and(|length| length != body.len()) {
            return Err(PayloadError::WrongLength);
        }
        Ok((head, body.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pieces: &[&str]) -> Result<(Head, Bytes), PayloadError> {
        let mut payload = Payload::default();
        for piece in pieces {
            payload.push(Bytes::copy_from_slice(piece.as_bytes()))?;
        }
        payload.finish()
    }

    #[test]
    fn responses() {
        let (head, body) =
            parse(&["HTTP/1.1 201 Ma", "de\r\nContent-Length: 5\r\nX-A: 1\r\nx-a: 2\r\n", "\r\nhe", "llo"]).unwrap();
        assert_eq!((head.status, head.status_text.as_str(), &*body), (201, "Made", &b"hello"[..]));
        assert_eq!(head.headers, [("X-A".to_owned(), "1".to_owned()), ("x-a".to_owned(), "2".to_owned())]);
        let (head, body) = parse(&["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\n"]).unwrap();
        assert_eq!((head.headers.len(), &*body), (0, &b"3\r\n"[..]));
    }

    #[test]
    fn others() {
        let long = format!("HTTP/1.1 200 OK\r\nx: {}", "x".repeat(HEAD_BYTES_MAX));
        let cases: [(&[&str], PayloadError); 6] = [
            (&[], PayloadError::NotHttp),
            (&["HTTP/1.1 200 OK\r\n"], PayloadError::NotHttp),
            (&["nonsense\r\n\r\n"], PayloadError::NotHttp),
            (&["HTTP/1.1 101 Switching Protocols\r\n\r\n"], PayloadError::NotHttp),
            (&["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "x"], PayloadError::WrongLength),
            (&[&long], PayloadError::HeadTooLarge),
        ];
        for (pieces, error) in cases {
            assert_eq!(parse(pieces).unwrap_err(), error, "{pieces:?}");
        }
    }
}
