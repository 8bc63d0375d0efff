//! Messages, calls, answers and errors.

use std::time::Duration;

use bytes::Bytes;
use loaderd_runtime::limits::{Cause, Usage};
use loaderd_runtime::rpc::{Call, Cap, CapKind, MESSAGE_BYTES_MAX, Message, Op, PATH_MAX, RpcError, ThrownValue};

use super::{Answered, CapPlace, Lower, MESSAGE_CAPS_MAX, Malformed, Raise, Target, WireCap, schema};

pub(in crate::sandbox) fn write_message(
    message: &Message,
    mut builder: schema::message::Builder<'_>,
    lower: Lower<'_>,
) {
    builder.set_bytes(&message.bytes);
    if message.caps.is_empty() {
        return;
    }
    // More than a list can hold is more than `MESSAGE_CAPS_MAX`, which callers refuse before they get here.
    let count = u32::try_from(message.caps.len()).unwrap_or(0);
    let mut caps = builder.init_caps(count);
    for (index, cap) in (0..count).zip(&message.caps) {
        let wire = lower(cap);
        write_cap(&wire, caps.reborrow().get(index));
    }
}

pub(super) fn write_cap(cap: &WireCap, mut builder: schema::cap::Builder<'_>) {
    builder.set_kind(match cap.kind {
        CapKind::Object => schema::cap::Kind::Object,
        CapKind::Function => schema::cap::Kind::Function,
        CapKind::Service => schema::cap::Kind::Service,
    });
    builder.set_counts_as_subrequest(cap.counts_as_subrequest);
    match &cap.place {
        CapPlace::Sender(id) => builder.set_sender_hosted(*id),
        CapPlace::Receiver(id) => builder.set_receiver_hosted(*id),
        CapPlace::Nowhere(error) => {
            // An error that stands for a capability never carries one.
            write_error(error, builder.init_broken(), &mut |_| unreachable_cap());
        }
    }
}

fn unreachable_cap() -> WireCap {
    WireCap {
        kind: CapKind::Object,
        counts_as_subrequest: false,
        place: CapPlace::Nowhere(RpcError::new("Error", "This capability cannot be passed on.")),
    }
}

pub(in crate::sandbox) fn read_message(
    reader: schema::message::Reader<'_>,
    raise: Raise<'_>,
) -> Result<Message, Malformed> {
    let bytes = reader.get_bytes()?;
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(Malformed::TooMuch("bytes of a message"));
    }
    let list = reader.get_caps()?;
    if list.len() as usize > MESSAGE_CAPS_MAX {
        return Err(Malformed::TooMuch("capabilities of a message"));
    }
    let mut caps = Vec::with_capacity(list.len() as usize);
    for cap in list {
        caps.push(raise(read_cap(cap)?)?);
    }
    Ok(Message { bytes: Bytes::copy_from_slice(bytes), caps })
}

pub(super) fn read_cap(reader: schema::cap::Reader<'_>) -> Result<WireCap, Malformed> {
    let kind = match reader.get_kind()? {
        schema::cap::Kind::Object => CapKind::Object,
        schema::cap::Kind::Function => CapKind::Function,
        schema::cap::Kind::Service => CapKind::Service,
    };
    let place = match reader.which()? {
        schema::cap::SenderHosted(id) => CapPlace::Sender(id),
        schema::cap::ReceiverHosted(id) => CapPlace::Receiver(id),
        schema::cap::Broken(error) => CapPlace::Nowhere(read_error(error?, &mut no_caps)?),
    };
    Ok(WireCap { kind, counts_as_subrequest: reader.get_counts_as_subrequest(), place })
}

fn no_caps(_: WireCap) -> Result<Cap, Malformed> {
    Err(Malformed::Unexpected("a capability where none can be"))
}

