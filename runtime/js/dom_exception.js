// DOMException (WebIDL 2.8.1): an object in Error's prototype chain, with the legacy codes.
'use strict';
const { defineProperty, setPrototypeOf, captureStackTrace, Error } = primordials;
const { expose, constants } = load('webidl');

const CODES = {
  __proto__: null,
  IndexSizeError: 1,
  DOMStringSizeError: 2,
  HierarchyRequestError: 3,
  WrongDocumentError: 4,
  InvalidCharacterError: 5,
  NoDataAllowedError: 6,
  NoModificationAllowedError: 7,
  NotFoundError: 8,
  NotSupportedError: 9,
  InUseAttributeError: 10,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidModificationError: 13,
  NamespaceError: 14,
  InvalidAccessError: 15,
  ValidationError: 16,
  TypeMismatchError: 17,
  SecurityError: 18,
  NetworkError: 19,
  AbortError: 20,
  URLMismatchError: 21,
  QuotaExceededError: 22,
  TimeoutError: 23,
  InvalidNodeTypeError: 24,
  DataCloneError: 25,
};

// The platform has these four as own, read-only properties of each exception.
function own(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: false, enumerable: true, configurable: true });
}

// What the rest of the platform may do with one.
let isDOMException;
class DOMException {
  #brand = true;
  constructor(message = '', name = 'Error') {
    const text = `${message}`;
    const kind = `${name}`;
    own(this, 'code', CODES[kind] ?? 0);
    own(this, 'name', kind);
    own(this, 'message', text);
    captureStackTrace(this, DOMException);
    defineProperty(this, 'stack', { __proto__: null, value: this.stack, writable: true, enumerable: true, configurable: true });
  }

  static {
    isDOMException = (value) => {
      return #brand in value;
    };
  }
}
setPrototypeOf(DOMException.prototype, Error.prototype);
expose(DOMException, 'DOMException', {
  is: isDOMException,
  clone({ name, message, stack }) {
    const copy = new DOMException(message, name);
    copy.stack = stack;
    return copy;
  },
});
constants(DOMException, {
  INDEX_SIZE_ERR: 1,
  DOMSTRING_SIZE_ERR: 2,
  HIERARCHY_REQUEST_ERR: 3,
  WRONG_DOCUMENT_ERR: 4,
  INVALID_CHARACTER_ERR: 5,
  NO_DATA_ALLOWED_ERR: 6,
  NO_MODIFICATION_ALLOWED_ERR: 7,
  NOT_FOUND_ERR: 8,
  NOT_SUPPORTED_ERR: 9,
  INUSE_ATTRIBUTE_ERR: 10,
  INVALID_STATE_ERR: 11,
  SYNTAX_ERR: 12,
  INVALID_MODIFICATION_ERR: 13,
  NAMESPACE_ERR: 14,
  INVALID_ACCESS_ERR: 15,
  VALIDATION_ERR: 16,
  TYPE_MISMATCH_ERR: 17,
  SECURITY_ERR: 18,
  NETWORK_ERR: 19,
  ABORT_ERR: 20,
  URL_MISMATCH_ERR: 21,
  QUOTA_EXCEEDED_ERR: 22,
  TIMEOUT_ERR: 23,
  INVALID_NODE_TYPE_ERR: 24,
  DATA_CLONE_ERR: 25,
});

return { __proto__: null, DOMException, isDOMException };
