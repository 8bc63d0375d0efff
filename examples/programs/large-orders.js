// Reads a data set page by page, and hands back only the few rows that matter: the rest never leaves the isolate.
async () => {
  const large = [];
  let page = 1;
  let seen = 0;
  do {
    const { rows, nextPage } = await warehouse.listOrders({ page, pageSize: 50 });
    seen += rows.length;
    large.push(...rows.filter((order) => order.amount > 990));
    page = nextPage;
  } while (page !== null);
  console.log("kept", large.length, "of", seen);
  return large.sort((a, b) => b.amount - a.amount).map(({ id, amount }) => ({ id, amount }));
}
