"""Signs in, lists who owes, records what was received, and reads it back: with a generated client as it is."""

import importlib
import json
import os
import pkgutil
from uuid import UUID

import duebook.api
from duebook import AuthenticatedClient, Client
from duebook.models import AuthLoginResult, Credentials, ListPaymentsTab, PaymentLineResult, PaymentPage, ReceiptPage, ReceiptPatch


def operation(name):
    """An operation by its name, under whichever tag it is."""
    [found] = [each.name for each in pkgutil.walk_packages(duebook.api.__path__, "duebook.api.") if each.name.endswith(f".{name}")]
    return importlib.import_module(found)


def expect(answer, kind):
    assert isinstance(answer, kind), answer
    return answer


api = os.environ["API"]
credentials = Credentials(tenant_slug=os.environ["TENANT"], email=os.environ["EMAIL"], password=os.environ["PASSWORD"])
session = expect(operation("login").sync(client=Client(base_url=api), body=credentials), AuthLoginResult)

with AuthenticatedClient(base_url=api, token=session.access_token) as client:
    owed = expect(operation("list_payments").sync(client=client, tab=ListPaymentsTab.OVERDUE), PaymentPage)
    line = owed.items[0]
    patch = ReceiptPatch(received_amount=float(os.environ["AMOUNT"]))
    recorded = expect(operation("record_receipt").sync(UUID(line.id), client=client, body=patch), PaymentLineResult)
    receipts = expect(operation("list_receipts").sync(UUID(line.id), client=client), ReceiptPage)
    print(json.dumps({"owed": line.outstanding_amount, "received": recorded.received_amount, "receipt": receipts.items[0].delta}))
