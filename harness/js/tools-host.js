// Lets a module of tools answer the host calls of a pass. The module is the user's own and is trusted; what it answers
// is checked all the same, so that a mistake in it is told apart from a mistake in the program.

import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import * as tools from "./tools.js";

const isPlainObject = (value) => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** Whether a value is JSON in the contract's strict sense. What overflows the stack or throws is not. */
const isJson = (value) => {
  const check = (part) => {
    switch (typeof part) {
      case "string":
      case "boolean":
        return true;
      case "number":
        return Number.isFinite(part);
      case "object":
        if (part === null) return true;
        if (Array.isArray(part)) return Array.from(part).every(check);
        return isPlainObject(part) && Object.keys(part).every((name) => check(part[name]));
      default:
        return false;
    }
  };
  try {
    return check(value);
  } catch {
    return false;
  }
};

/** The functions that an export offers. */
const methodsOf = (value) =>
  typeof value === "object" && value !== null
    ? Object.keys(value).filter((name) => typeof value[name] === "function")
    : [];

const describe = (value) => {
  try {
    return typeof value === "object" ? (JSON.stringify(value) ?? String(value)) : String(value);
  } catch {
    return typeof value;
  }
};

const failureOf = (thrown) => {
  if (thrown instanceof Error) return { _tag: String(thrown.name), message: String(thrown.message) };
  return isJson(thrown) ? thrown : { _tag: "Error", message: describe(thrown) };
};

const success = (value) => JSON.stringify({ _tag: "CodeHostCallSuccess", value });
const failure = (error) => JSON.stringify({ _tag: "CodeHostCallFailure", error });

/** All calls of a pass are made on one of these, and so in one invocation: tools may wait for each other. */
class Tools extends RpcTarget {
  /** The namespaces and their methods, as JSON text. */
  list() {
    const namespaces = Object.keys(tools).map((name) => ({ name, methods: methodsOf(tools[name]) }));
    return JSON.stringify(namespaces.filter(({ methods }) => methods.length > 0));
  }

  /** Answers one host call with the JSON text of its outcome; with nothing, where the tool's answer is no JSON. */
  async call(namespace, method, argument) {
    const target = Object.hasOwn(tools, namespace) ? tools[namespace] : undefined;
    if (!methodsOf(target).includes(method)) {
      const message = "The requested method is not available in this pass";
      return failure({ _tag: "UnknownCodeModeMethod", message });
    }
    let value;
    try {
      value = await target[method](JSON.parse(argument));
    } catch (thrown) {
      return failure(failureOf(thrown));
    }
    if (isJson(value)) return success(value);
    console.error(`${namespace}.${method} returned ${describe(value)}, which is no JSON value`);
    return undefined;
  }
}

export default class extends WorkerEntrypoint {
  open() {
    return new Tools();
  }
}
