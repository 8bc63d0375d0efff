@0xf70fb734e990e375;
# The code executor over Cap'n Proto: one program, one fresh isolate, one answer.
#
# A client connects (a Unix or TCP socket), takes the bootstrap capability, which is a `CodeExecutor`, and calls
# `execute` with a request and a host. While the program runs, the service calls the host back; when the program is
# done, `execute` answers with what became of it.
#
# Whatever a pass can end in is data in `PassOutcome`. A Cap'n Proto exception from `execute` means that the
# connection or the service failed, never that the program did.
#
# Three rules hold for every message here:
#
# 1. JSON values travel as JSON text, see `JsonText`.
# 2. `Text` is Unicode. Where JavaScript has a lone surrogate in a plain string (a log line, an error message), it
#    arrives as U+FFFD, which has the same length in UTF-8, so byte counts stay true.
# 3. Fields that may be absent are unions with a `Void` member, never magic numbers.
#
# Names and limits are those of the pass contract; a client that breaks one of them gets `Refusal.invalidRequest`.

const protocolVersion :UInt32 = 1;
# The version this schema describes. It grows when an old client or an old service would misunderstand a message;
# fields that may be ignored are added without it.

using JsonText = Text;
# One JSON value (RFC 8259), as text. A lone surrogate in a string is written as its escape (`\ud800`), which is valid
# JSON text although no UTF-8 text could hold the character itself. What the service sends is written exactly as
# JavaScript's `JSON.stringify` writes it, without spaces. What it receives may be written in any way, but an object
# may not name a member twice, and byte limits are measured on the text as JavaScript would write the same value.

using Nanoseconds = UInt64;
# A length of time on the monotonic clock.

interface CodeExecutor {
  # Runs programs. The bootstrap capability of the executor service.

  execute @0 (request :CodeExecutionRequest, host :PassHost) -> (outcome :PassOutcome);
  # Runs one program in an isolate of its own, which is destroyed afterwards.
  #
  # `host` is where the program's calls go. It may be null for a program that calls nothing; a call then ends the pass
  # as `hostDefect`. It is released as soon as the pass is over.
  #
  # Dropping the call cancels the pass: the isolate is ended, calls to `host` that are in flight are dropped (which is
  # how the host learns of it), and nothing of the pass remains. The same happens when the connection is lost.

  describe @1 () -> (description :ExecutorDescription);
  # Who answers here, and within which bounds.
}

interface PassHost {
  # What one program may call. Implemented by the client, called by the service.

  call @0 (call :CodeHostCall) -> (outcome :CodeHostCallOutcome);
  # One call of a namespace's method. A failure that the program may catch is an outcome, not an exception: an exception
  # is a defect of the host and ends the pass as `PassOutcome.hostDefect`.
  #
  # The service drops a call that it no longer waits for (the pass timed out, ended, or was cancelled). It calls in the
  # order in which the program did, at most `CodeExecutionLimits.hostCallConcurrency` at once.
}

struct ExecutorDescription {
  # What `describe` answers.

  protocolVersion @0 :UInt32;
  # The version the service speaks.

  serverVersion @1 :Text;
  # The version of the program that answers, for people.

  implementation @2 :Implementation;
  # What results and errors of this service will carry.

  bounds @3 :ServiceBounds;
}

struct ServiceBounds {
  # What one connection may use at once. Beyond it, calls are refused or the connection is closed.

  passesInFlight @0 :UInt32;
  # Calls of `execute` not yet answered; one more is answered with `Refusal.tooManyPasses`.

  messageBytes @1 :UInt64;
  # The largest message the service reads. A larger one closes the connection.

  capabilitiesPerMessage @2 :UInt32;
  # The most capabilities one message may carry. More close the connection.

  callsInFlight @3 :UInt32;
  # Calls of any method not yet finished by the client. More close the connection.
}

# ---------------------------------------------------------------------------------------------------- the request

struct CodeExecutionRequest {
  # One program and everything it is given.

  protocolVersion @0 :UInt32;
  # The version the client speaks: the constant `protocolVersion` of the schema it was written with.

  language @1 :Language;

  source @2 :Text;
  # One expression that evaluates to one function, usually an async arrow function. At most 4,194,304 UTF-16 units.

  namespaces @3 :List(CodeExecutionNamespace);
  # The globals offered to the program, at most 32. A later one of the same name replaces an earlier one.

  network :group {
    # What the program may reach on its own, past its host.

    union {
      disabled @4 :Void;
      # Nothing.

      allowlist @5 :NetworkAllowlist;
      # These hosts and ports. No executor here can enforce it; it is answered with `unsupported`.
    }
  }

