"""What sources remember beside their position: taken along into a generation that goes back to a checkpoint."""

from django.conf import settings

from checkpoints.models import Checkpoint
from jobs.models import Execution
from jobs.nodes.durable_text import text_place
from jobs.nodes.known_messages import NOTE
from jobs.services.work_folders import work_folders

#: What a position counts in: another topic of the same name is another place, whatever else of the job is changed.
_PLACES = ("topic_ids.json", NOTE)
#: Columns that were found out: another version may well have asked for others.
_COLUMNS = ("sampled_schema.json", "registered_schema.json", "schema.avsc")


def remembered_take(checkpoint: Checkpoint, execution: Execution, *, same_version: bool) -> None:
    """From the generation of `checkpoint`, as far as its folder is still on this host; what is there already stays."""
    of_job = work_folders(settings.DATA_DIR) / str(execution.job.job_uid)
    before, now = of_job / str(checkpoint.generation), of_job / str(execution.generation)
    for node_id in checkpoint.state_data["sources"]:
        for name in (*_PLACES, *(_COLUMNS if same_version else ())):
            kept, place = before / node_id / name, now / node_id / name
            if kept.is_file() and not place.exists():
                text_place(place, kept.read_text(encoding="utf-8"))
