@0xd1a6c2f0b75e9384;
# What the broker and one sandbox process say to each other, over one inherited Unix socket.
#
# The broker holds sockets, files and host capabilities; the sandbox holds V8 and nothing else. Each sends `Frame`s in
# Cap'n Proto's stream framing. Both keep the same tables: exports (what the other end may call here) and questions
# (calls the other end has not answered). Neither trusts the other's numbers: an unknown one ends the connection.
#
# This is a session layer of its own rather than Cap'n Proto's RPC protocol, because one end is hostile by assumption:
# every table here has a bound, and a call leaves from, and an answer arrives on, the thread it concerns.

const protocolVersion :UInt32 = 1;
# Broker and sandbox are the same binary, so versions only differ when something is very wrong. Then they part.

using Microseconds = UInt64;
using WorkerId = UInt64;
# One load, numbered by the broker, never reused. 0: belongs to no worker.
using QuestionId = UInt64;
# One call, numbered by whoever asks, never reused.
using ExportId = UInt64;
# One reference to an object, numbered by the process the object lives in, never reused.

struct Frame {
  union {
    hello @0 :Hello;
    # Broker to sandbox, first.
    welcome @1 :Welcome;
    # Sandbox to broker, first: it is confined and ready.

    call @2 :Call;
    answer @3 :Answer;
    release @4 :ExportId;
    # The sender dropped its reference to this object of the receiver's.
    finish @5 :QuestionId;
    # The sender no longer calls what the result of its question stood for (only after `Answer.pipelineHeld`).

    load @6 :Load;
    loaded @7 :Loaded;
    entrypoint @8 :Entrypoint;
    releaseEntrypoint @9 :EntrypointRef;
    end @10 :End;
    # Broker to sandbox: end the whole worker.
    endInvocation @11 :EndInvocation;
    releaseWorker @12 :WorkerId;
    # Broker to sandbox: nobody holds the worker any more.

    ended @13 :End;
    # Sandbox to broker: the worker was condemned, this is why. Its thread may still be busy.
    gone @14 :End;
    # Sandbox to broker: the worker's thread and isolate are no more, and why. Comes without `ended` when the thread was
    # not busy.
    report @15 :Report;
    console @16 :Console;

    ping @17 :UInt64;
    pong @18 :Pong;
    counters @19 :Counters;
    # Sandbox to broker, unasked: a CPU limit was met, and the worker is about to be gone.
  }
}

struct Hello {
  version @0 :UInt32;
  isolatesWarm @1 :UInt32;
  # Never-used isolates to keep ready.
  isolatesMax @2 :UInt32;
  # Isolates alive at once, warm ones included.
  isolate @3 :IsolateConfig;
}

struct IsolateConfig {
  memoryBytesMax @0 :UInt64;
  stackBytes @1 :UInt64;
  inboxLenMax @2 :UInt32;
}

struct Welcome {
  version @0 :UInt32;
  confinement @1 :List(LayerStatus);
}

struct LayerStatus {
  layer @0 :Text;
  state @1 :State;
  detail @2 :Text;
  enum State {
    applied @0;
    partial @1;
    missing @2;
  }
}

# Values and calls

struct Message {
  bytes @0 :Data;
  # A value in V8's structured-clone format. Capabilities are mentioned by their index in `caps`.
  caps @1 :List(Cap);
}

struct Cap {
  kind @0 :Kind;
  countsAsSubrequest @1 :Bool;
  union {
    senderHosted @2 :ExportId;
    # A new reference, which the receiver releases.
    receiverHosted @3 :ExportId;
    # The receiver's own object, coming home. Transfers nothing.
    broken @4 :RpcError;
    # The sender could not pass it on. Every call fails with this.
  }
  enum Kind {
    object @0;
    function @1;
    service @2;
  }
}

struct Call {
  question @0 :QuestionId;
  target :union {
    export @1 :ExportId;
    result @2 :QuestionId;
    # What that earlier question of the sender's will answer: a pipelined call.
    entrypoint @3 :EntrypointRef;
  }
  path @4 :List(Text);
  op :union {
    get @5 :Void;
    call @6 :Message;
    event @8 :Message;
    # Of the kind that the path names.
  }
  wantsReport @7 :Bool;
  # Only with `entrypoint`: send a `report` once nothing of the invocation is left.
}

struct Answer {
  question @0 :QuestionId;
  usage @1 :Usage;
  pipelineHeld @2 :Bool;
  # The result can be called through `Call.target.result` until the asker sends `finish`.
  result :union {
    value @3 :Message;
    error @4 :RpcError;
    notPipelined @5 :Void;
    # Only for a pipelined call: its base has no result that calls could wait at. The asker awaits it instead.
  }
}

struct Usage {
  cpu @0 :Microseconds;
  wall @1 :Microseconds;
  subRequests @2 :UInt32;
}

