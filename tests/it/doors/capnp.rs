//! The service's door: a Cap'n Proto client on the socket of a running `loaderd executor`.

use std::rc::Rc;
use std::sync::Arc;

use capnp_rpc::{RpcSystem, rpc_twoparty_capnp, twoparty};
use futures::AsyncReadExt;
use loaderd_schema::executor_capnp as schema;
use tokio::net::UnixStream;
use tokio_util::compat::TokioAsyncReadCompatExt;

use crate::case::{Answer, Case, Request};
use crate::expect::Outcome;
use crate::host::{HostRecord, ScriptedHost};
use crate::json::Json;
use crate::service::Service;

pub(crate) fn run(case: &Case) -> Result<(Outcome, HostRecord), String> {
    let service = Service::shared()?;
    block_on(pass(service, case))
}

/// Runs a future on a thread that Cap'n Proto objects may live on.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(text)?;
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A connection and what it begins with. Dropping it closes the socket.
pub(crate) struct Connection {
    pub(crate) executor: schema::code_executor::Client,
    system: tokio::task::JoinHandle<Result<(), capnp::Error>>,
}

impl Connection {
    pub(crate) async fn open(service: &Service) -> Result<Self, String> {
        let stream = UnixStream::connect(service.socket()).await.map_err(text)?;
        let (reader, writer) = stream.compat().split();
        let network = twoparty::VatNetwork::new(
            reader,
            writer,
            rpc_twoparty_capnp::Side::Client,
            capnp::message::ReaderOptions::new(),
        );
        let mut system = RpcSystem::new(Box::new(network), None);
        let executor = system.bootstrap(rpc_twoparty_capnp::Side::Server);
        Ok(Self { executor, system: tokio::task::spawn_local(system) })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.system.abort();
    }
}

/// One pass over a connection of its own.
pub(crate) async fn pass(service: &Service, case: &Case) -> Result<(Outcome, HostRecord), String> {
    let connection = Connection::open(service).await?;
    pass_on(&connection, case).await
}

/// One pass over a connection that may be used for more.
pub(crate) async fn pass_on(connection: &Connection, case: &Case) -> Result<(Outcome, HostRecord), String> {
    let host = ScriptedHost::new(case);
    let mut request = connection.executor.execute_request();
    fill(request.get().init_request(), &case.request)?;
    request.get().set_host(client_of(&host));
    let response = request.send().promise;
    let outcome = match case.interrupt_after_calls {
        None => read(response.await.map_err(text)?.get().and_then(|answer| answer.get_outcome()).map_err(text)?)?,
        Some(calls) => tokio::select! {
            biased;
            () = host.seen(calls) => Outcome::Interrupted,
            answer = response => return Err(format!("answered before it was interrupted: {}", answer.is_ok())),
        },
    };
    Ok((outcome, host.idle().await))
}

/// Writes a request as the schema has it.
pub(crate) fn fill(mut to: schema::code_execution_request::Builder<'_>, from: &Request) -> Result<(), String> {
    to.set_protocol_version(schema::PROTOCOL_VERSION);
    to.set_language(schema::Language::Javascript);
    to.set_source(&from.source);
    let mut namespaces = to.reborrow().init_namespaces(length(from.namespaces.len())?);
    for (at, (name, methods)) in (0..).zip(&from.namespaces) {
        let mut namespace = namespaces.reborrow().get(at);
        namespace.set_name(name);
        let mut list = namespace.init_methods(length(methods.len())?);
        for (at, method) in (0..).zip(methods) {
            list.set(at, method);
        }
    }
    match &from.allowlist {
        None => to.reborrow().get_network().set_disabled(()),
        Some((domains, ports)) => {
            let mut allowlist = to.reborrow().get_network().init_allowlist();
            let mut list = allowlist.reborrow().init_domains(length(domains.len())?);
            for (at, domain) in (0..).zip(domains) {
                list.set(at, domain);
            }
            let mut list = allowlist.init_ports(length(ports.len())?);
            for (at, port) in (0..).zip(ports) {
                list.set(at, *port);
            }
        }
    }
    let limits = &from.limits;
    let mut to = to.init_limits();
    to.set_source_bytes(limits.source_bytes);
    to.set_wall_time(u64::try_from(limits.wall.as_nanos()).map_err(text)?);
    match limits.cpu_millis {
        None => to.reborrow().get_cpu().set_unlimited(()),
        Some(millis) => to.reborrow().get_cpu().set_millis(millis),
    }
    to.set_log_bytes(limits.log_bytes);
    to.set_result_bytes(limits.result_bytes);
    to.set_host_calls(limits.host_calls);
    match limits.host_call_concurrency {
        None => to.reborrow().get_host_call_concurrency().set_default(()),
        Some(calls) => to.reborrow().get_host_call_concurrency().set_calls(calls),
    }
    to.set_host_call_argument_bytes(limits.host_call_argument_bytes);
    to.set_host_call_result_bytes(limits.host_call_result_bytes);
    Ok(())
}