pub(in crate::sandbox) fn write_call(
    question: u64,
    target: Target,
    call: &Call,
    wants_report: bool,
    mut builder: schema::call::Builder<'_>,
    lower: Lower<'_>,
) {
    builder.set_question(question);
    builder.set_wants_report(wants_report);
    {
        let mut on = builder.reborrow().init_target();
        match target {
            Target::Export(id) => on.set_export(id),
            Target::Result(id) => on.set_result(id),
            Target::Entrypoint { worker, entrypoint } => {
                let mut reference = on.init_entrypoint();
                reference.set_worker(worker);
                reference.set_entrypoint(entrypoint);
            }
        }
    }
    let depth = u32::try_from(call.path.len()).unwrap_or(0);
    let mut path = builder.reborrow().init_path(depth);
    for (index, name) in (0..depth).zip(&call.path) {
        path.set(index, name.as_str());
    }
    match &call.op {
        Op::Get => builder.init_op().set_get(()),
        Op::Call(arguments) => write_message(arguments, builder.init_op().init_call(), lower),
        Op::Event(parts) => write_message(parts, builder.init_op().init_event(), lower),
    }
}

/// A call that arrived.
pub(in crate::sandbox) struct ReceivedCall {
    pub(in crate::sandbox) question: u64,
    pub(in crate::sandbox) target: Target,
    pub(in crate::sandbox) wants_report: bool,
}

/// Reads who is called first, because that decides how capabilities in the arguments are counted.
pub(in crate::sandbox) fn read_call_head(reader: schema::call::Reader<'_>) -> Result<ReceivedCall, Malformed> {
    let target = match reader.get_target().which()? {
        schema::call::target::Export(id) => Target::Export(id),
        schema::call::target::Result(id) => Target::Result(id),
        schema::call::target::Entrypoint(reference) => {
            let reference = reference?;
            Target::Entrypoint { worker: reference.get_worker(), entrypoint: reference.get_entrypoint() }
        }
    };
    Ok(ReceivedCall { question: reader.get_question(), target, wants_report: reader.get_wants_report() })
}

pub(in crate::sandbox) fn read_call(reader: schema::call::Reader<'_>, raise: Raise<'_>) -> Result<Call, Malformed> {
    let names = reader.get_path()?;
    if names.len() as usize > PATH_MAX {
        return Err(Malformed::TooMuch("names in a path"));
    }
    let mut path = Vec::with_capacity(names.len() as usize);
    for name in names {
        path.push(name?.to_str()?.to_owned());
    }
    let op = match reader.get_op().which()? {
        schema::call::op::Get(()) => Op::Get,
        schema::call::op::Call(arguments) => Op::Call(read_message(arguments?, raise)?),
        schema::call::op::Event(parts) => Op::Event(read_message(parts?, raise)?),
    };
    Ok(Call::new(path, op))
}

pub(in crate::sandbox) fn write_answer(
    question: u64,
    answered: &Answered,
    usage: Usage,
    pipeline_held: bool,
    mut builder: schema::answer::Builder<'_>,
    lower: Lower<'_>,
) {
    builder.set_question(question);
    builder.set_pipeline_held(pipeline_held);
    write_usage(usage, builder.reborrow().init_usage());
    match answered {
        Answered::Value(message) => write_message(message, builder.init_result().init_value(), lower),
        Answered::Error(error) => write_error(error, builder.init_result().init_error(), lower),
        Answered::NotPipelined => builder.init_result().set_not_pipelined(()),
    }
}

pub(in crate::sandbox) fn read_answer(
    reader: schema::answer::Reader<'_>,
    raise: Raise<'_>,
) -> Result<(Answered, Usage), Malformed> {
    let usage = read_usage(reader.get_usage()?);
    let answered = match reader.get_result().which()? {
        schema::answer::result::Value(message) => Answered::Value(read_message(message?, raise)?),
        schema::answer::result::Error(error) => Answered::Error(read_error(error?, raise)?),
        schema::answer::result::NotPipelined(()) => Answered::NotPipelined,
    };
    Ok((answered, usage))
}

