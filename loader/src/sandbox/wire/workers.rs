//! Loads, entrypoints and reports.

use std::sync::Arc;
use std::time::Duration;

use loaderd_runtime::channel::InvocationReport;
use loaderd_runtime::compat::CompatFlags;
use loaderd_runtime::error::Blame;
use loaderd_runtime::isolate::{
    ClockPolicy, EntrypointSpec, HangPolicy, IsolateConfig, LoadCode, LoadError, LoadPhase, Uses,
};
use loaderd_runtime::limits::{Outcome, ResourceLimits};
use loaderd_runtime::modules::{
    CodeCachePolicy, CommonJs, ExtensionModule, ExtensionVisibility, Module, ModuleContent, WorkerSource,
};

use super::values::{
    micros, read_cap, read_maybe_cause, read_message, read_usage, write_cap, write_cause, write_message, write_usage,
};
use super::{Lower, Malformed, Raise, schema};
use crate::entrypoint::NOT_TRANSFERABLE;

pub(in crate::sandbox) fn write_isolate_config(
    config: &IsolateConfig,
    mut builder: schema::isolate_config::Builder<'_>,
) {
    builder.set_memory_bytes_max(config.memory_bytes_max as u64);
    builder.set_stack_bytes(config.stack_bytes as u64);
    builder.set_inbox_len_max(u32::try_from(config.inbox_len_max).unwrap_or(u32::MAX));
}

pub(in crate::sandbox) fn read_isolate_config(
    reader: schema::isolate_config::Reader<'_>,
) -> Result<IsolateConfig, Malformed> {
    let size = |bytes: u64| usize::try_from(bytes).map_err(|_| Malformed::TooMuch("bytes of an isolate"));
    Ok(IsolateConfig {
        memory_bytes_max: size(reader.get_memory_bytes_max())?,
        stack_bytes: size(reader.get_stack_bytes())?,
        inbox_len_max: reader.get_inbox_len_max() as usize,
        idle: None,
    })
}

pub(in crate::sandbox) fn write_load(
    worker: u64,
    code: &LoadCode,
    mut builder: schema::load::Builder<'_>,
    lower: Lower<'_>,
) {
    let words = code.compat.words();
    let mut compat = builder.reborrow().init_compat(u32::try_from(words.len()).unwrap_or(0));
    for (index, word) in (0..).zip(words) {
        compat.set(index, *word);
    }
    builder.set_worker(worker);
    builder.set_main_module(code.source.main_module.as_str());
    // The runtime's own modules are at the other end already.
    let given = code.source.modules.iter().filter(|module| !matches!(module.content, ModuleContent::Builtin));
    let count = u32::try_from(given.clone().count()).unwrap_or(0);
    let mut modules = builder.reborrow().init_modules(count);
    for (index, module) in (0..count).zip(given) {
        let mut to = modules.reborrow().get(index);
        to.set_name(module.name.as_str());
        match &module.content {
            ModuleContent::EsModule(text) => to.set_es_module(&**text),
            ModuleContent::ServiceWorker(text) => to.set_service_worker(&**text),
            ModuleContent::CommonJs(CommonJs { source, named_exports }) => {
                to.set_common_js(&**source);
                let count = u32::try_from(named_exports.len()).unwrap_or(0);
                let mut names = to.reborrow().init_named_exports(count);
                for (index, name) in (0..count).zip(named_exports.iter()) {
                    names.set(index, name.as_str());
                }
            }
            ModuleContent::Text(text) => to.set_text(&**text),
            ModuleContent::Data(bytes) => to.set_data(bytes),
            ModuleContent::Json(text) => to.set_json(&**text),
            ModuleContent::Wasm(bytes) => to.set_wasm(bytes),
            // Filtered out above.
            ModuleContent::Builtin => {}
        }
        to.set_code_cache(match module.code_cache {
            CodeCachePolicy::None => schema::module::CodeCache::None,
            CodeCachePolicy::Shared => schema::module::CodeCache::Shared,
        });
    }
    let extensions = &code.source.extensions;
    let mut offered = builder.reborrow().init_extensions(u32::try_from(extensions.len()).unwrap_or(0));
    for (index, module) in (0..offered.len()).zip(extensions.iter()) {
        let mut to = offered.reborrow().get(index);
        to.set_name(module.name.as_str());
        to.set_source(&*module.source);
        to.set_internal(module.visibility == ExtensionVisibility::Internal);
    }
    if let Some(env) = &code.env {
        write_message(env, builder.reborrow().init_env(), lower);
    }
    if let Some(outbound) = &code.channels.global_outbound {
        write_cap(&lower(outbound), builder.reborrow().init_global_outbound());
    }
    if let Some(cache) = &code.channels.cache {
        write_cap(&lower(cache), builder.reborrow().init_cache());
    }
    builder.set_console(code.channels.console.is_some());
    builder.set_startup_cpu(micros(code.startup_cpu));
    write_limits(code.limits, builder.reborrow().init_limits());
    builder.set_on_hang(match code.on_hang {
        HangPolicy::Report => schema::load::OnHang::Report,
        HangPolicy::Wait => schema::load::OnHang::Wait,
    });
    builder.set_uses(match code.uses {
        Uses::Many => schema::load::Uses::Many,
        Uses::One => schema::load::Uses::One,
    });
    builder.set_clock(match code.clock {
        ClockPolicy::Frozen => schema::load::Clock::Frozen,
        ClockPolicy::Real => schema::load::Clock::Real,
    });
}

