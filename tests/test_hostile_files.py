"""Files that are almost what they should be: an error that names file and place, never a traceback."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tokenizers

import turnloom
from conftest import Run

DOCUMENT: dict[str, Any] = json.loads(
    (Path(turnloom.__file__).parent / "builtin/tokenizer.json").read_bytes()
)
N_ADDED = len(DOCUMENT["added_tokens"])
TOKEN = {
    "id": 9000,
    "content": "<zz>",
    "single_word": False,
    "lstrip": False,
    "rstrip": False,
    "normalized": False,
    "special": True,
}


def with_added(**changes: object) -> dict[str, Any]:
    return DOCUMENT | {"added_tokens": [*DOCUMENT["added_tokens"], TOKEN | changes]}


def with_model(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    change(document["model"])
    return document


@pytest.mark.parametrize("id", [-1, 2**40, "7", 1.5, True, None, 10**30])
def test_nonsense_ids_of_added_tokens(tmp_path: Path, id: object) -> None:
    check_refused(tmp_path, with_added(id=id), f"added_tokens[{N_ADDED}].id: {id!r} is no token id")


def test_an_id_that_is_not_the_tokens_own_has_no_effect(tmp_path: Path) -> None:
    # The package numbers added tokens itself, whatever their ids say.
    path = write(tmp_path, with_added(id=3))
    assert (
        turnloom.load_tokenizer(path).encode("<zz>")
        == tokenizers.Tokenizer.from_file(str(path)).encode("<zz>").ids
    )


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (
            with_added(content="x\udc00"),
            rf"added_tokens[{N_ADDED}].content: 'x\udc00' holds a lone surrogate",
        ),
        (with_added(special="no"), f"added_tokens[{N_ADDED}].special: expected true or false, got 'no'"),
        (with_added(lstrip=1), f"added_tokens[{N_ADDED}].lstrip: expected true or false, got 1"),
        (
            with_model(lambda m: m["vocab"].update({"\ud800": 9000})),
            r"model.vocab['\ud800']: holds a lone surrogate",
        ),
        (with_model(lambda m: m.update(merges=[[1, 2]])), "merges[0]: expected str, got int"),
        (with_model(lambda m: m.update(merges=[["a", "\ud800"]])), ""),
        (with_model(lambda m: m.update(merges=[5])), ""),
        (with_model(lambda m: m.update(merges=None)), ""),
        (with_model(lambda m: m.update(merges=[["a", "b", "c"]])), ""),
        (with_model(lambda m: m.update(type=5)), ""),
    ],
)
def test_nonsense_in_a_tokenizer_json(tmp_path: Path, document: dict[str, Any], problem: str) -> None:
    check_refused(tmp_path, document, problem)


def check_refused(folder: Path, document: dict[str, Any], problem: str) -> None:
    path = write(folder, document)
    with pytest.raises(ValueError) as error:
        turnloom.load_tokenizer(path)
    assert str(error.value).startswith(f"source: {str(path)!r} cannot be used as a tokenizer: {problem}")
    with pytest.raises(Exception):  # noqa: B017  the package raises the base class
        tokenizers.Tokenizer.from_file(str(path))


def write(folder: Path, document: dict[str, Any]) -> Path:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"token_ids": [[1, -5, 2]]}, "token_ids[1]: cannot be -5"),
        ({"token_ids": [[2**40]]}, f"token_ids[0]: cannot be {2**40}"),
        ({"token_ids": [["a"]]}, "token_ids[0]: cannot be 'a'"),
        ({"token_ids": [[1, None]]}, "token_ids[1]: cannot be None"),
        ({"token_ids": [5]}, "token_ids: expected a list, got int"),
        ({"token_ids": pa.array([None], pa.list_(pa.int32()))}, "token_ids: expected a list, got NoneType"),
        ({"token_ids": [[1, 2]], "loss_mask": [[True]]}, "loss_mask: 1 entries for 2 tokens"),
        ({"token_ids": [[1]], "loss_mask": [[1]]}, "loss_mask[0]: cannot be 1"),
        ({"token_ids": [[1]], "fields": [[99]]}, "fields[0]: cannot be 99"),
        ({"token_ids": [[1]], "message_indices": [["x"]]}, "message_indices[0]: cannot be 'x'"),
    ],
)
def test_show_of_a_file_that_is_no_output(run: Run, columns: dict[str, Any], problem: str) -> None:
    pq.write_table(pa.table(columns), "other.parquet")
    assert run("show", "other.parquet", "-t", "builtin") == (
        2,
        "",
        f"turnloom: other.parquet: row 0: {problem}\n",
    )
