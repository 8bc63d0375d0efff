// Tools for large-orders.js: a table of 400 orders, served in pages.
const orders = Array.from({ length: 400 }, (_, index) => ({
  id: `order-${index + 1}`,
  amount: (index * 7919) % 1000,
  region: ["north", "south", "west"][index % 3],
}));

export const warehouse = {
  listOrders({ page, pageSize }) {
    const start = (page - 1) * pageSize;
    const rows = orders.slice(start, start + pageSize);
    return { rows, nextPage: start + pageSize < orders.length ? page + 1 : null };
  },
};