/// Everything but the console sink, which is the receiver's to make (`true`: one is wanted).
pub(in crate::sandbox) fn read_load(
    reader: schema::load::Reader<'_>,
    raise: Raise<'_>,
) -> Result<(LoadCode, bool), Malformed> {
    let mut modules = Vec::with_capacity(reader.get_modules()?.len() as usize);
    for module in reader.get_modules()? {
        let text = |text: capnp::Result<capnp::text::Reader<'_>>| -> Result<Arc<str>, Malformed> {
            Ok(Arc::from(text?.to_str()?))
        };
        let content = match module.which()? {
            schema::module::EsModule(source) => ModuleContent::EsModule(text(source)?),
            schema::module::ServiceWorker(source) => ModuleContent::ServiceWorker(text(source)?),
            schema::module::CommonJs(source) => {
                let names = module.get_named_exports()?.iter().map(|name| Ok(name?.to_string()?));
                let named_exports = names.collect::<Result<Arc<[String]>, Malformed>>()?;
                ModuleContent::CommonJs(CommonJs { source: text(source)?, named_exports })
            }
            schema::module::Text(content) => ModuleContent::Text(text(content)?),
            schema::module::Data(bytes) => ModuleContent::Data(Arc::from(bytes?)),
            schema::module::Json(content) => ModuleContent::Json(text(content)?),
            schema::module::Wasm(bytes) => ModuleContent::Wasm(Arc::from(bytes?)),
        };
        let code_cache = match module.get_code_cache()? {
            schema::module::CodeCache::None => CodeCachePolicy::None,
            schema::module::CodeCache::Shared => CodeCachePolicy::Shared,
        };
        modules.push(Module { name: module.get_name()?.to_str()?.to_owned(), content, code_cache });
    }
    let mut extensions = Vec::with_capacity(reader.get_extensions()?.len() as usize);
    for module in reader.get_extensions()? {
        extensions.push(ExtensionModule {
            name: module.get_name()?.to_str()?.to_owned(),
            visibility: match module.get_internal() {
                true => ExtensionVisibility::Internal,
                false => ExtensionVisibility::Public,
            },
            source: Arc::from(module.get_source()?.to_str()?),
        });
    }
    let env = match reader.has_env() {
        true => Some(read_message(reader.get_env()?, raise)?),
        false => None,
    };
    let global_outbound = match reader.has_global_outbound() {
        true => Some(raise(read_cap(reader.get_global_outbound()?)?)?),
        false => None,
    };
    let cache = match reader.has_cache() {
        true => Some(raise(read_cap(reader.get_cache()?)?)?),
        false => None,
    };
    let code = LoadCode {
        source: WorkerSource {
            main_module: reader.get_main_module()?.to_str()?.to_owned(),
            modules,
            extensions: extensions.into(),
        },
        env,
        channels: loaderd_runtime::channel::Channels {
            global_outbound,
            cache,
            // Whatever is in a sandbox process was loaded.
            refuses_transfer: Some(NOT_TRANSFERABLE),
            ..Default::default()
        },
        startup_cpu: Duration::from_micros(reader.get_startup_cpu()),
        limits: read_limits(reader.get_limits()?)?,
        on_hang: match reader.get_on_hang()? {
            schema::load::OnHang::Report => HangPolicy::Report,
            schema::load::OnHang::Wait => HangPolicy::Wait,
        },
        uses: match reader.get_uses()? {
            schema::load::Uses::Many => Uses::Many,
            schema::load::Uses::One => Uses::One,
        },
        clock: match reader.get_clock()? {
            schema::load::Clock::Frozen => ClockPolicy::Frozen,
            schema::load::Clock::Real => ClockPolicy::Real,
        },
        compat: CompatFlags::from_words(reader.get_compat()?.iter())
            .ok_or(Malformed::Unexpected("flags of another build"))?,
    };
    Ok((code, reader.get_console()))
}

pub(in crate::sandbox) fn write_load_error(error: &LoadError, mut builder: schema::load_error::Builder<'_>) {
    builder.set_message(error.message.as_str());
    builder.set_phase(match error.phase {
        LoadPhase::Compile => schema::load_error::Phase::Compile,
        LoadPhase::Evaluate => schema::load_error::Phase::Evaluate,
    });
    if let Some(cause) = error.cause {
        builder.reborrow().init_cause().set_some(write_cause(cause));
    }
    builder.set_blame(match error.blame {
        Blame::Program => schema::load_error::Blame::Program,
        Blame::Host => schema::load_error::Blame::Host,
        Blame::Platform => schema::load_error::Blame::Platform,
    });
    match error.startup_cpu {
        None => builder.get_startup_cpu().set_unknown(()),
        Some(cpu) => builder.get_startup_cpu().set_micros(micros(cpu)),
    }
}

