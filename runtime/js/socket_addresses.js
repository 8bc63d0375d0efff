// Where sockets connect to: addresses as programs give them, and the hosts that stand for services.
'use strict';
const { apply, getOwnPropertyDescriptor, Map, mapGet, mapSet, Error, TypeError } = primordials;
const { stateOf, SERVICE, LOOPBACK } = load('rpc');
const { badArgument, badField } = load('webidl');

const PORT_MAX = 0xffff;

const { URL } = load('url');
const getter = (name) => {
  const { get } = getOwnPropertyDescriptor(URL.prototype, name);
  return (url) => apply(get, url, []);
};
const hostnameOf = getter('hostname');
const portOf = getter('port');

function portFrom(value) {
  const number = +value;
  if (number !== number) throw new TypeError('The value cannot be converted because it is not an integer.');
  if (number < 0) {
    throw new TypeError('The value cannot be converted because it is negative and this API expects a positive number.');
  }
  if (number > PORT_MAX) throw new TypeError(`Value out of range. Must be less than or equal to ${PORT_MAX}.`);
  return number - (number % 1);
}

function parse(address) {
  if (typeof address === 'object' && address !== null) {
    const { hostname, port } = address;
    if (hostname === undefined) badField('SocketAddress', 'hostname', 'string');
    const whole = `${portFrom(port)}`;
    return { host: `${hostname}`, port: whole, text: `${hostname}:${whole}` };
  }
  const text = `${address}`;
  let url;
  try {
    url = new URL(`fake://${text}`);
  } catch {
    throw new TypeError('Specified address could not be parsed.');
  }
  const host = hostnameOf(url);
  const port = portOf(url);
  if (host === '') throw new TypeError('Specified address is missing hostname.');
  if (port === '') throw new TypeError('Specified address is missing port.');
  return { host, port, text };
}

// --- Hosts of services --------------------------------------------------------------------------------------------

// Services that have a host, in one isolate.
const HOSTS_MAX = 10_000;

// From `host:port` to the state of a service.
const services = new Map();
let hosts = 0;

// `ctx.mapVirtualHost()`: an address that `connect()` takes for the service, for drivers that know hosts and ports only. A
// service keeps the one that it was given first; a stub of it that came over RPC is another.
function mapVirtualHost(service, port) {
  const state = stateOf(service);
  if (state?.kind !== SERVICE && state?.kind !== LOOPBACK) {
    badArgument('ExecutionContext', 'mapVirtualHost', 1, 'Fetcher');
  }
  if (port === undefined) badArgument('ExecutionContext', 'mapVirtualHost', 2, 'unsigned short integer');
  const number = portFrom(port);
  if (state.virtualHost === undefined) {
    if (hosts >= HOSTS_MAX) throw new Error(`This Worker has ${HOSTS_MAX} virtual hosts already.`);
    state.virtualHost = `${native.randomName()}.workers.alt:${number}`;
    apply(mapSet, services, [state.virtualHost, state]);
    hosts += 1;
  }
  return state.virtualHost;
}

// The service that an address stands for; undefined when it is an ordinary one.
const serviceAt = (text) => apply(mapGet, services, [text]);

return { parse, mapVirtualHost, serviceAt };
