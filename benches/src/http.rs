//! A client for exactly one thing: GET over a kept connection, answered with a Content-Length. Written here so that
//! nothing but the server is measured.

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
    /// The connection broke, or the answer is no `200` with a Content-Length.
    pub(crate) fn get(&mut self, path: &str) -> io::Result<String> {
        write!(self.reader.get_mut(), "GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n")?;
        let status = self.line()?;
        if !status.starts_with("HTTP/1.1 200 ") {
            return Err(io::Error::other(format!("{path} was answered with {status}")));
        }
        let mut length = None;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok();
            }
        }
        let mut body = vec![0; length.ok_or_else(|| io::Error::other("no Content-Length"))?];
        self.reader.read_exact(&mut body)?;
        String::from_utf8(body).map_err(io::Error::other)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}
