//! loaderd through its library: the executor with everything a pass costs (checks, harness, host, envelope).

use std::io;
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{join, join_all};
use loaderd_harness::{
    CodeExecutionLimits, CodeExecutionNamespace, CodeExecutionRequest, CodeExecutor, CodeHostCall, CodeHostCallOutcome,
    HostCallFuture, HostEnd, NetworkPolicy, PassHost, Tenant,
};
use loaderd_loader::WorkerLoader;
use tokio::sync::Semaphore;

use crate::figures::Contender;
use crate::memory::resident_bytes;
use crate::stats::Samples;
use crate::{Effort, ISOLATES_HELD, PAUSE, Pace};

const TRIVIAL: &str = "async () => 1";
const ONE_CALL: &str = "async () => await host.call(1)";
const THOUSAND_CALLS: &str =
    "async () => { let sum = 0; for (let i = 0; i < 1000; i += 1) sum += await host.call(i); return sum; }";
const HELD: &str = "async () => await host.call('stay')";

/// Passes before the first one that counts.
const WARM_UP: usize = 10;

/// Answers each call with its argument, except `"stay"`, which it answers when told to.
pub(crate) struct Host {
    leave: Semaphore,
}

impl PassHost for Host {
    fn call(&self, call: CodeHostCall) -> HostCallFuture<'_> {
        Box::pin(async move {
            if call.argument.as_str() == "\"stay\"" {
                self.leave.acquire().await.map_err(|_| HostEnd::Interrupted)?.forget();
            }
            Ok(CodeHostCallOutcome::Success(call.argument))
        })
    }
}

#[derive(Clone)]
pub(crate) struct Loaderd {
    executor: CodeExecutor,
    host: Arc<Host>,
    place: Where,
}

/// Where its isolates are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    InProcess,
    Sandboxes,
}

/// Programs that cause work which V8 would do on threads of its own, if it had any.
const CAUSE_WORK: [(&str, &str); 3] = [
    (
        "makes garbage",
        "async () => { let kept = []; for (let i = 0; i < 3e6; i++) { kept.push({ i }); if (kept.length > 50000) kept = []; } return 1; }",
    ),
    (
        "keeps much",
        "async () => { const kept = []; for (let i = 0; i < 5e5; i++) kept.push({ i, text: 'x' + i }); return 1; }",
    ),
    (
        "has much to optimize",
        "async () => { const makers = []; for (let n = 0; n < 200; n++) makers.push((() => (a, b) => { let sum = n; for (let i = 0; i < 3000; i++) sum = (sum * a + b + i) | 0; return sum; })()); let sum = 0; for (let round = 0; round < 10; round++) for (const make of makers) sum += make(round, 3); return sum === 0 ? 0 : 1; }",
    ),
];

impl Loaderd {
    pub(crate) fn new(loader: WorkerLoader, place: Where) -> Self {
        Self { executor: CodeExecutor::new(loader), host: Arc::new(Host { leave: Semaphore::new(0) }), place }
    }

    /// Prints how much CPU time programs were charged, and how much the process took for them.
    pub(crate) async fn print_charges(&self) -> io::Result<()> {
        const ROUNDS: u32 = 20;
        println!("CPU time of a program, charged to it / taken by the process, and how long it took");
        for (what, source) in CAUSE_WORK {
            let (before, started, mut charged) = (process_cpu()?, Instant::now(), 0);
            for _ in 0..ROUNDS {
                let limits = CodeExecutionLimits { max_host_calls: 1000, ..CodeExecutionLimits::default() };
                let request = CodeExecutionRequest::new(source, Vec::new(), NetworkPolicy::Disabled, limits);
                let request = request.map_err(io::Error::other)?;
                let result = self.executor.execute(request, self.host.clone()).await.map_err(io::Error::other)?;
                charged += result.resource_use.cpu_millis.unwrap_or(0);
            }
            let (taken, took) = ((process_cpu()? - before) / ROUNDS, started.elapsed() / ROUNDS);
            println!(
                "  {what}: {} ms / {} ms, {} ms",
                charged / u64::from(ROUNDS),
                taken.as_millis(),
                took.as_millis()
            );
        }
        Ok(())
    }

    /// # Errors
    /// A pass did not answer as it must.
    pub(crate) async fn measure(&self, name: &str, effort: Effort) -> io::Result<Contender> {
        let bytes_per_isolate = match self.place {
            Where::InProcess => Some(self.bytes_per_isolate(ISOLATES_HELD).await?),
            // More than may be alive at once there.
            Where::Sandboxes => None,
        };
        Ok(Contender {
            name: name.to_owned(),
            fresh_trivial: Samples::new(self.durations(effort.passes, Pace::Paused, TRIVIAL, "1").await?),
            bursts: Samples::new(self.durations(effort.passes, Pace::Bursts, TRIVIAL, "1").await?),
            back_to_back: Samples::new(self.durations(effort.passes, Pace::BackToBack, TRIVIAL, "1").await?),
            fresh_one_call: Samples::new(self.durations(effort.passes, Pace::Paused, ONE_CALL, "1").await?),
            thousand_calls: Samples::new(
                self.durations(effort.long_passes, Pace::Paused, THOUSAND_CALLS, "499500").await?,
            ),
            passes_per_second: Some(self.passes_per_second(effort.rate_time).await?),
            bytes_per_isolate,
        })
    }