pub(in crate::sandbox) fn read_load_error(reader: schema::load_error::Reader<'_>) -> Result<LoadError, Malformed> {
    Ok(LoadError {
        message: reader.get_message()?.to_str()?.to_owned(),
        phase: match reader.get_phase()? {
            schema::load_error::Phase::Compile => LoadPhase::Compile,
            schema::load_error::Phase::Evaluate => LoadPhase::Evaluate,
        },
        cause: read_maybe_cause(reader.get_cause()?)?,
        blame: match reader.get_blame()? {
            schema::load_error::Blame::Program => Blame::Program,
            schema::load_error::Blame::Host => Blame::Host,
            schema::load_error::Blame::Platform => Blame::Platform,
        },
        startup_cpu: match reader.get_startup_cpu().which()? {
            schema::load_error::startup_cpu::Unknown(()) => None,
            schema::load_error::startup_cpu::Micros(cpu) => Some(Duration::from_micros(cpu)),
        },
    })
}

pub(in crate::sandbox) fn write_entrypoint(
    worker: u64,
    entrypoint: u32,
    spec: &EntrypointSpec,
    mut builder: schema::entrypoint::Builder<'_>,
    lower: Lower<'_>,
) {
    let mut reference = builder.reborrow().init_ref();
    reference.set_worker(worker);
    reference.set_entrypoint(entrypoint);
    match &spec.name {
        None => builder.reborrow().init_named().set_default(()),
        Some(name) => builder.reborrow().init_named().set_name(name.as_str()),
    }
    if let Some(props) = &spec.props {
        write_message(props, builder.reborrow().init_props(), lower);
    }
    write_limits(spec.limits, builder.init_limits());
}

pub(in crate::sandbox) fn read_entrypoint(
    reader: schema::entrypoint::Reader<'_>,
    raise: Raise<'_>,
) -> Result<EntrypointSpec, Malformed> {
    let name = match reader.get_named().which()? {
        schema::entrypoint::named::Default(()) => None,
        schema::entrypoint::named::Name(name) => Some(name?.to_str()?.to_owned()),
    };
    let props = match reader.has_props() {
        true => Some(read_message(reader.get_props()?, raise)?),
        false => None,
    };
    Ok(EntrypointSpec { name, props, limits: read_limits(reader.get_limits()?)? })
}

pub(in crate::sandbox) fn write_report(
    question: u64,
    report: &InvocationReport,
    mut builder: schema::report::Builder<'_>,
) {
    builder.set_question(question);
    builder.set_outcome(match report.outcome {
        Outcome::Ok => schema::Outcome::Ok,
        Outcome::Exception => schema::Outcome::Exception,
        Outcome::Canceled => schema::Outcome::Canceled,
        Outcome::ExceededCpu => schema::Outcome::ExceededCpu,
        Outcome::ExceededMemory => schema::Outcome::ExceededMemory,
        Outcome::ExceededWallTime => schema::Outcome::ExceededWallTime,
        Outcome::InternalError => schema::Outcome::InternalError,
    });
    write_usage(report.usage, builder.init_usage());
}

pub(in crate::sandbox) fn read_report(reader: schema::report::Reader<'_>) -> Result<InvocationReport, Malformed> {
    let outcome = match reader.get_outcome()? {
        schema::Outcome::Ok => Outcome::Ok,
        schema::Outcome::Exception => Outcome::Exception,
        schema::Outcome::Canceled => Outcome::Canceled,
        schema::Outcome::ExceededCpu => Outcome::ExceededCpu,
        schema::Outcome::ExceededMemory => Outcome::ExceededMemory,
        schema::Outcome::ExceededWallTime => Outcome::ExceededWallTime,
        schema::Outcome::InternalError => Outcome::InternalError,
    };
    Ok(InvocationReport { outcome, usage: read_usage(reader.get_usage()?) })
}

fn write_limits(limits: ResourceLimits, mut builder: schema::limits::Builder<'_>) {
    if let Some(cpu_ms) = limits.cpu_ms {
        builder.reborrow().init_cpu_ms().set_some(cpu_ms);
    }
    if let Some(sub_requests) = limits.sub_requests {
        builder.init_sub_requests().set_some(sub_requests);
    }
}

fn read_limits(reader: schema::limits::Reader<'_>) -> Result<ResourceLimits, Malformed> {
    fn maybe(reader: schema::maybe_u_int32::Reader<'_>) -> Result<Option<u32>, Malformed> {
        Ok(match reader.which()? {
            schema::maybe_u_int32::None(()) => None,
            schema::maybe_u_int32::Some(value) => Some(value),
        })
    }
    Ok(ResourceLimits { cpu_ms: maybe(reader.get_cpu_ms()?)?, sub_requests: maybe(reader.get_sub_requests()?)? })
}
