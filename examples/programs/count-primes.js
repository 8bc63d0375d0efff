// Would compute for a long time. It is ended at its CPU limit (--cpu-ms), wherever it is: no `catch` or `finally` of its own gets in the way.
async () => {
  let primes = 0;
  for (let candidate = 2; candidate < 1e9; candidate += 1) {
    try {
      let divisor = 2;
      while (divisor * divisor <= candidate && candidate % divisor !== 0) divisor += 1;
      if (divisor * divisor > candidate) primes += 1;
    } catch {
      continue;
    }
  }
  return primes;
}
