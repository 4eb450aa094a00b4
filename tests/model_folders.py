"""A model's folder, as it is on a hub: the small vocabulary, with a chat template of one's choice."""

import shutil
from pathlib import Path

import turnloom

BUILTIN = Path(turnloom.__file__).parent / "builtin" / "tokenizer.json"

# The chat template of Qwen2-7B-Instruct.
QWEN2 = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def write_model(folder: Path, chat_template: str | None = QWEN2) -> str:
    """Write the folder, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(BUILTIN, folder / "tokenizer.json")
    if chat_template is not None:
        (folder / "chat_template.jinja").write_text(chat_template, encoding="utf-8", newline="")
    return str(folder)