fn length(length: usize) -> Result<u32, String> {
    u32::try_from(length).map_err(text)
}

/// The scripted host as a capability.
pub(crate) fn client_of(host: &Arc<ScriptedHost>) -> schema::pass_host::Client {
    capnp_rpc::new_client(Host(Arc::clone(host)))
}

/// The scripted host as the service sees it.
struct Host(Arc<ScriptedHost>);

impl schema::pass_host::Server for Host {
    async fn call(
        self: Rc<Self>,
        params: schema::pass_host::CallParams,
        mut results: schema::pass_host::CallResults,
    ) -> Result<(), capnp::Error> {
        let call = params.get()?.get_call()?;
        let (namespace, method) = (call.get_namespace()?.to_string()?, call.get_method()?.to_string()?);
        let argument = Json::parse(call.get_argument()?.to_str()?).map_err(capnp::Error::failed)?;
        match Arc::clone(&self.0).call(&namespace, &method, argument).await {
            Answer::Ok(value) => results.get().init_outcome().set_success(value.to_string()),
            Answer::Fail(value) => results.get().init_outcome().set_failure(value.to_string()),
            Answer::NotJson(expression) => results.get().init_outcome().set_success(&expression),
            Answer::Raw(outcome) => raw(&outcome, results)?,
            Answer::Panic => return Err(capnp::Error::failed("the host broke".to_owned())),
            Answer::Never | Answer::Interrupt => {
                return Err(capnp::Error::failed("this door cannot express that".to_owned()));
            }
        }
        Ok(())
    }
}

/// An outcome as it is. What has no place in the schema becomes a union member that the schema does not know.
fn raw(outcome: &Json, mut results: schema::pass_host::CallResults) -> Result<(), capnp::Error> {
    let tag = outcome.get("_tag").and_then(Json::as_text);
    match (tag.as_deref(), outcome.get("value")) {
        (Some("CodeHostCallSuccess"), Some(value)) => results.get().init_outcome().set_success(value.to_string()),
        (Some("CodeHostCallSuccess"), None) => {
            // The union says success, and its pointer is null: the text is empty, which is no JSON.
            results.get().init_outcome().set_success("");
        }
        _ => {
            // An answer of `execute` has its union where an answer of `call` has it, and its fourth member is none
            // that an outcome of a call has.
            let mut answer = results.hook.get()?.init_as::<schema::code_executor::execute_results::Builder<'_>>();
            answer.reborrow().init_outcome().set_host_interrupted(());
        }
    }
    Ok(())
}

/// The outcome of a pass in the words of the other doors.
pub(crate) fn read(outcome: schema::pass_outcome::Reader<'_>) -> Result<Outcome, String> {
    use schema::pass_outcome::Which;
    match outcome.which().map_err(text)? {
        Which::Success(result) => {
            let answer = success(result.map_err(text)?).map_err(text)?;
            Ok(Outcome::Answer(Json::Object(vec![("success".to_owned(), answer)])))
        }
        Which::Failure(error) => {
            let answer = failure(error.map_err(text)?).map_err(text)?;
            Ok(Outcome::Answer(Json::Object(vec![("failure".to_owned(), answer)])))
        }
        Which::HostDefect(_) => Ok(Outcome::Defect),
        Which::HostInterrupted(()) => Ok(Outcome::Interrupted),
        Which::Refused(refusal) => Err(format!("refused: {:?}", refusal.map_err(text)?)),
    }
}

type Read<T> = Result<T, capnp::Error>;

