"""What invoices tell."""

from baton_messaging.events import Event


class InvoiceAdded(Event, name="invoices.invoice_added", version=1, key="invoice_id"):
    """There is an invoice to settle."""

    invoice_id: int
