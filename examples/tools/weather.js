// Tools for weather-fan-out.js: a slow service that notes how many callers it has at the same time.
let active = 0;
let peak = 0;

export const weather = {
  async forecast({ city }) {
    active += 1;
    peak = Math.max(peak, active);
    await new Promise((resolve) => setTimeout(resolve, 20));
    active -= 1;
    return { city, celsius: [...city].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 35 };
  },
  busiest() {
    return { peak };
  },
};
