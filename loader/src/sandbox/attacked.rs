//! A broker's end of a connection under attack, without a process: for fuzzing, and for a test that does a little of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use loaderd_runtime::channel::{Channels, InvocationReport};
use loaderd_runtime::isolate::{EntrypointSpec, IsolateConfig, LoadCode};
use loaderd_runtime::limits::ResourceLimits;
use loaderd_runtime::modules::WorkerSource;
use loaderd_runtime::rpc::{Call, Cap, CapKind, Capability, Message, Op, Reply};

use super::exit::Restart;
use super::process::{Gone, Owner, Process, Setup};
use super::socket::SendRoom;
use super::worker::RemoteWorker;
use crate::confine::LayerStatus;
use crate::placement::{PlacedIsolate, StartRequest};

/// A pool that has one process and no interest in it.
struct Nobody;

impl Owner for Nobody {
    fn released(&self, _: &Arc<Process>) {}
    fn process_gone(&self, _: &Arc<Process>, _: Gone) {}
    fn wake(&self) {}
    fn welcomed(&self, _: &[LayerStatus]) {}
}

/// A host that answers at once.
struct Host;

impl Capability for Host {
    fn call(&self, _: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        reply.send(Ok(Message::default()));
        None
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// Takes bytes from a sandbox process that has one Worker, number 1, which was called once, question 1, and was given
/// one object, number 1.
///
/// # Panics
/// Anybody who waits was not answered exactly once, or told of more CPU time than time has gone by.
pub fn attack(bytes: &[u8]) {
    let began = Instant::now();
    let can_be = move |cpu: Duration| assert!(cpu <= began.elapsed(), "{cpu:?} of CPU time");
    let owner: Arc<dyn Owner> = Arc::new(Nobody);
    let room = SendRoom::of_pool();
    let isolate = IsolateConfig::default();
    let setup = Setup { isolate: &isolate, isolates_warm: 1, isolates_max: 2, send_room: &room };
    let Ok((process, theirs)) = Process::unstarted(1, &setup, &owner) else { return };
    let [started, ended, replied, reported] = [const { AtomicUsize::new(0) }; 4].map(Arc::new);
    let once = |count: &Arc<AtomicUsize>| {
        let count = count.clone();
        move || {
            count.fetch_add(1, SeqCst);
        }
    };
    let (on_started, on_end) = (once(&started), once(&ended));
    let request = StartRequest {
        code: Arc::new(LoadCode {
            source: WorkerSource { main_module: "m".into(), modules: Vec::new(), extensions: Default::default() },
            env: None,
            channels: Channels::default(),
            startup_cpu: Duration::from_secs(1),
            limits: ResourceLimits::default(),
            on_hang: Default::default(),
            uses: Default::default(),
            clock: Default::default(),
            compat: Default::default(),
        }),
        tenant: None,
        on_started: Box::new(move |outcome| {
            can_be(
                outcome.map_or_else(|error| error.startup_cpu(), |report| Some(report.startup_cpu)).unwrap_or_default(),
            );
            on_started();
        }),
        on_end: Box::new(move |_| on_end()),
    };
    let worker = RemoteWorker::start(&process, request, None, None);
    let entrypoint = worker.entrypoint(EntrypointSpec::default());
    let host = Cap { kind: CapKind::Object, target: Arc::new(Host) };
    let call = Call::new(Vec::new(), Op::Call(Message { bytes: Vec::new().into(), caps: vec![host] }));
    let (on_reply, on_report) = (once(&replied), once(&reported));
    let reply = Reply::new(move |answer| {
        can_be(answer.usage.cpu);
        on_reply();
    });
    let on_report = move |report: InvocationReport| {
        can_be(report.usage.cpu);
        on_report();
    };
    let invoked = entrypoint.invoke(call, reply, Box::new(on_report));
    process.session().attacked_with(bytes);
    process.settle(Gone::Early(Restart::Garbage));
    can_be(Duration::from_micros(process.counters().overshoot.sum_us));
    drop((invoked, entrypoint, worker, theirs));
    for (what, count) in [("started", started), ("ended", ended), ("replied", replied), ("reported", reported)] {
        assert_eq!(count.load(SeqCst), 1, "{what}");
    }
}

#[cfg(test)]
mod tests {
    use loaderd_schema::channel_capnp as schema;

    use super::attack;

    /// Attacks of one run; there are more in `fuzz/`.
    const ATTACKS: usize = 20_000;

    fn frame(fill: impl FnOnce(schema::frame::Builder<'_>)) -> Vec<u8> {
        let mut message = capnp::message::Builder::new(capnp::message::HeapAllocator::new());
        fill(message.init_root());
        capnp::serialize::write_message_to_words(&message)
    }

    /// What a sandbox process says that behaves, but for the times that it claims.
    fn good_frames() -> Vec<Vec<u8>> {
        vec![
            frame(|frame| frame.init_welcome().set_version(1)),
            frame(|frame| {
                let mut loaded = frame.init_loaded();
                loaded.set_worker(1);
                let mut ok = loaded.init_ok();
                ok.set_startup_cpu(u64::MAX);
                ok.init_entrypoints(1).get(0).set_name("default");
            }),
            frame(|frame| {
                let mut loaded = frame.init_loaded();
                loaded.set_worker(1);
                loaded.init_error().init_startup_cpu().set_micros(u64::MAX);
            }),
            frame(|frame| {
                let mut call = frame.init_call();
                call.set_question(1);
                call.reborrow().init_target().set_export(1);
                call.reborrow().init_path(2).set(1, "name");
                let mut message = call.init_op().init_call();
                message.set_bytes(b"bytes");
                message.init_caps(1).get(0).set_sender_hosted(3);
            }),
            frame(|frame| {
                let mut answer = frame.init_answer();
                answer.set_question(1);
                answer.set_pipeline_held(true);
                answer.reborrow().init_usage().set_cpu(u64::MAX);
                let mut error = answer.init_result().init_error();
                error.set_message("message");
                error.init_thrown().init_caps(1).get(0).set_receiver_hosted(1);
            }),
            frame(|mut frame| frame.set_release(1)),
            frame(|mut frame| frame.set_finish(1)),
            frame(|frame| frame.init_ended().set_worker(1)),
            frame(|frame| {
                let mut report = frame.init_report();
                report.set_question(1);
                report.init_usage().set_cpu(u64::MAX);
            }),
            frame(|frame| frame.init_console().set_worker(1)),
            frame(|frame| {
                let mut pong = frame.init_pong();
                pong.set_nonce(1);
                let mut counters = pong.init_counters();
                counters.set_overshoot_sum(u64::MAX);
                counters.init_overshoot(13);
            }),
            frame(|frame| frame.init_gone().set_worker(1)),
        ]
    }

    #[test]
    fn nobody_is_told_of_more_cpu_time_than_time_has_gone_by() {
        for frame in good_frames() {
            attack(&frame);
        }
    }

    /// Good frames, cut up, repeated, in any order and with bits turned over: whatever comes of it, everybody who waits is
    /// answered once.
    #[test]
    fn whatever_a_process_says_everybody_is_answered_once() {
        let frames = good_frames();
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 11).unwrap_or(0) % below.max(1)
        };
        for _ in 0..ATTACKS {
            let mut bytes: Vec<u8> = Vec::new();
            for _ in 0..=random(6) {
                bytes.extend_from_slice(&frames[random(frames.len())]);
            }
            for _ in 0..random(8) {
                let (at, bit) = (random(bytes.len()), random(8));
                bytes[at] ^= 1 << bit;
            }
            if random(4) == 0 {
                bytes.truncate(random(bytes.len()));
            }
            attack(&bytes);
        }
    }
}
