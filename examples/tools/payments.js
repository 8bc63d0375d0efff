// Tools for refund-or-ask.js. A method that throws a plain JSON value fails with exactly that value in the program;
// one that throws an Error fails with { _tag: error.name, message: error.message }.
const paid = { "order-1": 2_500, "order-2": 80_000, "order-3": 0 };
const limitCents = 50_000;

export const payments = {
  refund({ orderId }) {
    if (!(orderId in paid)) throw new RangeError(`there is no ${orderId}`);
    if (paid[orderId] === 0) throw { _tag: "AlreadyRefunded", orderId };
    if (paid[orderId] > limitCents) throw { _tag: "ApprovalRequired", orderId, limitCents };
    paid[orderId] = 0;
    return { refundId: `refund-of-${orderId}` };
  },
};

export const approvals = {
  request({ orderId }) {
    return { ticket: `ticket-for-${orderId}` };
  },
};
