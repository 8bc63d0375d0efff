//! What a hostile sandbox process sends: every kind of frame malformed, out of place, about what it never was given,
//! and in numbers. A worker in it is number 1, the broker's first question is 1, and so is its first object.

use capnp::message::{Builder, HeapAllocator};
use loaderd_runtime::rpc::plain::Plain;
use loaderd_schema::channel_capnp as schema;

/// When the attack begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Instead of greeting.
    Greeting,
    /// Instead of starting the Worker.
    Load,
    /// Instead of answering the call that runs the program.
    Call,
}

/// One attack.
pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) at: Moment,
    /// All it sends; `None`: it closes the connection instead.
    pub(super) bytes: fn() -> Option<Vec<u8>>,
    /// How the pass in it ends.
    pub(super) ends: &'static str,
}

const TERMINATED: &str = "CodeExecutorTerminatedError";
const NOT_STARTED: &str = "CodeExecutorStartError";
const DEADLINE: &str = "CodeExecutionTimeoutError";
const PROTOCOL: &str = "CodeExecutionProtocolError";
const HOST_CALLS: &str = "CodeHostCallLimitError";

/// Frames of a flood.
const FLOOD: usize = 50_000;

/// A frame as it goes over the socket.
pub(super) fn frame(fill: impl FnOnce(schema::frame::Builder<'_>)) -> Vec<u8> {
    let mut message = Builder::new(HeapAllocator::new());
    fill(message.init_root());
    capnp::serialize::write_message_to_words(&message)
}

fn one(fill: impl FnOnce(schema::frame::Builder<'_>)) -> Option<Vec<u8>> {
    Some(frame(fill))
}

/// The same frame very often.
fn flood(fill: impl FnOnce(schema::frame::Builder<'_>)) -> Option<Vec<u8>> {
    Some(frame(fill).repeat(FLOOD))
}

/// Of a Worker nothing is left, without a limit having been met.
fn gone(worker: u64) -> impl FnOnce(schema::frame::Builder<'_>) {
    move |frame| {
        let mut end = frame.init_gone();
        end.set_worker(worker);
        end.set_cause(schema::Cause::Shutdown);
    }
}

/// Bytes without any structure, the same in each run.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0] | 1
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

/// One segment of these words.
fn words(words: &[u64]) -> Vec<u8> {
    let length = u32::try_from(words.len()).unwrap_or(0);
    let header = [0_u32.to_le_bytes(), length.to_le_bytes()].concat();
    [header, words.iter().flat_map(|word| word.to_le_bytes()).collect()].concat()
}

fn call(frame: schema::frame::Builder<'_>, question: u64, export: u64) {
    let mut call = frame.init_call();
    call.set_question(question);
    call.reborrow().init_target().set_export(export);
    call.reborrow().init_path(0);
    call.init_op().init_call().set_bytes(b"\xff\x0fA\x00$\x00\x00");
}

/// A call of the pass's host, as a program makes it.
fn host_call(frame: schema::frame::Builder<'_>, question: u64) {
    let arguments = Plain::arguments(["host", "call", "1"].map(Plain::from).to_vec()).expect("plain arguments");
    let mut call = frame.init_call();
    call.set_question(question);
    call.reborrow().init_target().set_export(1);
    call.init_op().init_call().set_bytes(&arguments.bytes);
}

fn answer(frame: schema::frame::Builder<'_>, question: u64, bytes: &[u8]) {
    let mut answer = frame.init_answer();
    answer.set_question(question);
    answer.init_result().init_value().set_bytes(bytes);
}

macro_rules! attacks {
    ($($name:ident, $at:ident, $ends:ident: $bytes:expr;)+) => {
        /// Every attack.
        pub(super) const ATTACKS: &[Attack] = &[
            $(Attack { name: stringify!($name), at: Moment::$at, bytes: || $bytes, ends: $ends },)+
        ];
    };
}

attacks! {
    // Bytes.
    // A process that exits before it has said anything is one that does not run on this machine.
    closed_at_greeting, Greeting, NOT_STARTED: None;
    nothing_at_greeting, Greeting, DEADLINE: Some(Vec::new());
    noise_at_greeting, Greeting, TERMINATED: Some(noise(64 << 10));
    closed_at_load, Load, TERMINATED: None;
    noise_at_load, Load, TERMINATED: Some(noise(64 << 10));
    closed_at_call, Call, TERMINATED: None;
    noise_at_call, Call, TERMINATED: Some(noise(1 << 20));
    nothing, Call, DEADLINE: Some(Vec::new());
    half_a_header, Call, DEADLINE: Some(vec![0, 0, 0]);
    very_many_segments, Call, TERMINATED: Some(vec![0xff; 4096]);
    a_frame_too_large, Call, TERMINATED: Some([0_u32.to_le_bytes(), (64_u32 << 20).to_le_bytes()].concat());
    an_empty_message, Call, TERMINATED: Some(vec![0; 8]);
    a_pointer_out_of_bounds, Call, TERMINATED: Some(words(&[0x7fff_fffc_0000_0000]));
    a_far_pointer_to_nowhere, Call, TERMINATED: Some(words(&[0x0000_0063_ffff_fffa]));
    a_list_that_claims_the_world, Call, TERMINATED: Some(words(&[0x0001_0001_0000_0000, 2, 0xffff_ffff_0000_0001]));
    a_kind_that_does_not_exist, Call, TERMINATED: Some(words(&[0x0001_0001_0000_0000, 999, 0]));
    // What only a broker says, and greetings.
    hello, Call, TERMINATED: one(|frame| frame.init_hello().set_version(1));
    load, Call, TERMINATED: one(|frame| frame.init_load().set_worker(1));
    entrypoint, Call, TERMINATED: one(|frame| { frame.init_entrypoint(); });
    release_entrypoint, Call, TERMINATED: one(|frame| { frame.init_release_entrypoint(); });
    end, Call, TERMINATED: one(|frame| frame.init_end().set_worker(1));
    end_invocation, Call, TERMINATED: one(|frame| { frame.init_end_invocation(); });
    release_worker, Call, TERMINATED: one(|mut frame| frame.set_release_worker(1));
    ping, Call, TERMINATED: one(|mut frame| frame.set_ping(1));
    welcome_of_another_version, Greeting, TERMINATED: one(|frame| frame.init_welcome().set_version(99));
    welcome_twice, Call, TERMINATED: one(|frame| frame.init_welcome().set_version(schema::PROTOCOL_VERSION));
    // Calls.
    call_on_an_object_that_never_was, Call, TERMINATED: one(|frame| call(frame, 1, 77));
    call_on_no_object, Call, TERMINATED: one(|frame| call(frame, 1, u64::MAX));
    call_on_an_entrypoint, Call, TERMINATED: one(|frame| {
        frame.init_call().init_target().init_entrypoint().set_worker(1);
    });
    call_on_a_result_that_never_was, Call, DEADLINE: one(|frame| {
        let mut call = frame.init_call();
        call.reborrow().init_target().set_result(77);
        call.init_op().set_get(());
    });
    call_with_a_long_path, Call, TERMINATED: one(|frame| {
        let mut call = frame.init_call();
        call.reborrow().init_target().set_export(1);
        call.init_path(100_000);
    });
    call_with_too_many_capabilities, Call, TERMINATED: one(|frame| {
        let mut call = frame.init_call();
        call.reborrow().init_target().set_export(1);
        call.init_op().init_call().init_caps(100_000);
    });
    call_with_a_stranger_s_object, Call, TERMINATED: one(|frame| {
        let mut call = frame.init_call();
        call.reborrow().init_target().set_export(1);
        call.init_op().init_call().init_caps(1).get(0).set_receiver_hosted(u64::MAX);
    });
    call_whose_name_is_no_text, Call, TERMINATED: {
        let mut bytes = frame(|frame| {
            let mut call = frame.init_call();
            call.reborrow().init_target().set_export(1);
            call.init_path(1).set(0, "NAMENAME");
        });
        let at = bytes.windows(8).position(|window| window == b"NAMENAME").unwrap_or(0);
        bytes[at] = 0xff;
        Some(bytes)
    };
    flood_of_calls, Call, HOST_CALLS: Some((1..=FLOOD as u64).flat_map(|question| frame(|frame| call(frame, question, 1))).collect());
    the_same_question_twice, Call, TERMINATED: Some(frame(|frame| host_call(frame, 1)).repeat(2));
    // Answers.
    answer_to_no_question, Call, TERMINATED: one(|frame| answer(frame, 77, b""));
    answer_of_nothing, Call, PROTOCOL: one(|frame| answer(frame, 1, b""));
    answer_of_noise, Call, PROTOCOL: one(|frame| answer(frame, 1, &noise(100_000)));
    answer_far_too_large, Call, TERMINATED: one(|frame| answer(frame, 1, &vec![0; 40 << 20]));
    answer_twice, Call, PROTOCOL: Some(frame(|frame| answer(frame, 1, b"")).repeat(2));
    answer_not_pipelined, Call, TERMINATED: one(|frame| {
        let mut answer = frame.init_answer();
        answer.set_question(1);
        answer.init_result().set_not_pipelined(());
    });
    answer_with_a_stranger_s_object, Call, TERMINATED: one(|frame| {
        let mut answer = frame.init_answer();
        answer.set_question(1);
        answer.init_result().init_value().init_caps(1).get(0).set_receiver_hosted(u64::MAX);
    });
    answer_error_with_an_object_inside_an_object, Call, TERMINATED: one(|frame| {
        let mut answer = frame.init_answer();
        answer.set_question(1);
        let cap = answer.init_result().init_error().init_thrown().init_caps(1).get(0);
        cap.init_broken().init_thrown().init_caps(1).get(0).set_sender_hosted(1);
    });
    // References.
    release_of_what_never_was, Call, TERMINATED: one(|mut frame| frame.set_release(77));
    flood_of_releases, Call, DEADLINE: flood(|mut frame| frame.set_release(1));
    flood_of_finishes, Call, DEADLINE: flood(|mut frame| frame.set_finish(u64::MAX));
    // Workers.
    loaded_a_stranger, Call, DEADLINE: one(|frame| frame.init_loaded().set_worker(77));
    loaded_twice, Call, DEADLINE: one(|frame| frame.init_loaded().set_worker(1));
    gone_without_an_end, Call, TERMINATED: one(gone(1));
    gone_before_it_started, Load, TERMINATED: one(gone(1));
    gone_again_and_again, Call, TERMINATED: flood(gone(1));
    a_stranger_is_gone, Call, DEADLINE: flood(gone(77));
    ended_and_then_nothing, Call, TERMINATED: one(|frame| {
        let mut end = frame.init_ended();
        end.set_worker(1);
        end.set_cause(schema::Cause::ExceededMemory);
    });
    a_stranger_ended, Call, DEADLINE: flood(|frame| frame.init_ended().set_worker(77));
    flood_of_reports, Call, DEADLINE: Some(
        (2..=FLOOD as u64).flat_map(|question| frame(|frame| frame.init_report().set_question(question))).collect()
    );
    flood_of_console_lines, Call, DEADLINE: flood(|frame| {
        let mut console = frame.init_console();
        console.set_worker(1);
        console.set_text("a line that nobody asked for");
    });
    // Signs of life.
    pong_to_no_ping, Call, TERMINATED: one(|frame| frame.init_pong().set_nonce(u64::MAX));
    pong_without_counters, Call, TERMINATED: one(|frame| frame.init_pong().set_nonce(1));
    counters_of_other_buckets, Call, TERMINATED: one(|frame| { frame.init_counters().init_overshoot(1); });
    counters_beyond_belief, Call, DEADLINE: one(|frame| {
        let mut counters = frame.init_counters();
        counters.set_isolates_alive(u32::MAX);
        counters.set_overshoot_sum(u64::MAX);
        let buckets = loaderd_runtime::limits::overshoot::BUCKETS as u32;
        let mut list = counters.init_overshoot(buckets);
        for index in 0..buckets {
            list.set(index, u64::MAX);
        }
    });
}
