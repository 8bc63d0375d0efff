// What `error.stack` is: what V8 would make it, without the calls within the platform, which are nobody's business but
// ours and change from one version to the next.
'use strict';
const { apply, defineProperty, errorToString, getPrototypeOf } = primordials;

// Scripts of the platform are named so.
const OWN = 'loaderd:';

// Of call sites: taken from the first one there is, before the program gets hold of any.
let scriptName, siteToString;

function isOwn(site) {
  const name = apply(scriptName, site, []);
  if (typeof name !== 'string') return false;
  for (let at = 0; at < OWN.length; at++) if (name[at] !== OWN[at]) return false;
  return true;
}

function visible(sites) {
  const kept = [];
  for (let at = 0; at < sites.length; at++) {
    const site = sites[at];
    if (scriptName === undefined) {
      const methods = getPrototypeOf(site);
      scriptName = methods.getScriptNameOrSourceURL;
      siteToString = methods.toString;
    }
    if (isOwn(site)) continue;
    defineProperty(kept, kept.length, { __proto__: null, value: site, writable: true, enumerable: true, configurable: true });
  }
  return kept;
}

function heading(error) {
  try {
    return apply(errorToString, error, []);
  } catch {
    return '<error>';
  }
}

function prepare(error, sites) {
  const kept = visible(sites);
  const own = primordials.Error.prepareStackTrace;
  if (typeof own === 'function') return apply(own, primordials.Error, [error, kept]);
  let text = heading(error);
  for (let at = 0; at < kept.length; at++) text += `\n    at ${apply(siteToString, kept[at], [])}`;
  return text;
}

return { __proto__: null, prepare };