fn write_error(error: &RpcError, mut builder: schema::rpc_error::Builder<'_>, lower: Lower<'_>) {
    builder.set_name(error.name.as_str());
    builder.set_message(error.message.as_str());
    if let Some(stack) = &error.stack {
        builder.set_stack(stack.as_str());
    }
    builder.set_remote(error.remote);
    builder.set_overloaded(error.overloaded);
    builder.set_disconnected(error.disconnected);
    if let Some(cause) = error.cause {
        builder.reborrow().init_cause().set_some(write_cause(cause));
    }
    if let Some(ThrownValue(message)) = &error.thrown {
        write_message(message, builder.init_thrown(), lower);
    }
}

fn read_error(reader: schema::rpc_error::Reader<'_>, raise: Raise<'_>) -> Result<RpcError, Malformed> {
    let stack = reader.get_stack()?.to_str()?;
    let thrown = match reader.has_thrown() {
        true => Some(ThrownValue(read_message(reader.get_thrown()?, raise)?)),
        false => None,
    };
    Ok(RpcError {
        name: reader.get_name()?.to_str()?.to_owned(),
        message: reader.get_message()?.to_str()?.to_owned(),
        stack: (!stack.is_empty()).then(|| stack.to_owned()),
        remote: reader.get_remote(),
        overloaded: reader.get_overloaded(),
        disconnected: reader.get_disconnected(),
        // There are no Durable Objects in sandbox processes.
        reset: false,
        cause: read_maybe_cause(reader.get_cause()?)?,
        thrown,
    })
}

pub(in crate::sandbox) fn write_cause(cause: Cause) -> schema::Cause {
    match cause {
        Cause::ExceededCpu => schema::Cause::ExceededCpu,
        Cause::ExceededStartupCpu => schema::Cause::ExceededStartupCpu,
        Cause::ExceededMemory => schema::Cause::ExceededMemory,
        Cause::ExceededWallTime => schema::Cause::ExceededWallTime,
        Cause::Canceled => schema::Cause::Canceled,
        Cause::Shutdown => schema::Cause::Shutdown,
        Cause::Condemned => schema::Cause::Condemned,
        Cause::InternalError => schema::Cause::InternalError,
    }
}

pub(in crate::sandbox) fn read_cause(cause: schema::Cause) -> Cause {
    match cause {
        schema::Cause::ExceededCpu => Cause::ExceededCpu,
        schema::Cause::ExceededStartupCpu => Cause::ExceededStartupCpu,
        schema::Cause::ExceededMemory => Cause::ExceededMemory,
        schema::Cause::ExceededWallTime => Cause::ExceededWallTime,
        schema::Cause::Canceled => Cause::Canceled,
        schema::Cause::Shutdown => Cause::Shutdown,
        schema::Cause::Condemned => Cause::Condemned,
        schema::Cause::InternalError => Cause::InternalError,
    }
}

pub(super) fn read_maybe_cause(reader: schema::maybe_cause::Reader<'_>) -> Result<Option<Cause>, Malformed> {
    Ok(match reader.which()? {
        schema::maybe_cause::None(()) => None,
        schema::maybe_cause::Some(cause) => Some(read_cause(cause?)),
    })
}

pub(super) fn write_usage(usage: Usage, mut builder: schema::usage::Builder<'_>) {
    builder.set_cpu(micros(usage.cpu));
    builder.set_wall(micros(usage.wall));
    builder.set_sub_requests(usage.sub_requests);
}

pub(super) fn read_usage(reader: schema::usage::Reader<'_>) -> Usage {
    Usage {
        cpu: Duration::from_micros(reader.get_cpu()),
        wall: Duration::from_micros(reader.get_wall()),
        sub_requests: reader.get_sub_requests(),
    }
}

/// Microseconds, saturating: half a million years is long enough for any budget.
pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
