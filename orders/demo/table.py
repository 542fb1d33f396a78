"""The report: one line per order, one column per consumer, seconds from the click to the effect."""

from datetime import datetime

from orders.demo.shop import Order

COLUMNS = {
    "inventory.reserve_stock": "stock reserved",
    "notifications.send_order_received": "mail: received",
    "orders.confirm_order": "confirmed",
    "notifications.send_order_confirmed": "mail: confirmed",
    "orders.record_sale": "sales figures",
}
WIDTH = 17


def print_report(orders: list[Order], findings: list[str], *, waited_seconds: float) -> None:
    """Print the table and the verdict."""
    print("\nSeconds from the order to each effect:\n")
    print("order    " + "status".ljust(12) + "".join(title.ljust(WIDTH) for title in COLUMNS.values()))
    for order in sorted(orders, key=lambda order: order["placed_at"]):
        print(_line(order))
    print(f"\nAll settled {waited_seconds:.0f} s after the last order was placed.")
    if findings:
        print("\nNOT EXACTLY ONCE:\n" + "\n".join(f"  {finding}" for finding in findings))
    else:
        print(f"{len(orders)} orders, a worker killed with -9: nothing lost, nothing doubled.")


def _line(order: Order) -> str:
    short_id: str = order["order_id"][-8:]
    status: str = order["status"]
    rows = {row["consumer"]: row for row in order["consumers"]}
    cells = (_cell(order, rows.get(consumer)) for consumer in COLUMNS)
    return short_id + " " + status.ljust(12) + "".join(cell.ljust(WIDTH) for cell in cells)


def _cell(order: Order, row: dict[str, str] | None) -> str:
    if row is None:
        return "-"
    if row["state"] != "done":
        return row["state"]
    seconds = (datetime.fromisoformat(row["updated_at"]) - datetime.fromisoformat(order["placed_at"])).total_seconds()
    return f"{seconds:.2f}"
