// Tools for overdue-invoices.js. Each export is a namespace: a global object in the program. Its functions take one JSON value.
const customers = { acme: { id: "acme", name: "Acme Corporation", country: "NL" } };

const invoices = [
  { number: "2026-001", customerId: "acme", amountCents: 125_000, dueDate: "2026-01-31", paid: true },
  { number: "2026-014", customerId: "acme", amountCents: 48_050, dueDate: "2026-02-14", paid: false },
  { number: "2026-022", customerId: "acme", amountCents: 9_900, dueDate: "2026-02-28", paid: false },
  { number: "2026-040", customerId: "acme", amountCents: 77_000, dueDate: "2026-04-30", paid: false },
  { number: "2026-041", customerId: "other", amountCents: 1_000, dueDate: "2026-01-01", paid: false },
];

export const crm = {
  getCustomer({ id }) {
    if (!Object.hasOwn(customers, id)) throw { _tag: "CustomerNotFound", id };
    return customers[id];
  },
};

export const billing = {
  listInvoices({ customerId }) {
    return invoices.filter((invoice) => invoice.customerId === customerId);
  },
};
