//! A server with workerd's arguments, the real one or `loaderd serve`: `worker/parent.js` loads Workers, one a request,
//! timed from here over a kept connection on loopback.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::figures::Contender;
use crate::http::Connection;
use crate::memory::resident_bytes;
use crate::stats::Samples;
use crate::{Effort, ISOLATES_HELD, PAUSE, Pace};

/// Connections that ask for hello world at the same time.
const HELLO_CONNECTIONS: usize = 8;

/// A running server; ended when dropped.
pub(crate) struct Server {
    name: &'static str,
    child: Child,
    address: SocketAddr,
    /// Kept open, so that the server may go on writing to it.
    told: Option<BufReader<ChildStdout>>,
}

/// What only a server has.
pub(crate) struct ServedFigures {
    pub(crate) name: &'static str,
    /// A request that loads nothing.
    pub(crate) hello: Option<Samples>,
    pub(crate) hello_per_second: f64,
    /// A call of a Worker that `get()` keeps loaded.
    pub(crate) warm_call: Option<Samples>,
}

impl Server {
    /// # Errors
    /// The binary is not there, or ends without listening.
    pub(crate) fn start(name: &'static str, binary: &Path, config: &str) -> io::Result<Self> {
        let config = format!("{}/worker/{config}", env!("CARGO_MANIFEST_DIR"));
        // The server takes a free port and says which: one that is chosen for it may be somebody else's by then.
        let child = Command::new(binary)
            .args(["serve", "--experimental", "--control-fd=1", "--socket-addr=http=127.0.0.1:0", &config])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut server = Self { name, child, address: SocketAddr::from(([127, 0, 0, 1], 0)), told: None };
        let told = server.child.stdout.take().ok_or_else(|| io::Error::other("no standard output"))?;
        let mut told = BufReader::new(told);
        let mut line = String::new();
        told.read_line(&mut line)?;
        let port = serde_json::from_str::<serde_json::Value>(&line).ok().and_then(|event| event.get("port")?.as_u64());
        let port = port.and_then(|port| u16::try_from(port).ok());
        server.address.set_port(port.ok_or_else(|| io::Error::other(format!("{name} did not start")))?);
        server.told = Some(told);
        Ok(server)
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> io::Result<Connection> {
        Connection::open(self.address)
    }

    pub(crate) fn measure(&self, effort: Effort) -> io::Result<(Contender, ServedFigures)> {
        let bytes_per_isolate = self.bytes_per_isolate()?;
        let samples = |count, pace, path, expected| self.durations(count, pace, path, expected).map(Samples::new);
        let measure = |path| samples(effort.passes, Pace::Paused, path, "1");
        let contender = Contender {
            name: self.name.to_owned(),
            fresh_trivial: measure("/fresh/trivial")?,
            bursts: samples(effort.passes, Pace::Bursts, "/fresh/trivial", "1")?,
            back_to_back: samples(effort.passes, Pace::BackToBack, "/fresh/trivial", "1")?,
            fresh_one_call: measure("/fresh/oneCall")?,
            thousand_calls: samples(effort.long_passes, Pace::Paused, "/fresh/thousandCalls", "499500")?,
            passes_per_second: Some(self.per_second("/fresh/trivial", 2, effort.rate_time)?),
            bytes_per_isolate: Some(bytes_per_isolate),
        };
        let served = ServedFigures {
            name: self.name,
            hello: measure("/baseline")?,
            hello_per_second: self.per_second("/baseline", HELLO_CONNECTIONS, effort.rate_time)?,
            warm_call: measure("/warm")?,
        };
        Ok((contender, served))
    }

    /// How long a fresh trivial program takes while another one spins for 200 ms at a time.
    pub(crate) fn beside_a_spinner(&self, passes: usize) -> io::Result<Vec<Duration>> {
        std::thread::scope(|scope| {
            let (stop, stopped) = std::sync::mpsc::channel::<()>();
            let spinner = scope.spawn(move || -> io::Result<()> {
                let mut connection = self.connect()?;
                while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                    connection.get("/spin")?;
                }
                Ok(())
            });
            let durations = self.durations(passes, Pace::Paused, "/fresh/trivial", "1");
            drop(stop);
            spinner.join().map_err(|_| io::Error::other("the spinning client panicked"))??;
            durations
        })
    }

    fn durations(&self, count: usize, pace: Pace, path: &str, expected: &str) -> io::Result<Vec<Duration>> {
        let mut connection = self.connect()?;
        for _ in 0..count.min(10) {
            connection.get(path)?;
        }
        (0..count)
            .map(|pass| {
                if pace.pauses_before(pass) {
                    std::thread::sleep(PAUSE);
                }
                let started = Instant::now();
                let answer = connection.get(path)?;
                let took = started.elapsed();
                if answer == expected { Ok(took) } else { Err(io::Error::other(format!("{path} answered {answer}"))) }
            })
            .collect()
    }

    fn bytes_per_isolate(&self) -> io::Result<f64> {
        let mut connection = self.connect()?;
        // The first load makes what all loads share.
        connection.get("/warm")?;
        let before = resident_bytes(self.child.id());
        connection.get(&format!("/hold?count={ISOLATES_HELD}"))?;
        Ok((resident_bytes(self.child.id()) as f64 - before as f64) / f64::from(ISOLATES_HELD))
    }

    /// Requests per second, from as many clients as there are connections.
    fn per_second(&self, path: &str, connections: usize, time: Duration) -> io::Result<f64> {
        let started = Instant::now();
        let client = || -> io::Result<u64> {
            let mut connection = self.connect()?;
            let mut requests = 0;
            while started.elapsed() < time {
                connection.get(path)?;
                requests += 1;
            }
            Ok(requests)
        };
        let requests = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..connections).map(|_| scope.spawn(client)).collect();
            let panicked = |_| io::Error::other("a client panicked");
            clients.into_iter().map(|client| client.join().map_err(panicked)?).sum::<io::Result<u64>>()
        })?;
        Ok(requests as f64 / started.elapsed().as_secs_f64())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
