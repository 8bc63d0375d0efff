// A tool's expected failure is a value with a `_tag`, which the program can tell apart and act on.
async () => {
  const orders = ["order-1", "order-2", "order-3"];
  const outcome = {};
  for (const orderId of orders) {
    try {
      const { refundId } = await payments.refund({ orderId });
      outcome[orderId] = `refunded (${refundId})`;
    } catch (failure) {
      if (failure._tag === "ApprovalRequired") {
        const { ticket } = await approvals.request({ orderId, reason: `over ${failure.limitCents / 100}` });
        outcome[orderId] = `waits for approval (${ticket})`;
      } else if (failure._tag === "AlreadyRefunded") {
        outcome[orderId] = "nothing to do";
      } else {
        throw failure;
      }
    }
  }
  return outcome;
}
