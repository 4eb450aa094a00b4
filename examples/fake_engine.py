"""An engine without a model: it takes token ids, gives token ids, and multiplies.

    python examples/fake_engine.py 8000

It speaks as vLLM does at `/inference/v1/generate`. Asked to multiply, it calls the tool for that first, and
then says what the tool gave. `rollout.py` runs against it, or against a real engine.
"""

import json
import math
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import turnloom

MODEL = "fake"
MAX_MODEL_LEN = 4096


@cache
def tokenizer() -> turnloom.Tokenizer:
    """Return the tokenizer of the model that is not there."""
    return turnloom.load_tokenizer("builtin")


def answer(prompt_ids: list[int]) -> str:
    """Return what the model says: one turn in Qwen3's format."""
    prompt = tokenizer().decode(prompt_ids)
    last_turn = prompt[prompt.rindex("<|im_start|>user\n") :]
    if result := re.search(r"<tool_response>\n(.*?)\n</tool_response>", last_turn):
        return f"<think>\nThat was easy.\n</think>\n\nIt is {result[1]}.<|im_end|>"
    a, b = re.findall(r"\d+", last_turn)[:2]
    call = json.dumps({"name": "multiply", "arguments": {"a": int(a), "b": int(b)}})
    return f"<think>\nI have a tool.\n</think>\n\n<tool_call>\n{call}\n</tool_call><|im_end|>"


def completion(request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request; every token was, so it says, sampled with probability 0.9."""
    ids = tokenizer().encode(answer(request["token_ids"]))
    limit = request["sampling_params"].get("max_tokens", len(ids))
    cut, ids = limit < len(ids), ids[:limit]
    logprobs = [{"token": f"token_id:{id_}", "logprob": math.log(0.9)} for id_ in ids]
    return {
        "request_id": f"fake-{len(request['token_ids'])}",
        "choices": [
            {
                "index": 0,
                "token_ids": ids,
                "logprobs": {"content": logprobs},
                "finish_reason": "length" if cut else "stop",
            }
        ],
        "usage": {"prompt_tokens": len(request["token_ids"]), "completion_tokens": len(ids)},
    }


class FakeEngine(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """List the model."""
        if self.path == "/v1/models":
            self.reply({"data": [{"id": MODEL, "max_model_len": MAX_MODEL_LEN}]})
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        """Complete a prompt."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/inference/v1/generate":
            self.reply(completion(request))
        else:
            self.send_error(404)

    def reply(self, payload: Any) -> None:
        """Send JSON."""
        body = json.dumps(payload).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


class Server(ThreadingHTTPServer):
    """One thread a connection, of which many may come at once."""

    request_queue_size = 1024
    daemon_threads = True


@contextmanager
def running() -> Iterator[str]:
    """Run an engine in a thread; give its base URL."""
    with Server(("127.0.0.1", 0), FakeEngine) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), FakeEngine).serve_forever()