  limits @6 :CodeExecutionLimits;

  tenant :group {
    # On whose behalf the program runs. Programs of different tenants never share a sandbox process, so what one does to
    # its process does not touch the other.

    union {
      none @7 :Void;
      # The service's own label (`--tenant`), or the company of other programs without one.

      label @8 :Text;
      # 1 to 256 UTF-16 units of the client's choosing. It is compared and never shown.
    }
  }
}

enum Language {
  javascript @0;
}

struct CodeExecutionNamespace {
  # A global object whose methods call the host.

  name @0 :Text;
  # An ASCII JavaScript identifier that is not a reserved word, at most 128 characters.

  methods @1 :List(Text);
  # 1 to 64 identifiers.
}

struct NetworkAllowlist {
  domains @0 :List(Text);
  # At most 256, each of 1 to 256 UTF-16 units.

  ports @1 :List(UInt16);
  # At most 256, none of them 0.
}

struct CodeExecutionLimits {
  # What one pass may use. "More than" the limit is refused; exactly the limit is allowed. Byte limits count UTF-8.

  sourceBytes @0 :UInt32;
  # Of the source: 1 to 4,194,304.

  wallTime @1 :Nanoseconds;
  # From the start of loading to the program's answer: more than 0.

  cpu :group {
    # CPU time of the program, calls to the host excluded.

    union {
      unlimited @2 :Void;
      millis @3 :UInt32;
      # 1 to 300,000.
    }
  }

  logBytes @4 :UInt32;
  # Of all captured console lines together: 1 to 1,048,576.

  resultBytes @5 :UInt32;
  # Of the result's JSON text: 1 to 4,194,304.

  hostCalls @6 :UInt32;
  # Calls to the host: 0 to 10,000.

  hostCallConcurrency :group {
    # Calls to the host running at once.

    union {
      default @7 :Void;
      # 4.

      calls @8 :UInt32;
      # 1 to 64.
    }
  }

  hostCallArgumentBytes @9 :UInt32;
  # Of one argument's JSON text: 1 to 1,048,576.

  hostCallResultBytes @10 :UInt32;
  # Of the JSON text of one outcome's value, success or failure: 1 to 4,194,304.
}

# ------------------------------------------------------------------------------------------------- calls to the host

struct CodeHostCall {
  # What the program called.

  namespace @0 :Text;
  method @1 :Text;

  argument @2 :JsonText;
  # The method's one argument.
}

struct CodeHostCallOutcome {
  # How the host answers. Anything else than these two, or text that is not JSON, ends the pass with `protocol`.

  union {
    success @0 :JsonText;
    # The method's promise fulfils with this value.

    failure @1 :JsonText;
    # The method's promise rejects with this value as it is, not wrapped in an Error.
  }
}

# ---------------------------------------------------------------------------------------------------- the outcome

struct PassOutcome {
  # What became of one call of `execute`.

  union {
    success @0 :CodeExecutionResult;
    # The program returned a JSON value.

    failure @1 :CodeExecutionError;
    # One of the nine errors a pass can end in.

    hostDefect @2 :HostDefect;
    # The host broke: it answered a call with an exception, or was gone.

    hostInterrupted @3 :Void;
    # The host gave up a call on its own, which interrupts the pass.

    refused @4 :Refusal;
    # The request never became a pass.
  }
}

struct Implementation {
  # Which kind of executor ran the pass. Every result and every error carries it.

  isolation @0 :Isolation;

  identity @1 :Text;
  # The executor's name, 1 to 256 UTF-16 units.
}

enum Isolation {
  isolated @0;
  unisolated @1;
}

struct CodeExecutionResult {
  implementation @0 :Implementation;

  value @1 :JsonText;
  # What the program returned.

  logs @2 :List(Text);
  # Its console lines, in order: at most 4,096, each at most 16,384 UTF-16 units.

  resourceUse @3 :ResourceUse;
}

struct ResourceUse {
  # What a completed pass used.

  wallTime @0 :Nanoseconds;
  # From the start of loading until calls to the host were wound up.

  hostCalls @1 :UInt64;
  # Calls the program made, those included that it did not wait for.

  logBytes @2 :UInt64;
  resultBytes @3 :UInt64;

  cpu :group {
    # CPU time of the program, evaluating its module excluded.

    union {
      unknown @4 :Void;
      millis @5 :UInt64;
      # Rounded up to whole milliseconds.
    }
  }
}

struct HostDefect {
  kind @0 :HostDefectKind;