fn object(members: Vec<(&str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn plain(text: capnp::text::Reader<'_>) -> Read<Json> {
    Ok(Json::text(text.to_str()?))
}

fn json(text: capnp::text::Reader<'_>) -> Read<Json> {
    Json::parse(text.to_str()?).map_err(capnp::Error::failed)
}

fn lines(logs: capnp::text_list::Reader<'_>) -> Read<Json> {
    logs.iter().map(|line| plain(line?)).collect::<Read<_>>().map(Json::Array)
}

fn duration(nanos: u64) -> Json {
    if nanos.is_multiple_of(1_000_000) {
        object(vec![("_tag", Json::text("Millis")), ("value", Json::number(nanos / 1_000_000))])
    } else {
        object(vec![("_tag", Json::text("Nanos")), ("value", Json::text(&nanos.to_string()))])
    }
}

fn implementation(from: schema::implementation::Reader<'_>) -> Read<Json> {
    let isolation = match from.get_isolation()? {
        schema::Isolation::Isolated => "isolated",
        schema::Isolation::Unisolated => "unisolated",
    };
    Ok(object(vec![("isolation", Json::text(isolation)), ("identity", plain(from.get_identity()?)?)]))
}

fn success(result: schema::code_execution_result::Reader<'_>) -> Read<Json> {
    let used = result.get_resource_use()?;
    let mut resource_use = vec![
        ("wallTime", duration(used.get_wall_time())),
        ("hostCalls", Json::number(used.get_host_calls())),
        ("logBytes", Json::number(used.get_log_bytes())),
        ("resultBytes", Json::number(used.get_result_bytes())),
    ];
    if let schema::resource_use::cpu::Which::Millis(millis) = used.get_cpu().which()? {
        resource_use.push(("cpuMillis", Json::number(millis)));
    }
    Ok(object(vec![
        ("implementation", implementation(result.get_implementation()?)?),
        ("value", json(result.get_value()?)?),
        ("logs", lines(result.get_logs()?)?),
        ("resourceUse", object(resource_use)),
    ]))
}

fn failure(error: schema::code_execution_error::Reader<'_>) -> Read<Json> {
    use schema::code_execution_error::Which;
    let (tag, fields) = match error.which()? {
        Which::Source(error) => {
            let error = error?;
            let reason = match error.get_reason()? {
                schema::source_error::Reason::Invalid => "invalid",
                schema::source_error::Reason::Oversized => "oversized",
                schema::source_error::Reason::NotAFunction => "not-a-function",
            };
            ("CodeSourceError", vec![("reason", Json::text(reason)), ("message", plain(error.get_message()?)?)])
        }
        Which::Unsupported(error) => {
            use schema::unsupported_error::Feature;
            let error = error?;
            let feature = match error.get_feature()? {
                Feature::Language => "language",
                Feature::Network => "network",
                Feature::CpuLimit => "cpu-limit",
                Feature::Namespaces => "namespaces",
                Feature::WallClock => "wall-clock",
                Feature::HostCalls => "host-calls",
            };
            let fields = vec![("feature", Json::text(feature)), ("message", plain(error.get_message()?)?)];
            ("CodeExecutorUnsupportedError", fields)
        }
        Which::Start(error) => {
            let error = error?;
            let mut fields = vec![("message", plain(error.get_message()?)?)];
            if let schema::start_error::cause::Which::Text(cause) = error.get_cause().which()? {
                fields.push(("cause", plain(cause?)?));
            }
            ("CodeExecutorStartError", fields)
        }
        Which::Timeout(error) => {
            let error = error?;
            let kind = match error.get_kind()? {
                schema::timeout_error::Kind::Cpu => "cpu",
                schema::timeout_error::Kind::WallClock => "wall-clock",
            };
            let fields = vec![
                ("kind", Json::text(kind)),
                ("maxWallTime", duration(error.get_max_wall_time())),
                ("logs", lines(error.get_logs()?)?),
            ];
            ("CodeExecutionTimeoutError", fields)
        }
        Which::OutputLimit(error) => ("CodeOutputLimitError", output_limit(error?)?),
        Which::HostCallLimit(error) => {
            let error = error?;
            let fields = vec![("limit", Json::number(error.get_limit())), ("logs", lines(error.get_logs()?)?)];
            ("CodeHostCallLimitError", fields)
        }
        Which::ProgramFailed(error) => ("CodeProgramFailedError", program_failed(error?)?),
        Which::Protocol(error) => ("CodeExecutionProtocolError", vec![("message", plain(error?.get_message()?)?)]),
        Which::Terminated(error) => ("CodeExecutorTerminatedError", vec![("message", plain(error?.get_message()?)?)]),
    };
    let mut members = vec![("_tag", Json::text(tag)), ("implementation", implementation(error.get_implementation()?)?)];
    members.extend(fields);
    Ok(object(members))
}

fn output_limit(error: schema::output_limit_error::Reader<'_>) -> Read<Vec<(&'static str, Json)>> {
    use schema::output_limit_error::Surface;
    let surface = match error.get_surface()? {
        Surface::Logs => "logs",
        Surface::Result => "result",
        Surface::HostCallArgument => "host-call-argument",
        Surface::HostCallResult => "host-call-result",
    };
    Ok(vec![
        ("surface", Json::text(surface)),
        ("limit", Json::number(error.get_limit())),
        ("observed", Json::number(error.get_observed())),
        ("logs", lines(error.get_logs()?)?),
    ])
}

fn program_failed(error: schema::program_failed_error::Reader<'_>) -> Read<Vec<(&'static str, Json)>> {
    use schema::program_failed_error::Reason;
    let reason = match error.get_reason()? {
        Reason::Threw => "threw",
        Reason::Rejected => "rejected",
        Reason::NonJsonResult => "non-json-result",
    };
    Ok(vec![
        ("reason", Json::text(reason)),
        ("thrown", json(error.get_thrown()?)?),
        ("message", plain(error.get_message()?)?),
        ("logs", lines(error.get_logs()?)?),
    ])
}
