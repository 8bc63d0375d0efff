// Facets: Durable Objects that belong to another, each of a class that its parent chose.
'use strict';
const { apply, promiseThen, promiseReject, Map, mapGet, mapSet, mapForEach, Error, TypeError } = primordials;
const rpc = load('rpc');
const { illegalConstructor, badArgument, badField, expose } = load('webidl');
const { idText, classOf } = load('durable_objects');

// The deepest that objects may be in each other, the outermost counted.
const DEPTH_MAX = 4;
const NAME_CHARACTERS_MAX = 256;
// What may be a facet's class, in the platform's words.
const CLASSES = 'DurableObjectClass or LoopbackDurableObjectNamespace or LoopbackColoLocalActorNamespace';
const token = {};

// What a call of a facet is for; the numbers are Rust's.
const EVENT = 0;
const ABORT = 1;
const DELETE = 2;

class DurableObjectFacets {
  #object;
  #id;
  // By name: the facets that were started, also those that were ended since.
  #known = new Map();
  constructor(given, object, id) {
    if (given !== token) illegalConstructor();
    this.#object = object;
    this.#id = id;
  }
  get(name, getStartupOptions) {
    const key = checked('get', name, arguments.length);
    if (typeof getStartupOptions !== 'function') badArgument('DurableObjectFacets', 'get', 2, 'function');
    if (this.#object.depth + 1 >= DEPTH_MAX) {
      throw new Error(
        `Facet nesting depth limit exceeded. The maximum depth including the root Durable Object is ${DEPTH_MAX}.`,
      );
    }
    let facet = apply(mapGet, this.#known, [key]);
    if (facet === undefined || facet.ended) {
      facet = this.#start(key, getStartupOptions);
      apply(mapSet, this.#known, [key, facet]);
    }
    const stub = { __proto__: rpc.ServiceStub.prototype };
    new rpc.Stamp(stub, facet.service);
    return stub;
  }
  abort(name, reason) {
    this.#end(checked('abort', name, arguments.length), ABORT, reason);
  }
  delete(name) {
    const key = checked('delete', name, arguments.length);
    this.#end(key, DELETE, new Error('Facet was deleted.'));
  }

  // Calls wait for what the program says of the facet.
  #start(name, getStartupOptions) {
    const service = { __proto__: null, kind: rpc.SERVICE, id: 0, disposed: false, inner: undefined };
    const facet = { __proto__: null, service, ended: false, import: undefined };
    const begin = async () => {
      const options = await getStartupOptions();
      if (typeof options !== 'object' || options === null) badField('StartupOptions', 'class', CLASSES);
      const { class: given, id } = options;
      const chosen = classOf(given);
      if (chosen === undefined) badField('StartupOptions', 'class', CLASSES);
      const shown = id === undefined ? idText(this.#id) : (idText(id) ?? `${id}`);
      const shownName = id === undefined ? this.#id.name : id?.name;
      const path = `/${this.#object.identity}/${name}`;
      const { depth } = this.#object;
      facet.import = (purpose) => native.facet(chosen, shown, shownName, path, depth + 1, purpose);
      if (!facet.ended) service.id = facet.import(EVENT);
    };
    service.inner = begin();
    apply(promiseThen, service.inner, [
      undefined,
      () => {
        facet.ended = true;
      },
    ]);
    return facet;
  }
  // Stubs of the facet throw the reason from then on.
  #end(name, purpose, reason) {
    const facet = apply(mapGet, this.#known, [name]);
    if (facet === undefined) return;
    const { service } = facet;
    if (!facet.ended) {
      facet.ended = true;
      if (service.id !== 0) native.drop(service.id);
      service.id = 0;
      service.inner = promiseReject(reason);
      apply(promiseThen, service.inner, [undefined, () => {}]);
    } else if (purpose === ABORT) {
      return;
    }
    if (facet.import === undefined) return;
    const control = facet.import(purpose);
    const { 0: answer } = rpc.invokeQuietly({ __proto__: null, id: control }, ['abort'], [reason]);
    const done = () => native.drop(control);
    apply(promiseThen, answer, [done, done]);
  }
  abortAll(reason) {
    apply(mapForEach, this.#known, [(_, name) => this.#end(name, ABORT, reason)]);
  }
}
// Not the program's.
const { abortAll } = DurableObjectFacets.prototype;
delete DurableObjectFacets.prototype.abortAll;
expose(DurableObjectFacets, 'DurableObjectFacets');

function checked(method, name, length) {
  if (length < 1) badArgument('DurableObjectFacets', method, 1, 'string');
  const text = `${name}`;
  if (text.length > NAME_CHARACTERS_MAX) {
    throw new TypeError(`Facet name is too long (max ${NAME_CHARACTERS_MAX} characters).`);
  }
  return text;
}

// The facets of an object.
function facetsOf(object, id) {
  const facets = new DurableObjectFacets(token, object, id);
  object.facets = { __proto__: null, abortAll: (reason) => apply(abortAll, facets, [reason]) };
  return facets;
}

return { facetsOf };
