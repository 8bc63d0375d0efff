import test, { mock, MockTracker } from 'node:test';

const attempt = (label, run) => {
  try {
    console.log(label, run());
  } catch (error) {
    console.log(label, 'throws', error.name, error.code, error.message);
  }
};

export default {
  async test() {
    const plain = mock.fn((a, b) => a + b);
    console.log(plain(1, 2), plain.mock.callCount(), plain.mock.calls[0].arguments, plain.mock.calls[0].result, plain.mock.calls[0].error);
    plain.mock.mockImplementationOnce(() => 'once');
    console.log(plain(1, 2), plain(1, 2));
    plain.mock.mockImplementation(() => 'changed');
    console.log(plain(1, 2));
    plain.mock.resetCalls();
    plain.mock.restore();
    console.log(plain(1, 2), plain.mock.callCount());
    const failing = mock.fn(() => { throw new Error('boom'); });
    attempt('failing', failing);
    console.log(failing.mock.calls[0].error.message, failing.mock.calls[0].result);
    const empty = mock.fn();
    console.log(empty('x'), empty.mock.calls[0].arguments, empty.length, typeof empty);
    const Class = mock.fn(function () { this.made = true; });
    const made = new Class(1);
    console.log(made.made, Class.mock.calls[0].target === undefined, Class.mock.calls[0].this === made);
    const object = { method(x) { return [this === object, x]; }, get value() { return 1; }, set value(_) {} };
    const method = mock.method(object, 'method');
    console.log(object.method(3), method.mock.callCount(), object.method === method);
    method.mock.restore();
    console.log(object.method === method);
    mock.method(object, 'method', () => 'mocked', { times: 1 });
    console.log(object.method(), object.method(4));
    const getter = mock.getter(object, 'value', () => 2);
    console.log(object.value, getter.mock.callCount());
    mock.restoreAll();
    console.log(object.value);
    mock.reset();
    attempt('not a method', () => mock.method(object, 'nothing'));
    attempt('not a name', () => mock.method(object, 5));
    attempt('not an object', () => mock.method(5, 'x'));
    attempt('both', () => mock.method(object, 'value', { getter: true, setter: true }));
    attempt('times', () => mock.fn(() => {}, { times: 0 }));
    attempt('false getter', () => mock.getter(object, 'value', { getter: false }));
    attempt('no function', () => mock.fn('x'));
    attempt('implementation', () => plain.mock.mockImplementation(1));
    attempt('on call', () => plain.mock.mockImplementationOnce(() => {}, 0));
    console.log(Object.keys(test), mock instanceof MockTracker);
  },
};
