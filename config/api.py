"""The JSON API: the apps' routers, and Baton's own, in one document."""

from baton_messaging.ui.api.consumers import router as consumers_router
from baton_messaging.ui.api.dead_letters import router as dead_letters_router
from baton_messaging.ui.api.triage import router_for as triage_router_for
from ninja import NinjaAPI

from config.web.api_errors import JSONParser, refuse_in_one_shape
from orders.api import products_router as orders_products_router
from orders.api import router as orders_router
from orders.exports.api import router as orders_exports_router
from orders.schemas import Problem

api = NinjaAPI(
    title="Baton",
    version="1",
    description="What the apps offer to programs, and what Baton knows of their messages.",
    urls_namespace="api",
    parser=JSONParser(),
)
api.add_router("/products", orders_products_router)
api.add_router("/orders", orders_router)
api.add_router("/orders", triage_router_for("order", refusal=Problem, operation_id="orders_api_triage_order"))
api.add_router("/exports", orders_exports_router)
api.add_router("/dead-letters", dead_letters_router)
api.add_router("/consumers", consumers_router)
refuse_in_one_shape(api)
