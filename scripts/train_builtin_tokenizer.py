"""Train the vocabulary that `load_tokenizer("builtin")` loads, on the standard library of the running Python.

The text is the library's sources, the prose of its docstrings and of the language reference in `pydoc_data`,
and tool calls in JSON made from its signatures. The same Python release gives the same file. The file in the
package was trained on Python 3.11.7 with tokenizers 0.23.3.

    python scripts/train_builtin_tokenizer.py [output]
"""

import ast
import inspect
import json
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from pydoc_data import topics

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

OUTPUT = Path(__file__).parents[1] / "python" / "turnloom" / "builtin" / "tokenizer.json"
VOCABULARY_SIZE = 8192
LEFT_OUT = ("__pycache__", "idlelib", "lib2to3", "site-packages", "test", "tests", "turtledemo")

# Qwen3's pre-tokenizer: words with the character before them, digits one by one.
PRE_TOKEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# Control tokens with Qwen3's and Llama 3's flags: those that a parser reads are not special.
CONTROL_TOKENS = [
    ("<|endoftext|>", True),
    ("<|im_start|>", True),
    ("<|im_end|>", True),
    ("<tool_call>", False),
    ("</tool_call>", False),
    ("<tool_response>", False),
    ("</tool_response>", False),
    ("<think>", False),
    ("</think>", False),
    ("<|begin_of_text|>", True),
    ("<|end_of_text|>", True),
    ("<|start_header_id|>", True),
    ("<|end_header_id|>", True),
    ("<|eom_id|>", True),
    ("<|eot_id|>", True),
    ("<|python_tag|>", True),
]


def library_sources() -> Iterator[str]:
    """Yield the source files of the standard library, in the order of their paths."""
    library = Path(sysconfig.get_path("stdlib"))
    paths = {path.relative_to(library).as_posix(): path for path in library.rglob("*.py")}
    for name in sorted(paths):
        # `_sysconfigdata` holds the paths of one machine.
        if not any(part in LEFT_OUT or part.startswith("_sysconfigdata") for part in name.split("/")):
            try:
                yield paths[name].read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield the docstrings of a module, its classes and its functions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield text


def tool_texts(tree: ast.Module) -> Iterator[str]:
    """Yield a tool description and a tool call in JSON for every documented public function."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        text = ast.get_docstring(node)
        parameters = [argument.arg for argument in node.args.args if argument.arg not in ("self", "cls")]
        if not text or not parameters:
            continue
        properties = {name: {"type": "string", "description": f"The {name}"} for name in parameters}
        schema = {"type": "object", "properties": properties, "required": parameters}
        function = {"name": node.name, "description": text.splitlines()[0], "parameters": schema}
        yield json.dumps({"type": "function", "function": function})
        yield json.dumps({"name": node.name, "arguments": dict.fromkeys(parameters, "value")})


def training_texts() -> Iterator[str]:
    """Yield the whole training text: prose, JSON and code."""
    for topic in sorted(topics.topics):
        yield topics.topics[topic]
    for source in library_sources():
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        for text in docstrings(tree):
            yield inspect.cleandoc(text)
        yield from tool_texts(tree)
        if len(source) < 100_000:  # longer ones are mostly tables
            yield source


def train() -> Tokenizer:
    """Train the byte-level BPE and add the control tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRE_TOKEN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE - len(CONTROL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        max_token_length=24,
    )
    tokenizer.train_from_iterator(training_texts(), trainer)
    tokenizer.add_tokens(
        [AddedToken(content, special=special, normalized=False) for content, special in CONTROL_TOKENS]
    )
    return tokenizer


def main() -> None:
    """Write the file that the first argument names, or the one in the package."""
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    document = json.loads(train().to_str())
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    output.write_text(text + "\n", encoding="utf-8")
    print(f"{output}: {output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