    /// A trivial pass.
    pub(crate) async fn trivial(&self) -> io::Result<()> {
        self.pass(TRIVIAL, "1").await
    }

    /// One pass; its value must be the expected JSON text.
    pub(crate) async fn pass(&self, source: &str, expected: &str) -> io::Result<()> {
        let result = self.executor.execute(request(source)?, self.host.clone()).await.map_err(io::Error::other)?;
        if result.value.as_str() == expected {
            return Ok(());
        }
        Err(io::Error::other(format!("a pass answered {}", result.value.as_str())))
    }

    pub(crate) async fn durations(
        &self,
        count: usize,
        pace: Pace,
        source: &str,
        expected: &str,
    ) -> io::Result<Vec<Duration>> {
        for _ in 0..count.min(WARM_UP) {
            self.pass(source, expected).await?;
        }
        let mut durations = Vec::with_capacity(count);
        for pass in 0..count {
            if pace.pauses_before(pass) {
                tokio::time::sleep(PAUSE).await;
            }
            let started = Instant::now();
            self.pass(source, expected).await?;
            durations.push(started.elapsed());
        }
        Ok(durations)
    }

    /// Where its isolates are.
    pub(crate) fn place(&self) -> Where {
        self.place
    }

    /// Runs passes, so that what the first ones take is there.
    pub(crate) async fn warm_up(&self, passes: usize) -> io::Result<()> {
        self.durations(passes.min(WARM_UP), Pace::Paused, TRIVIAL, "1").await.map(drop)
    }

    /// How long a trivial pass takes beside whatever else runs: so many passes, or as many as there is time for.
    pub(crate) async fn neighbour(&self, count: usize, time: Duration) -> io::Result<Vec<Duration>> {
        let (until, mut durations) = (Instant::now() + time, Vec::new());
        while durations.is_empty() || (durations.len() < count && Instant::now() < until) {
            tokio::time::sleep(PAUSE).await;
            let started = Instant::now();
            self.trivial().await?;
            durations.push(started.elapsed());
        }
        Ok(durations)
    }

    /// The same on behalf of somebody else.
    pub(crate) fn for_tenant(&self, label: &str) -> io::Result<Self> {
        let tenant = Tenant::new(label).map_err(io::Error::other)?;
        let executor = self.executor.for_tenant(tenant);
        Ok(Self { executor, host: self.host.clone(), place: self.place })
    }

    /// So many trivial passes, each of two clients with half of them.
    pub(crate) async fn two_at_a_time(&self, passes: u32) -> io::Result<()> {
        let client = async |passes| {
            for _ in 0..passes {
                self.trivial().await?;
            }
            io::Result::Ok(())
        };
        let (one, other) = join(client(passes / 2), client(passes - passes / 2)).await;
        one.and(other)
    }

    async fn passes_per_second(&self, time: Duration) -> io::Result<f64> {
        let started = Instant::now();
        let client = async || {
            let mut passes = 0_u32;
            while started.elapsed() < time {
                self.pass(TRIVIAL, "1").await?;
                passes += 1;
            }
            io::Result::Ok(passes)
        };
        let (one, other) = join(client(), client()).await;
        Ok(f64::from(one? + other?) / started.elapsed().as_secs_f64())
    }

    /// Resident memory for each of so many isolates, held by a pass that waits for its host.
    pub(crate) async fn bytes_per_isolate(&self, held: u32) -> io::Result<f64> {
        self.pass(TRIVIAL, "1").await?;
        // The pool is full again at both moments, so it counts at neither.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let before = resident_bytes(process::id());
        let measured = async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            let after = resident_bytes(process::id());
            self.host.leave.add_permits(held as usize);
            after
        };
        let passes = join_all((0..held).map(|_| self.pass(HELD, "\"stay\"")));
        let (after, passes) = join(measured, passes).await;
        passes.into_iter().collect::<io::Result<Vec<()>>>()?;
        Ok((after as f64 - before as f64) / f64::from(held))
    }
}

/// CPU time of all threads of this process.
fn process_cpu() -> io::Result<Duration> {
    const TICKS_PER_SECOND: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name, in parentheses, may hold anything; user and system time are the 14th and 15th field.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = fields.iter().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

fn request(source: &str) -> io::Result<CodeExecutionRequest> {
    let limits = CodeExecutionLimits { max_host_calls: 1000, ..CodeExecutionLimits::default() };
    let host = CodeExecutionNamespace::new("host", ["call"]).map_err(io::Error::other)?;
    CodeExecutionRequest::new(source, vec![host], NetworkPolicy::Disabled, limits).map_err(io::Error::other)
}
