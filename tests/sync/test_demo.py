"""What the demo begins with is in step."""

from ruamel.yaml import YAML

from engine.cluster.sync.config_map import KEY
from scheduler_admin.demo.environment import BASE


def test_the_demos_config_map_says_what_its_tree_was_made_of() -> None:
    """To the letter: whoever changes one changes the other."""
    made = list(YAML(typ="safe", pure=True).load_all((BASE / "demo" / "manifests" / "yunikorn.yaml").read_text()))
    assert made[1]["data"][KEY] == (BASE / "demo" / "queues.yaml").read_text()
