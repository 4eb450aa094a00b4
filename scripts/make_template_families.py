"""Write python/turnloom/_template_families.py: which config renders which chat template.

The templates are those that the golden tests hold the families against, with the same configs.

Usage: python scripts/make_template_families.py [folder of reference material]
"""

import json
import sys
from pathlib import Path
from typing import Any

from turnloom.detection import template_fingerprint

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "python" / "turnloom" / "_template_families.py"
sys.path.insert(0, str(ROOT / "tests"))

from golden_cases import TEMPLATES, Template  # noqa: E402  once the folder of the tests is on the path

# The records saw a clock; the date is no property of the template.
NOT_OF_THE_TEMPLATE = {"date_string"}

HEADER = '''# Written by scripts/make_template_families.py.
"""The chat formats of known chat templates, by the fingerprints of their texts."""

from turnloom.model_family import ModelFamily

FAMILY_OF_TEMPLATE = {
'''


def template_families(shared: Path) -> str:
    """Return the text of the module."""
    index = json.loads((shared / "templates" / "INDEX.json").read_text(encoding="utf-8"))
    facts = {entry["template"]: entry for entry in index}
    return HEADER + "".join(entry(shared, template, facts[template.path]) for template in TEMPLATES) + "}\n"


def entry(shared: Path, template: Template, facts: dict[str, Any]) -> str:
    """Return the lines of one template."""
    text = (shared / "templates" / template.path).read_text(encoding="utf-8")
    fields = {k: v for k, v in template.config_fields.items() if k not in NOT_OF_THE_TEMPLATE}
    written = {role: token for role, token in facts["special_tokens"].items() if role in text}
    arguments = [json.dumps(template.config_name)]
    arguments += [f"fields={json.dumps(fields)}"] if fields else []
    arguments += [f"special_tokens={json.dumps(written)}"] if written else []
    return "".join(
        [
            f"    # {template.name}: {', '.join(facts['models'])}\n",
            f'    "{template_fingerprint(text)}": ModelFamily(\n',
            *(f"        {argument},\n" for argument in arguments),
            "    ),\n",
        ]
    )


if __name__ == "__main__":
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared"
    TARGET.write_text(template_families(shared), encoding="utf-8")
