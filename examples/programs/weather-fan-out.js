// Asks for twelve forecasts at once. The executor runs as many host calls at a time as the pass allows
// (--max-host-call-concurrency) and queues the others, so the program needs no throttle of its own.
async () => {
  const cities = ["Amsterdam", "Berlin", "Cairo", "Delhi", "Essen", "Fes", "Genoa", "Hanoi", "Izmir", "Jakarta", "Kyoto", "Lagos"];
  const forecasts = await Promise.all(cities.map((city) => weather.forecast({ city })));
  const warmest = forecasts.reduce((best, next) => (next.celsius > best.celsius ? next : best));
  const { peak } = await weather.busiest({});
  return { asked: forecasts.length, warmest, mostAtOnce: peak };
}