  message @1 :Text;
  # The host's own words, where it had any.
}

enum HostDefectKind {
  failed @0;
  # It answered with an exception.

  disconnected @1;
  # It went away before it answered.

  overloaded @2;
  # It refused for lack of resources.

  unimplemented @3;
  # It does not implement `PassHost`, or is null.
}

struct Refusal {
  # Why a request never became a pass. Nothing was run.

  union {
    unsupportedProtocolVersion @0 :UInt32;
    # The version of the request is not spoken here; this one is.

    invalidRequest @1 :InvalidRequest;

    tooManyPasses @2 :UInt32;
    # This connection has so many passes in flight already. Wait for one of them.

    shuttingDown @3 :Void;
    # The service is stopping.
  }
}

struct InvalidRequest {
  field @0 :Text;
  # Where in the request, in the names of the contract: `limits.maxWallTime`, `namespaces[0].methods[3]`.

  message @1 :Text;
  # What is wrong with it, and what would be right.
}

# ------------------------------------------------------------------------------------------------- the nine errors

struct CodeExecutionError {
  # One of the nine ways in which a pass fails.

  implementation @0 :Implementation;

  union {
    source @1 :SourceError;
    unsupported @2 :UnsupportedError;
    start @3 :StartError;
    timeout @4 :TimeoutError;
    outputLimit @5 :OutputLimitError;
    hostCallLimit @6 :HostCallLimitError;
    programFailed @7 :ProgramFailedError;
    protocol @8 :ProtocolError;
    terminated @9 :TerminatedError;
  }

  cpu :group {
    # CPU time that the program's run had used when it ended, evaluating its module excluded. Where that failed, what that
    # had used.

    union {
      unknown @10 :Void;
      # Neither began, the deadline ended the pass before its run, its host was at fault, its process was too busy to say
      # in time after the deadline, or it died while other programs ran in it.

      millis @11 :UInt64;
      # Rounded up to whole milliseconds.
    }
  }
}

struct SourceError {
  # CodeSourceError: the source is no program.

  reason @0 :Reason;

  message @1 :Text;
  # For `invalid`, the engine's diagnostic with module, line and column.

  enum Reason {
    invalid @0;
    # It does not compile.

    oversized @1;
    # It is longer than the limit.

    notAFunction @2;
    # It evaluates to something else than a function.
  }
}

struct UnsupportedError {
  # CodeExecutorUnsupportedError: the request asks for something this executor cannot give.

  feature @0 :Feature;
  message @1 :Text;

  enum Feature {
    language @0;
    network @1;
    cpuLimit @2;
    namespaces @3;
    wallClock @4;
    hostCalls @5;
  }
}

struct StartError {
  # CodeExecutorStartError: the program's module did not start.

  message @0 :Text;

  cause :group {
    # What the loader said, before this service put its own words around it.

    union {
      none @1 :Void;
      text @2 :Text;
    }
  }
}

struct TimeoutError {
  # CodeExecutionTimeoutError: a time limit ended the pass.

  kind @0 :Kind;

  maxWallTime @1 :Nanoseconds;
  # The request's, for both kinds.

  logs @2 :List(Text);

  enum Kind {
    cpu @0;
    wallClock @1;
  }
}

struct OutputLimitError {
  # CodeOutputLimitError: something was longer than its limit.

  surface @0 :Surface;

  limit @1 :UInt64;
  # In bytes.

  observed @2 :UInt64;
  # In bytes; 0 where the value could not be written as JSON at all.

  logs @3 :List(Text);

  enum Surface {
    logs @0;
    result @1;
    hostCallArgument @2;
    hostCallResult @3;
  }
}

struct HostCallLimitError {
  # CodeHostCallLimitError: the program called its host too often.

  limit @0 :UInt64;
  logs @1 :List(Text);
}

struct ProgramFailedError {
  # CodeProgramFailedError: the program itself failed.

  reason @0 :Reason;

  thrown @1 :JsonText;
  # The thrown value as JSON; for most Error objects that is `{}`, and `message` says what happened.

  message @2 :Text;
  logs @3 :List(Text);

  enum Reason {
    threw @0;
    # It threw an Error.

    rejected @1;
    # It threw something else, for instance a host's failure that it did not catch.

    nonJsonResult @2;
    # It returned something that JSON cannot express.
  }
}

struct ProtocolError {
  # CodeExecutionProtocolError: the host or the guest answered outside the protocol.

  message @0 :Text;
}

struct TerminatedError {
  # CodeExecutorTerminatedError: the isolate ended without an answer, for instance for want of memory.

  message @0 :Text;
}
