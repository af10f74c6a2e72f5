"""A kept run as a file: the record as it stands in the database, transcripts included."""

from starlette.responses import PlainTextResponse, Response

from podium import jsonl
from podium.errors import AccessDenied
from podium.page.site import Site
from podium.page.visitor import Visitor


async def run_as_json(site: Site, visitor: Visitor, run_id: str) -> Response:
    """The run, for a visitor who may see it; another key's run is as if it were not there."""
    try:
        key = await visitor.key("ask", "read")
    except AccessDenied as error:
        return PlainTextResponse(str(error), status_code=401)
    run = None if len(run_id) > 100 else await site.runs.get(run_id, key=site.service.accounts.seen_by(key))
    if run is None:
        return PlainTextResponse("There is no run at this address, or it is no longer kept.", status_code=404)
    # As a file, so that no browser takes what others wrote for anything but data.
    headers = {"content-disposition": f'attachment; filename="{run.id}.json"'}
    return Response(jsonl.dumps(run), media_type="application/json", headers=headers)
