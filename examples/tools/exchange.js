// Tools for retry-flaky.js: unavailable the first two times.
let calls = 0;

export const exchange = {
  rate({ from, to }) {
    calls += 1;
    if (calls <= 2) throw { _tag: "Unavailable", retryAfterMs: 10 };
    return { from, to, rate: 1.08 };
  },
};
