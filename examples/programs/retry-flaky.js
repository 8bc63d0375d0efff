// Retries a tool that is unavailable at times, waiting as long as its failure says.
async () => {
  let attempts = 0;
  for (;;) {
    attempts += 1;
    try {
      const { rate } = await exchange.rate({ from: "EUR", to: "USD" });
      return { rate, attempts };
    } catch (failure) {
      if (failure._tag !== "Unavailable" || attempts === 5) throw failure;
      console.warn(`attempt ${attempts} failed, trying again in ${failure.retryAfterMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, failure.retryAfterMs));
    }
  }
}
