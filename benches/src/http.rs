//! A client for exactly one thing: requests over a kept connection, one after the other. Written here so that nothing but
//! the server is measured.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
}

impl Connection {
    /// # Errors
    /// Nobody listens there.
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(Self { reader: BufReader::new(stream) })
    }

    /// # Errors
    /// The connection broke, or the answer is no `200`, or no text.
    pub(crate) fn get(&mut self, path: &str) -> io::Result<String> {
        self.send(path, None)?;
        String::from_utf8(self.answer(path)?).map_err(io::Error::other)
    }

    /// Sends a POST with a body, or a GET without one; answers how many bytes came back.
    ///
    /// # Errors
    /// The connection broke, or the answer is no `200`.
    pub(crate) fn exchange(&mut self, path: &str, body: Option<&[u8]>) -> io::Result<usize> {
        self.send(path, body)?;
        Ok(self.answer(path)?.len())
    }

    fn send(&mut self, path: &str, body: Option<&[u8]>) -> io::Result<()> {
        let stream = self.reader.get_mut();
        match body {
            None => write!(stream, "GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n"),
            Some(body) => {
                write!(stream, "POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Length: {}\r\n\r\n", body.len())?;
                stream.write_all(body)
            }
        }
    }

    fn answer(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let status = self.line()?;
        if !status.starts_with("HTTP/1.1 200 ") {
            return Err(io::Error::other(format!("{path} was answered with {status}")));
        }
        let mut length = None;
        let mut chunked = false;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                match name.to_ascii_lowercase().as_str() {
                    "content-length" => length = value.trim().parse().ok(),
                    "transfer-encoding" => chunked = value.trim().eq_ignore_ascii_case("chunked"),
                    _ => {}
                }
            }
        }
        let mut body = Vec::new();
        if chunked {
            while self.chunk(&mut body)? {}
            return Ok(body);
        }
        body.resize(length.ok_or_else(|| io::Error::other("no Content-Length"))?, 0);
        self.reader.read_exact(&mut body)?;
        Ok(body)
    }

    /// Reads one chunk, and whether it was not the last.
    fn chunk(&mut self, body: &mut Vec<u8>) -> io::Result<bool> {
        let size = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
        let start = body.len();
        body.resize(start + size, 0);
        self.reader.read_exact(&mut body[start..])?;
        self.line()?;
        Ok(size > 0)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}
