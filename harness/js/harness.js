// The guest's side of a pass: gives the program its console and its namespaces, runs it once, and answers with one
// envelope as JSON text. What is counted here is believed by the host, so it is only as true as the program is honest;
// authority lies with the host alone.

import { WorkerEntrypoint } from "cloudflare:workers";
// Before the program: these are taken while they are still the language's own, and the host's.
import {
  defineProperty,
  echo,
  globalOfRealm,
  isError,
  limits,
  makeError,
  namespaces,
  parse,
  slice,
  stringify,
  toText,
  utf8Length,
} from "./harness-intrinsics.js";
import program from "./program.js";

const TEXT_UNITS_MAX = 4_000;
const LINE_UNITS_MAX = 16_000;
const LINES_MAX = 4_096;

/** The text of a console argument or a thrown value. */
const render = (value) => {
  try {
    let text;
    if (isError(value)) text = `${value.name}: ${value.message}`;
    else if (typeof value === "string") text = value;
    else text = stringify(value) ?? toText(value);
    return slice(text, 0, TEXT_UNITS_MAX);
  } catch {
    return "[unserializable value]";
  }
};

/** The JSON text of a value; undefined where it has none. */
const jsonOf = (value) => {
  try {
    return stringify(value);
  } catch {
    return undefined;
  }
};

/** The JSON text of a thrown value; where there is none, or it is too long, the JSON text of its rendering. */
const jsonOfThrown = (value) => {
  const json = jsonOf(value);
  return json !== undefined && json.length <= TEXT_UNITS_MAX ? json : stringify(render(value));
};

/** One pass: what it counts, and how it ends. */
class Pass {
  #host;
  #echo;
  // JSON texts, joined by commas: nothing the program does to Array or Object reaches them.
  #logs = "";
  #lines = 0;
  #logBytes = 0;
  #hostCalls = 0;
  // The first envelope that a broken limit made. It is the answer, whatever the program does afterwards.
  #fatal;

  constructor(host, echo) {
    this.#host = host;
    this.#echo = echo;
  }

  /** Calls the program as a plain function, without arguments, and answers with the envelope of what became of it. */
  async run() {
    let value;
    try {
      value = await program();
    } catch (error) {
      return this.#fatal ?? this.#threw(error);
    }
    return this.#fatal ?? this.#returned(value);
  }

  /** The console's one method. */
  log(values) {
    let line = "";
    for (let at = 0; at < values.length; at++) line += at === 0 ? render(values[at]) : ` ${render(values[at])}`;
    if (line.length > LINE_UNITS_MAX) line = `${slice(line, 0, LINE_UNITS_MAX - 1)}\u2026`;
    const observed = this.#logBytes + utf8Length(line);
    if (this.#lines >= LINES_MAX || observed > limits.maxLogBytes) {
      this.#latch(`{"_tag":"log-limit","observed":${observed},${this.#logsToEnd()}`);
      throw makeError("code-mode log limit exceeded");
    }
    this.#logs += this.#lines === 0 ? stringify(line) : `,${stringify(line)}`;
    this.#lines++;
    this.#logBytes = observed;
    this.#echo?.(line);
  }

  /** Counts a host call and answers with its argument's JSON text, which is a snapshot. */
  admit(argument) {
    if (++this.#hostCalls > limits.maxHostCalls) {
      this.#latch(`{"_tag":"host-call-limit",${this.#logsToEnd()}`);
      throw makeError("code-mode host-call limit exceeded");
    }
    const json = jsonOf(argument);
    const bytes = json === undefined ? 0 : utf8Length(json);
    if (json === undefined || bytes > limits.maxHostCallArgumentBytes) {
      this.#latch(`{"_tag":"argument-limit","observed":${bytes},${this.#logsToEnd()}`);
      throw makeError("code-mode host-call argument limit exceeded");
    }
    return json;
  }

  /** Sends the JSON text of a host call; the answer is that of its outcome. */
  send(call) {
    // The host is a function: a method of it could be taken over by a property of Object.prototype.
    const host = this.#host;
    return host(call);
  }

  /** What an outcome is to the program. */
  settle(answer) {
    let outcome;
    try {
      outcome = parse(answer);
    } catch {
      // Not recognised below.
    }
    switch (outcome?._tag) {
      case "CodeHostCallSuccess":
        return outcome.value;
      case "CodeHostCallFailure":
        throw outcome.error;
      default:
        this.#latch('{"_tag":"protocol","message":"host returned an unrecognized outcome"}');
        throw makeError("code-mode host protocol violation");
    }
  }

  #latch(envelope) {
    this.#fatal ??= envelope;
  }

  /** The end of an envelope: the lines so far. */
  #logsToEnd() {
    return `"logs":[${this.#logs}]}`;
  }

  #returned(value) {
    const json = jsonOf(value);
    if (json === undefined) {
      const message = "The program must return a JSON value";
      return this.#failed("non-json-result", "null", stringify(message));
    }
    const bytes = utf8Length(json);
    if (bytes > limits.maxResultBytes) {
      return `{"_tag":"result-limit","observed":${bytes},${this.#logsToEnd()}`;
    }
    const counts = `"hostCalls":${this.#hostCalls},"logBytes":${this.#logBytes},"resultBytes":${bytes}`;
    return `{"_tag":"completed","value":${json},${counts},${this.#logsToEnd()}`;
  }

  #threw(error) {
    // Asked outside of any `try`: a value that does not even let its prototype be seen ends the run itself.
    const reason = isError(error) ? "threw" : "rejected";
    return this.#failed(reason, jsonOfThrown(error), stringify(render(error)));
  }

  #failed(reason, thrown, message) {
    return `{"_tag":"program-failed","reason":"${reason}","thrown":${thrown},"message":${message},${this.#logsToEnd()}`;
  }
}

/** Makes a property as an object literal would, whatever its name and whatever the prototype has. */
const define = (object, name, value) =>
  defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });

// A function of its own, so that what it makes is anonymous.
const methodOf = (pass, path) => async (argument) =>
  pass.settle(await pass.send(`{${path},"argument":${pass.admit(argument)}}`));

/** Assigns a global; one that is only not writable is made anew. */
const replaceGlobal = (name, value) => {
  try {
    globalOfRealm[name] = value;
  } catch {
    try {
      define(globalOfRealm, name, value);
    } catch {
      throw makeError(`Namespace ${name} collides with a global that cannot be replaced`);
    }
  }
};

/** Replaces the console and adds the namespaces; a later one of a name replaces an earlier one. */
const install = (pass) => {
  const log = (...values) => pass.log(values);
  globalOfRealm.console = { log, info: log, warn: log, error: log, debug: log };
  for (let at = 0; at < namespaces.length; at++) {
    const { name, methods } = namespaces[at];
    const namespace = {};
    for (let index = 0; index < methods.length; index++) {
      const path = `"namespace":${stringify(name)},"method":${stringify(methods[index])}`;
      define(namespace, methods[index], methodOf(pass, path));
    }
    replaceGlobal(name, namespace);
  }
};

export default class extends WorkerEntrypoint {
  async run(host) {
    // The console that the Worker came with, for whoever watches the pass.
    const original = echo ? console : undefined;
    const pass = new Pass(host, original && ((line) => original.log(line)));
    install(pass);
    if (typeof program !== "function") {
      return `{"_tag":"source-not-a-function","actual":"${typeof program}"}`;
    }
    // Awaited here: an async function that returns a promise looks for its `then`, which is the program's to change.
    return await pass.run();
  }
}
