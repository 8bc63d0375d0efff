// Combines the answers of two APIs: who the customer is, and what of theirs is unpaid.
async () => {
  const [customer, invoices] = await Promise.all([
    crm.getCustomer({ id: "acme" }),
    billing.listInvoices({ customerId: "acme" }),
  ]);
  const overdue = invoices.filter((invoice) => !invoice.paid && invoice.dueDate < "2026-03-01");
  const cents = overdue.reduce((sum, invoice) => sum + invoice.amountCents, 0);
  console.log(`${overdue.length} of ${invoices.length} invoices are overdue`);
  return { customer: customer.name, overdue: overdue.map((invoice) => invoice.number), total: cents / 100 };
}
