"""A view that publishes, as a web process does."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from tests.parcels import services


@csrf_exempt
@require_POST
def hand_in(_request: HttpRequest) -> HttpResponse:
    """Take a parcel; answer with its id."""
    return HttpResponse(str(services.hand_in().pk), status=202)
