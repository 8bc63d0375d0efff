// What the harness needs of the language, and what the host says of the pass, taken before the program's module is
// evaluated. A program may then change any prototype it likes, and the `env` that it can import: it disturbs itself, not
// the harness's accounting.

import { env } from "cloudflare:workers";

const { bind, call } = Function.prototype;
const { stringify, parse } = JSON;
const { defineProperty, freeze } = Object;

/** Turns a method into a function that takes its receiver first. Bound functions look nothing up when called. */
const uncurryThis = bind.bind(call);

const charCodeAt = uncurryThis(String.prototype.charCodeAt);
const slice = uncurryThis(String.prototype.slice);
const isInstance = uncurryThis(Function.prototype[Symbol.hasInstance]);
const ErrorOfRealm = Error;
const StringOfRealm = String;
const globalOfRealm = globalThis;

const freezeAll = (value) => {
  if (typeof value === "object") for (const key in value) freezeAll(value[key]);
  return freeze(value);
};

/** Of the pass. Frozen: a program can import this module too. */
export const { namespaces, limits, echo } = freezeAll(parse(stringify(env.CODE_MODE_PASS)));

export { defineProperty, globalOfRealm, parse, slice, stringify };

/** What `value instanceof Error` is, also when the program gave Error another `Symbol.hasInstance`. */
export const isError = (value) => isInstance(ErrorOfRealm, value);

/** An Error of this realm. */
export const makeError = (message) => new ErrorOfRealm(message);

/** What `String(value)` is. */
export const toText = (value) => StringOfRealm(value);

/** Length in bytes when encoded as UTF-8, a lone surrogate counting as three. */
export const utf8Length = (text) => {
  const units = text.length;
  let bytes = units;
  for (let at = 0; at < units; at++) {
    const unit = charCodeAt(text, at);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
      continue;
    }
    bytes += 2;
    if (unit < 0xd800 || unit > 0xdbff || at + 1 === units) continue;
    const next = charCodeAt(text, at + 1);
    // A pair is four bytes for two units.
    if (next >= 0xdc00 && next <= 0xdfff) at++;
  }
  return bytes;
};
