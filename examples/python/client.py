"""Runs a program on `loaderd executor`, with two tools that live in this Python process.

    client.py unix:/tmp/loaderd.sock
    client.py 127.0.0.1:7070 --program my-program.js

The program sees two globals, `crm.getCustomer` and `billing.listInvoices`. Each call it makes arrives here, at
`Tools.call`; nothing else of this machine can be reached by it.
"""

import argparse
import asyncio
import json
import pathlib
import sys

import capnp

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent
schema = capnp.load(str(EXAMPLES.parent / "schema" / "executor.capnp"))

CUSTOMERS = {"acme": {"id": "acme", "name": "Acme Corporation"}}
INVOICES = [
    {"number": "2026-014", "customerId": "acme", "amountCents": 48050, "dueDate": "2026-02-14", "paid": False},
    {"number": "2026-022", "customerId": "acme", "amountCents": 9900, "dueDate": "2026-02-28", "paid": False},
    {"number": "2026-040", "customerId": "acme", "amountCents": 77000, "dueDate": "2026-04-30", "paid": False},
]


class ToolFailure(Exception):
    """A failure that the program may catch: the JSON value is what its `catch` receives."""

    def __init__(self, value):
        super().__init__(value)
        self.value = value


async def get_customer(argument):
    try:
        return CUSTOMERS[argument["id"]]
    except KeyError:
        raise ToolFailure({"_tag": "CustomerNotFound", "id": argument["id"]}) from None


async def list_invoices(argument):
    return [invoice for invoice in INVOICES if invoice["customerId"] == argument["customerId"]]


TOOLS = {"crm": {"getCustomer": get_customer}, "billing": {"listInvoices": list_invoices}}


class Tools(schema.PassHost.Server):
    """The host of one pass. Any other exception than ToolFailure is a defect of ours and ends the pass."""

    async def call(self, call, _context, **_):
        outcome = _context.results.init("outcome")
        method = TOOLS.get(call.namespace, {}).get(call.method)
        if method is None:
            outcome.failure = json.dumps({"_tag": "UnknownMethod"})
            return
        try:
            outcome.success = json.dumps(await method(json.loads(call.argument)))
        except ToolFailure as failure:
            outcome.failure = json.dumps(failure.value)


def fill_request(request, source):
    request.protocolVersion = schema.protocolVersion
    request.language = "javascript"
    request.source = source
    # Programs of different tenants never share a process, so that what one does to its own cannot touch the other.
    request.tenant.label = "example"
    request.network.disabled = None
    namespaces = request.init("namespaces", len(TOOLS))
    for namespace, (name, methods) in zip(namespaces, TOOLS.items()):
        namespace.name = name
        namespace.methods = list(methods)
    limits = request.limits
    limits.sourceBytes = 64 * 1024
    limits.wallTime = 10 * 1_000_000_000
    limits.cpu.millis = 500
    limits.logBytes = 16 * 1024
    limits.resultBytes = 64 * 1024
    limits.hostCalls = 8
    limits.hostCallConcurrency.default = None
    limits.hostCallArgumentBytes = 16 * 1024
    limits.hostCallResultBytes = 32 * 1024


def report(outcome):
    """Prints what became of the pass; true when the program completed."""
    if outcome.which() != "success":
        print(outcome, file=sys.stderr)
        return False
    result = outcome.success
    for line in result.logs:
        print("log:", line)
    print("value:", json.dumps(json.loads(result.value)))
    use = result.resourceUse
    print(f"used: {use.wallTime / 1e6:.1f} ms wall time, {use.hostCalls} host calls")
    return True


async def connect(address):
    if address.startswith("unix:"):
        return await capnp.AsyncIoStream.create_unix_connection(path=address.removeprefix("unix:"))
    host, _, port = address.rpartition(":")
    return await capnp.AsyncIoStream.create_connection(host=host, port=int(port))


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="where `loaderd executor` listens: unix:PATH or HOST:PORT")
    parser.add_argument("--program", type=pathlib.Path, default=EXAMPLES / "programs" / "overdue-invoices.js")
    options = parser.parse_args()

    client = capnp.TwoPartyClient(await connect(options.address))
    executor = client.bootstrap().cast_as(schema.CodeExecutor)
    call = executor.execute_request()
    fill_request(call.init("request"), options.program.read_text())
    call.host = Tools()
    answer = await call.send()
    return 0 if report(answer.outcome) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(capnp.run(main())))
