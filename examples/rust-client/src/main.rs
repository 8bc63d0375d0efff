//! Runs a program on `loaderd executor`, with two tools that live in this process.
//!
//! ```text
//! loaderd-example-client unix:/tmp/loaderd.sock
//! loaderd-example-client 127.0.0.1:7070 my-program.js
//! ```
//!
//! The program sees two globals, `crm.getCustomer` and `billing.listInvoices`. Each call it makes arrives here, at
//! [`Tools::call`]; nothing else of this machine can be reached by it.

use std::error::Error;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use capnp_rpc::{RpcSystem, rpc_twoparty_capnp::Side, twoparty::VatNetwork};
use futures::io::{AsyncRead, AsyncWrite, BufReader, BufWriter};
use loaderd_schema::executor_capnp::{
    PROTOCOL_VERSION, code_execution_request, code_executor, code_host_call, pass_host, pass_outcome,
};
use serde_json::{Value, json};
use tokio::net::{TcpStream, UnixStream};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

const USAGE: &str = "usage: loaderd-example-client unix:PATH|HOST:PORT [PROGRAM.js]";
const PROGRAM: &str = include_str!("../../programs/overdue-invoices.js");
const WALL_TIME: Duration = Duration::from_secs(10);

/// What the program may call: each namespace with its methods.
const NAMESPACES: [(&str, &[&str]); 2] = [("crm", &["getCustomer"]), ("billing", &["listInvoices"])];

/// The host of one pass.
struct Tools;

impl pass_host::Server for Tools {
    async fn call(
        self: Rc<Self>,
        params: pass_host::CallParams,
        mut results: pass_host::CallResults,
    ) -> Result<(), capnp::Error> {
        let mut outcome = results.get().init_outcome();
        match run_tool(params.get()?.get_call()?)? {
            Ok(value) => outcome.set_success(value.to_string().as_str()),
            Err(failure) => outcome.set_failure(failure.to_string().as_str()),
        }
        Ok(())
    }
}

/// The inner error is a value that the program may catch; the outer one is a defect of ours and ends the pass.
fn run_tool(call: code_host_call::Reader<'_>) -> Result<Result<Value, Value>, capnp::Error> {
    let argument: Value = serde_json::from_str(call.get_argument()?.to_str()?)
        .map_err(|error| capnp::Error::failed(format!("the argument is not JSON: {error}")))?;
    Ok(match (call.get_namespace()?.to_str()?, call.get_method()?.to_str()?) {
        ("crm", "getCustomer") if argument["id"] == "acme" => Ok(json!({ "id": "acme", "name": "Acme Corporation" })),
        ("crm", "getCustomer") => Err(json!({ "_tag": "CustomerNotFound", "id": argument["id"] })),
        ("billing", "listInvoices") => Ok(json!([
            { "number": "2026-014", "amountCents": 48_050, "dueDate": "2026-02-14", "paid": false },
            { "number": "2026-022", "amountCents": 9_900, "dueDate": "2026-02-28", "paid": false },
            { "number": "2026-040", "amountCents": 77_000, "dueDate": "2026-04-30", "paid": false },
        ])),
        _ => Err(json!({ "_tag": "UnknownMethod" })),
    })
}

fn fill_request(mut request: code_execution_request::Builder<'_>, source: &str) {
    request.set_protocol_version(PROTOCOL_VERSION);
    request.set_source(source);
    // Programs of different tenants never share a process, so that what one does to its own cannot touch the other.
    request.reborrow().init_tenant().set_label("example");
    request.reborrow().init_network().set_disabled(());
    let mut namespaces = request.reborrow().init_namespaces(NAMESPACES.len() as u32);
    for (index, (name, methods)) in (0..).zip(NAMESPACES) {
        let mut namespace = namespaces.reborrow().get(index);
        namespace.set_name(name);
        let mut list = namespace.init_methods(methods.len() as u32);
        for (index, method) in (0..).zip(methods) {
            list.set(index, method);
        }
    }
    let mut limits = request.init_limits();
    limits.set_source_bytes(64 * 1024);
    limits.set_wall_time(WALL_TIME.as_nanos() as u64);
    limits.reborrow().init_cpu().set_millis(500);
    limits.set_log_bytes(16 * 1024);
    limits.set_result_bytes(64 * 1024);
    limits.set_host_calls(8);
    limits.reborrow().init_host_call_concurrency().set_default(());
    limits.set_host_call_argument_bytes(16 * 1024);
    limits.set_host_call_result_bytes(32 * 1024);
}

/// Prints what became of the pass.
fn report(outcome: pass_outcome::Reader<'_>) -> Result<ExitCode, Box<dyn Error>> {
    let pass_outcome::Success(result) = outcome.which()? else {
        eprintln!("{outcome:?}");
        return Ok(ExitCode::FAILURE);
    };
    let result = result?;
    for line in result.get_logs()? {
        println!("log: {}", line?.to_str()?);
    }
    println!("value: {}", result.get_value()?.to_str()?);
    let used = result.get_resource_use()?;
    let wall_time = Duration::from_nanos(used.get_wall_time());
    println!("used: {:.1} ms wall time, {} host calls", wall_time.as_secs_f64() * 1e3, used.get_host_calls());
    Ok(ExitCode::SUCCESS)
}

async fn run<R, W>(input: R, output: W, source: &str) -> Result<ExitCode, Box<dyn Error>>
where
    R: AsyncRead + Unpin + 'static,
    W: AsyncWrite + Unpin + 'static,
{
    let network = VatNetwork::new(BufReader::new(input), BufWriter::new(output), Side::Client, Default::default());
    let mut rpc = RpcSystem::new(Box::new(network), None);
    let executor: code_executor::Client = rpc.bootstrap(Side::Server);
    tokio::task::spawn_local(rpc);

    let mut call = executor.execute_request();
    call.get().set_host(capnp_rpc::new_client(Tools));
    fill_request(call.get().init_request(), source);
    // Dropping this future would cancel the pass.
    let answer = call.send().promise.await?;
    report(answer.get()?.get_outcome()?)
}

/// Cap'n Proto's objects stay on one thread, so a runtime of one thread it is.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or(USAGE)?;
    let source = match arguments.next() {
        Some(path) => std::fs::read_to_string(path)?,
        None => PROGRAM.to_owned(),
    };
    let local = tokio::task::LocalSet::new();
    if let Some(path) = address.strip_prefix("unix:") {
        let (input, output) = UnixStream::connect(path).await?.into_split();
        local.run_until(run(input.compat(), output.compat_write(), &source)).await
    } else {
        let stream = TcpStream::connect(&address).await?;
        stream.set_nodelay(true)?;
        let (input, output) = stream.into_split();
        local.run_until(run(input.compat(), output.compat_write(), &source)).await
    }
}
