// The tools that programs may call. Each is a plain function; where it runs, there is everything the parent has.
const PRICES = { tea: 3, coffee: 4.5, cake: 6 };

// Answers of calls that wait for others, by name: see `meet`.
const waiting = new Map();

const tool = (description, execute) => ({ description, execute });

export const shop = {
  price: tool("The price of an item", async ({ item }) => {
    if (!(item in PRICES)) throw new Error(`There is no ${item} here`);
    return { item, price: PRICES[item] };
  }),
  catalogue: tool("All items with their prices, nested", async () => ({
    sections: [{ name: "drinks", items: ["tea", "coffee"] }, { name: "food", items: ["cake"] }],
    prices: PRICES,
    updated: null,
  })),
  order: tool("Orders items, several at once", async ({ items }) => ({
    total: items.reduce((sum, { item, count }) => sum + PRICES[item] * count, 0),
    lines: items.length,
  })),
  picture: tool("A picture of an item, as bytes", async ({ size }) => Uint8Array.from({ length: size }, (_, at) => (at * 7) % 256)),
  checksum: tool("Adds up bytes", async ({ bytes }) => ({ bytes: bytes.length, sum: bytes.reduce((sum, byte) => sum + byte, 0) })),
  "list-open.orders": tool("A name that is not an identifier", async () => ["2026-014", "2026-022"]),
  // Two calls of one name answer each other: both must be on their way while the program is being evaluated.
  meet: tool("Waits for a second call of the same name", async ({ name, word }) => {
    const other = waiting.get(name);
    if (other) {
      waiting.delete(name);
      other.answer(word);
      return other.word;
    }
    return new Promise((answer) => waiting.set(name, { word, answer }));
  }),
  nothing: tool("Answers undefined", async () => {}),
  never: tool("Never answers", () => new Promise(() => {})),
  fail: tool("Throws what is no error", async () => {
    throw { code: 17 };
  }),
};

export const text = {
  join: tool("Joins words", async (separator, ...words) => words.join(separator)),
  shout: tool("Upper case", async (word) => word.toUpperCase()),
};
