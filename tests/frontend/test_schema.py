"""The schema: every key has a text, the JSON Schema is current, and resolving loses nothing."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from frontend import load_scenario
from frontend.loading.problems import key_paths
from frontend.scenario import json_schema
from frontend.schema.files import read_yaml

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
NAMES = [path.stem for path in SCENARIOS]


def test_json_schema_is_current():
    written = json_schema.PATH.read_text(encoding="utf-8")
    # Compare parsed data, because releases of pydantic format numbers differently.
    assert json.loads(written) == json.loads(json_schema.text()), "run: python -m frontend.scenario"


def test_json_schema_refuses_unknown_keys_and_describes_the_known():
    schema = json.loads(json_schema.text())
    models = [schema, *schema["$defs"].values()]
    models += [choice for model in models for choice in model.get("anyOf", [])]
    for model in models:
        if model.get("type") == "object":
            assert model["additionalProperties"] is False
            for name, prop in model["properties"].items():
                # A part without a text of its own has the text of its model.
                assert "$ref" in prop or prop.get("description"), name


@pytest.fixture(scope="module")
def editor():
    """What an editor checks a scenario with."""
    return Draft202012Validator(json.loads(json_schema.text()))


@pytest.mark.parametrize("path", SCENARIOS, ids=NAMES)
def test_an_editor_finds_no_mistake_in_a_stored_scenario(editor, path):
    editor.validate(read_yaml(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("dgx_h100_small", "server: dgx_h100 ", "server: dgx_h1000 "),
        ("incast_roce_small", "100Gbps, 1us]", "100, 1us]"),
        ("llm_llama3_8b_small", "card: llama3_8b", "cart: llama3_8b"),
        ("dlrm_hier", "schema_version: 1", "schema_version: 1\noutputs: [timelines]"),
    ],
)
def test_an_editor_finds_a_mistake(editor, name, old, new):
    text = next(path for path in SCENARIOS if path.stem == name).read_text(encoding="utf-8")
    assert old in text
    assert not editor.is_valid(read_yaml(text.replace(old, new)))


def test_every_key_has_a_description():
    for path, key in key_paths({}).items():
        assert key.description, path
        assert key.description.strip().endswith("."), path


@pytest.mark.parametrize("path", SCENARIOS, ids=NAMES)
def test_every_scenario_loads_and_names_the_schema(path):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=../frontend/scenario.schema.json"
    scenario = load_scenario(path)
    assert scenario.name == path.stem
    assert scenario.description


@pytest.mark.parametrize("path", SCENARIOS, ids=NAMES)
def test_resolved_scenario_has_every_key_and_loads_again(path):
    scenario = load_scenario(path)
    resolved = json.loads(json.dumps(scenario.resolved()))
    assert load_scenario(resolved) == scenario
    absent = ("workload", "collective") if scenario.jobs else ("jobs", "mix", "queueing")
    assert not resolved.keys() & set(absent)
    for key in key_paths(resolved):
        if key[0] in absent:
            continue
        part = resolved
        for name in key:
            # A whole part may be null, or a name instead of a mapping.
            part = part[name] if isinstance(part, dict) else None


def test_quantities_are_shown_as_given_and_held_in_base_units():
    scenario = load_scenario(SCENARIOS[0], {"transport.window": "0.5MB", "links.mtu": "1500B"})
    assert scenario.resolved()["transport"]["window"] == "0.5MB"
    assert scenario.resolved()["links"]["mtu"] == "1500B"
    assert scenario.transport.window == 500_000
