// The queuing strategies (Streams 7).
'use strict';
const { illegalInvocation, badConstructorArgument, expose } = load('webidl');

class CountQueuingStrategy {
  #highWaterMark;
  constructor(init) {
    if (typeof init !== 'object' || init === null) badConstructorArgument('CountQueuingStrategy', 1, 'QueuingStrategyInit');
    this.#highWaterMark = +init.highWaterMark;
  }
  get highWaterMark() {
    if (!(#highWaterMark in this)) illegalInvocation();
    return this.#highWaterMark;
  }
  get size() {
    if (!(#highWaterMark in this)) illegalInvocation();
    return countSize;
  }
}
expose(CountQueuingStrategy, 'CountQueuingStrategy');

class ByteLengthQueuingStrategy {
  #highWaterMark;
  constructor(init) {
    if (typeof init !== 'object' || init === null) badConstructorArgument('ByteLengthQueuingStrategy', 1, 'QueuingStrategyInit');
    this.#highWaterMark = +init.highWaterMark;
  }
  get highWaterMark() {
    if (!(#highWaterMark in this)) illegalInvocation();
    return this.#highWaterMark;
  }
  get size() {
    if (!(#highWaterMark in this)) illegalInvocation();
    return byteLengthSize;
  }
}
expose(ByteLengthQueuingStrategy, 'ByteLengthQueuingStrategy');

const { size: countSize, byteLength: byteLengthSize } = {
  size: () => 1,
  byteLength: (chunk) => chunk?.byteLength,
};

return { CountQueuingStrategy, ByteLengthQueuingStrategy };
