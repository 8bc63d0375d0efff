//! Streams out of a sandbox process whose Worker meets a limit: each read from then on says which.

use libtest_mimic::Trial;
use loaderd_loader::{LoaderOptions, ModuleSource, WorkerCode};
use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Call, Message, Op, Reply};

use super::{Broker, PATIENCE, REAL, expect};
use crate::doors::rust::runtime;

/// Returns a stream of one chunk, after which its Worker never comes to an end.
const WORKER: &str = "import { WorkerEntrypoint } from 'cloudflare:workers';
export default class extends WorkerEntrypoint {
  run() {
    let chunks = 0;
    return new ReadableStream({ type: 'bytes', async pull(controller) {
      if (chunks++ === 0) return controller.enqueue(new Uint8Array(65536));
      await scheduler.wait(1);
      for (;;);
    } });
  }
}";

pub(super) fn trials() -> Vec<Trial> {
    vec![Trial::test("sandboxes::a_stream_whose_worker_meets_a_limit_says_so", || {
        runtime().block_on(meets_a_limit()).map_err(Into::into)
    })]
}

fn no_arguments() -> Message {
    Plain::arguments(Vec::new()).expect("no arguments can be written")
}

async fn meets_a_limit() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let mut code = WorkerCode::new("2026-07-01", "m.js").module("m.js", ModuleSource::ByName(WORKER.to_owned().into()));
    code.limits.cpu_ms = Some(20);
    let stub = broker.host.loader(LoaderOptions::default()).load(code).map_err(|error| error.to_string())?;
    let answer = stub.entrypoint(None, None, Default::default()).call_method("run", no_arguments()).await;
    let message = answer.result.map_err(|error| error.message)?;
    let stream = message.caps.into_iter().next().ok_or("the stream is no capability")?.target;
    let read = async || {
        let (reply, answer) = Reply::channel();
        stream.call(Call::new(vec!["read".to_owned()], Op::Call(no_arguments())), reply);
        let answered = tokio::time::timeout(PATIENCE, answer).await.map_err(|_| "it was never answered")?;
        Ok::<_, String>(answered.map_err(|error| error.to_string())?.result.map(drop).map_err(|error| error.message))
    };
    let limit = || Err("Worker exceeded CPU time limit.".to_owned());
    expect("the first read", &read().await?, &Ok(()))?;
    expect("the read that waits", &read().await?, &limit())?;
    broker.until("nothing of the Worker is left", |metrics| metrics.workers == 0).await?;
    expect("a read after that", &read().await?, &limit())
}
