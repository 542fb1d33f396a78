"""Products, orders with their lines, the daily figures, exports. Every rule of theirs is a named constraint."""

from orders.exports.models import Export
from orders.models.line import OrderLine
from orders.models.order import Order, OrderQuerySet, OrderStatus
from orders.models.order_count import OrderCount
from orders.models.product import Product
from orders.models.sales import DailySales, SalesIncrement

__all__ = [
    "DailySales",
    "Export",
    "Order",
    "OrderCount",
    "OrderLine",
    "OrderQuerySet",
    "OrderStatus",
    "Product",
    "SalesIncrement",
]
