//! A tenant whose processes are never idle, and one that has none.

use std::sync::Arc;

use futures::future::{Either, join, select};
use libtest_mimic::Trial;
use loaderd_harness::{CodeExecutor, Tenant};
use tokio::sync::watch;

use super::{Broker, Gate, PATIENCE, REAL, WAITS, end_of, expect, pass, trials_of, wall};
use crate::doors::rust::runtime;

pub(crate) fn trials() -> Vec<Trial> {
    let name = "a_tenant_takes_its_turn_where_the_only_process_is_never_idle";
    trials_of(vec![(name, || runtime().block_on(takes_its_turn()))])
}

/// There is one process, and a tenant that always has a pass in it: the next one begins before the last one ends. Another
/// tenant's pass has its turn all the same, and then the first tenant again.
async fn takes_its_turn() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| {
        // Nor does it come to its end by itself.
        (config.processes_max, config.workers_per_process_max, config.workers_per_life_max) = (1, 4, usize::MAX);
    })?;
    let [a, b] = ["a", "b"].map(|label| broker.executor.for_tenant(Tenant::new(label).expect("a valid label")));
    let (busy, is_busy) = watch::channel(false);
    let (done, is_done) = watch::channel(false);
    let without_pause = async {
        let mut last = Running::start(&a);
        last.host.seen(1).await?;
        busy.send_replace(true);
        while !*is_done.borrow() {
            let next = Running::start(&a);
            let begins = Box::pin(next.host.seen(1));
            // It does not where nobody else may come into the process: then the last one is to end.
            let waits = Box::pin(broker.until("both wait", |metrics| metrics.waiting == 2));
            match select(begins, waits).await {
                Either::Left((begun, _)) => begun?,
                Either::Right((waits, _)) => waits?,
            }
            last.ends().await?;
            last = next;
        }
        last.ends().await
    };
    let other = async {
        // An error means that the first tenant has failed, which is told below.
        let _ = is_busy.clone().wait_for(|busy| *busy).await;
        let host = Gate::new();
        host.open();
        let end = end_of(&pass(&b, &host, WAITS, wall(PATIENCE)).await);
        done.send_replace(true);
        expect("the pass of b", &end, &Ok("1".to_owned()))
    };
    let (first, other) = join(without_pause, other).await;
    first.and(other)
}

/// A pass that ends when its host lets it.
struct Running {
    host: Arc<Gate>,
    end: tokio::task::JoinHandle<Result<String, String>>,
}

impl Running {
    fn start(tenant: &CodeExecutor) -> Self {
        let (tenant, host) = (tenant.clone(), Gate::new());
        let its_host = host.clone();
        let end = runtime().spawn(async move { end_of(&pass(&tenant, &its_host, WAITS, wall(PATIENCE)).await) });
        Self { host, end }
    }

    async fn ends(self) -> Result<(), String> {
        self.host.open();
        let end = self.end.await.map_err(|error| error.to_string())?;
        expect("a pass of a", &end, &Ok("1".to_owned()))
    }
}
