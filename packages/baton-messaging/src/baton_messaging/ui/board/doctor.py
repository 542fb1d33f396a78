"""/doctor/: what ``manage.py doctor`` says, as a page. The page is there at once, the answers when they are."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from baton_messaging.audit.rights import Right
from baton_messaging.diagnosis.doctor.examine import examine_all
from baton_messaging.health.diagnosis import Status
from baton_messaging.ui.frame import frame
from baton_messaging.ui.guard import needing


@require_safe
@never_cache
@needing(Right.SEE_DOCTOR)
def doctor(request: HttpRequest) -> HttpResponse:
    """Show the frame; with ``?part=answers`` examine the installation, which takes some seconds."""
    if request.GET.get("part") != "answers":
        return render(request, "baton_messaging/diagnosis/doctor.html", frame(request, _("Doctor")))
    diagnoses = examine_all()
    context = {
        "problems": [one for one in diagnoses if one.status is not Status.OK],
        "well": [one for one in diagnoses if one.status is Status.OK],
    }
    return render(request, "baton_messaging/diagnosis/_answers.html", context)
