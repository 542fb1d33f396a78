"""The other side of `accept`: a Django view that writes the same rows and tells nobody."""

import json
from decimal import Decimal

from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from orders.models import Order, OrderLine, Product


@csrf_exempt
@require_POST
def place_order(request: HttpRequest) -> JsonResponse:
    data = json.loads(request.body)
    quantities = {line["sku"]: line["quantity"] for line in data["lines"]}
    with transaction.atomic():
        products = Product.objects.filter(is_active=True).in_bulk(list(quantities))
        total = sum((products[sku].price * quantity for sku, quantity in quantities.items()), Decimal(0))
        order = Order.objects.create(
            customer_name=data["customer_name"],
            customer_email=data["customer_email"],
            language="en",
            currency="EUR",
            total=total,
        )
        OrderLine.objects.bulk_create(
            OrderLine(order=order, product=products[sku], quantity=quantity, unit_price=products[sku].price)
            for sku, quantity in quantities.items()
        )
    return JsonResponse({"order_id": str(order.pk), "status": "accepted"}, status=202)
