"""Products, orders with their lines, and the daily figures. Every rule of theirs is a named constraint."""

from orders.models.line import OrderLine
from orders.models.order import Order, OrderQuerySet, OrderStatus
from orders.models.product import Product
from orders.models.sales import DailySales, SalesIncrement

__all__ = ["DailySales", "Order", "OrderLine", "OrderQuerySet", "OrderStatus", "Product", "SalesIncrement"]