struct RpcError {
  name @0 :Text;
  message @1 :Text;
  stack @2 :Text;
  # Empty: not shown.
  remote @3 :Bool;
  overloaded @4 :Bool;
  disconnected @5 :Bool;
  cause @6 :MaybeCause;
  thrown @7 :Message;
  # Null: `name` and `message` are all there is.
}

struct MaybeCause {
  union {
    none @0 :Void;
    some @1 :Cause;
  }
}

enum Cause {
  exceededCpu @0;
  exceededStartupCpu @1;
  exceededMemory @2;
  exceededWallTime @3;
  canceled @4;
  shutdown @5;
  condemned @6;
  internalError @7;
}

enum Outcome {
  ok @0;
  exception @1;
  canceled @2;
  exceededCpu @3;
  exceededMemory @4;
  exceededWallTime @5;
  internalError @6;
}

# Workers

struct Limits {
  cpuMs @0 :MaybeUInt32;
  subRequests @1 :MaybeUInt32;
}

struct MaybeUInt32 {
  union {
    none @0 :Void;
    some @1 :UInt32;
  }
}

struct Load {
  worker @0 :WorkerId;
  mainModule @1 :Text;
  modules @2 :List(Module);
  env @3 :Message;
  # Null: an empty object.
  globalOutbound @4 :Cap;
  # Null: refused.
  console @5 :Bool;
  # Whether somebody reads `console` frames of this worker.
  startupCpu @6 :Microseconds;
  limits @7 :Limits;
  onHang @8 :OnHang;
  clock @9 :Clock;
  compat @10 :List(UInt64);
  # The set of compatibility flags as both ends, one binary, number them.
  extensions @11 :List(Extension);
  cache @12 :Cap;
  # Null: refused.
  uses @13 :Uses;
  enum Uses {
    many @0;
    one @1;
  }
  enum OnHang {
    report @0;
    wait @1;
  }
  enum Clock {
    frozen @0;
    real @1;
  }
}

# A module that the host offers for import, an ES module.
struct Extension {
  name @0 :Text;
  source @1 :Text;
  internal @2 :Bool;
  # Only for other extensions and for wrapped bindings.
}

struct Module {
  name @0 :Text;
  union {
    esModule @1 :Text;
    commonJs @2 :Text;
    text @3 :Text;
    data @4 :Data;
    json @5 :Text;
    wasm @6 :Data;
    serviceWorker @8 :Text;
  }
  codeCache @7 :CodeCache;
  enum CodeCache {
    none @0;
    shared @1;
  }
  namedExports @9 :List(Text);
  # Of a commonJs module.
}

struct Loaded {
  worker @0 :WorkerId;
  union {
    ok :group {
      startupCpu @1 :Microseconds;
      entrypoints @3 :List(ExportedEntrypoint);
    }
    error @2 :LoadError;
  }
}

struct ExportedEntrypoint {
  name @0 :Text;
  handlers @1 :List(Text);
}

struct LoadError {
  message @0 :Text;
  phase @1 :Phase;
  cause @2 :MaybeCause;
  blame @3 :Blame;
  startupCpu :union {
    unknown @4 :Void;
    micros @5 :Microseconds;
  }
  enum Phase {
    compile @0;
    evaluate @1;
  }
  enum Blame {
    program @0;
    host @1;
    platform @2;
  }
}

struct EntrypointRef {
  worker @0 :WorkerId;
  entrypoint @1 :UInt32;
  # Numbered by the broker, per worker, never reused.
}

struct Entrypoint {
  ref @0 :EntrypointRef;
  named :union {
    default @1 :Void;
    name @2 :Text;
  }
  props @3 :Message;
  # Null: an empty object.
  limits @4 :Limits;
}

struct End {
  worker @0 :WorkerId;
  cause @1 :Cause;
}

struct EndInvocation {
  question @0 :QuestionId;
  cause @1 :Cause;
}

struct Report {
  question @0 :QuestionId;
  outcome @1 :Outcome;
  usage @2 :Usage;
}

struct Console {
  worker @0 :WorkerId;
  level @1 :Level;
  text @2 :Text;
  dropped @3 :UInt32;
  # Lines lost before this one because the broker did not keep up.
  enum Level {
    debug @0;
    info @1;
    log @2;
    warn @3;
    error @4;
  }
}

struct Pong {
  nonce @0 :UInt64;
  counters @1 :Counters;
}

struct Counters {
  # What a sandbox process counts, since it began where it is not about now.

  isolatesAlive @0 :UInt32;
  isolatesWarm @1 :UInt32;
  # Never used, ready.
  threadsStuck @2 :UInt32;
  # In a builtin that ignores being told to end, now.
  overshoot @3 :List(UInt64);
  # CPU limits that were met, by how much more was used: counts by bucket, as both ends, one binary, bound them.
  overshootSum @4 :Microseconds;
}
