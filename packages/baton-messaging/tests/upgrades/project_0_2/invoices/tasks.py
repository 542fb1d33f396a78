"""The consumers of invoices."""

from baton_messaging.consumer import consumer
from baton_messaging.errors import TransientError
from django.db.models import F
from invoices.events import InvoiceAdded
from invoices.models import Invoice


@consumer(InvoiceAdded)
def settle_invoice(event: InvoiceAdded) -> None:
    """Count it as settled, unless something is in the way."""
    invoice = Invoice.objects.get(pk=event.invoice_id)
    if invoice.trouble == Invoice.Trouble.AWAY:
        raise TransientError("the ledger is away")
    if invoice.trouble == Invoice.Trouble.BUG:
        raise ValueError("a bug of that release")
    Invoice.objects.filter(pk=invoice.pk).update(settled_count=F("settled_count") + 1)
