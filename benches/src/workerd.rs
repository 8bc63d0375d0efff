//! The real workerd: `workerd/parent.js` loads Workers, one a request, timed from here over a kept connection on
//! loopback. What a request costs without any loading is measured first and shown beside the table.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::figures::Contender;
use crate::http::Connection;
use crate::memory::resident_bytes;
use crate::stats::Samples;
use crate::{Effort, ISOLATES_HELD, PAUSE, Pace};

const START_TIMEOUT: Duration = Duration::from_secs(20);
/// A running workerd; ended when dropped.
pub(crate) struct Workerd {
    child: Child,
    address: SocketAddr,
}

impl Workerd {
    /// Starts the workerd that npm put into `packages`.
    ///
    /// # Errors
    /// It is not there, or does not listen in time.
    pub(crate) fn start(packages: &Path) -> io::Result<Self> {
        let binary = packages.join("node_modules/@cloudflare/workerd-linux-64/bin/workerd");
        let config = concat!(env!("CARGO_MANIFEST_DIR"), "/workerd/bench.capnp");
        // Free a moment ago; the kernel does not hand the same port out again at once.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = Command::new(binary)
            .args(["serve", "--experimental", "--socket-addr", &format!("http={address}"), config])
            .stdin(Stdio::null())
            .spawn()?;
        let workerd = Self { child, address };
        let deadline = Instant::now() + START_TIMEOUT;
        while let Err(error) = workerd.connect() {
            if Instant::now() > deadline {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(workerd)
    }

    pub(crate) fn connect(&self) -> io::Result<Connection> {
        Connection::open(self.address)
    }

    pub(crate) fn measure(&self, effort: Effort) -> io::Result<(Contender, Samples)> {
        let bytes_per_isolate = self.bytes_per_isolate()?;
        let baseline = self.durations(effort.passes, Pace::Paused, "/baseline", "1")?;
        let baseline = Samples::new(baseline).ok_or_else(|| io::Error::other("no samples"))?;
        let contender = Contender {
            name: "workerd".to_owned(),
            fresh_trivial: Samples::new(self.durations(effort.passes, Pace::Paused, "/fresh/trivial", "1")?),
            back_to_back: Samples::new(self.durations(effort.passes, Pace::BackToBack, "/fresh/trivial", "1")?),
            fresh_one_call: Samples::new(self.durations(effort.passes, Pace::Paused, "/fresh/oneCall", "1")?),
            thousand_calls: Samples::new(self.durations(
                effort.long_passes,
                Pace::Paused,
                "/fresh/thousandCalls",
                "499500",
            )?),
            passes_per_second: Some(self.passes_per_second(effort.rate_time)?),
            bytes_per_isolate: Some(bytes_per_isolate),
        };
        Ok((contender, baseline))
    }

    /// How long a fresh trivial program takes while another one spins for 200 ms at a time.
    pub(crate) fn beside_a_spinner(&self, passes: usize) -> io::Result<Vec<Duration>> {
        std::thread::scope(|scope| {
            let (stop, stopped) = std::sync::mpsc::channel::<()>();
            let spinner = scope.spawn(move || -> io::Result<()> {
                let mut connection = self.connect()?;
                while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                    connection.get("/fresh/spin")?;
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
            .map(|_| {
                if let Pace::Paused = pace {
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

    fn passes_per_second(&self, time: Duration) -> io::Result<f64> {
        let started = Instant::now();
        let client = || -> io::Result<u64> {
            let mut connection = self.connect()?;
            let mut passes = 0;
            while started.elapsed() < time {
                connection.get("/fresh/trivial")?;
                passes += 1;
            }
            Ok(passes)
        };
        let passes = std::thread::scope(|scope| {
            let other = scope.spawn(client);
            let own = client()?;
            let other = other.join().map_err(|_| io::Error::other("a client panicked"))??;
            io::Result::Ok(own + other)
        })?;
        Ok(passes as f64 / started.elapsed().as_secs_f64())
    }
}

impl Drop for Workerd {
    fn drop(&mut self) {
        // Already gone is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
