"""The engine of the examples as a process of its own, with faults that a test asks for.

A request takes one fault off the list that was put at `/faults`; without one it is answered. The process ends
with the one that started it, whose end of its standard input is closed then.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any, Self

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.append(str(EXAMPLES))

import fake_engine as fake_engine  # noqa: E402  of the examples

Fault = dict[str, Any]


class FaultyEngine(fake_engine.FakeEngine):
    """Answers as the example does, or badly."""

    faults: list[Fault] = []  # noqa: RUF012  of the process
    requests: list[dict[str, Any]] = []  # noqa: RUF012
    models: Any = None
    lock = threading.Lock()

    def do_GET(self) -> None:
        """Also tell what was asked since the faults were put."""
        if self.path == "/requests":
            self.reply(self.requests)
            return
        self.note(None)
        if self.models is None:
            super().do_GET()
        else:
            self.misbehave({}, self.models)

    def do_PUT(self) -> None:
        """Take faults, and what to say of the models."""
        given = self.read()
        with self.lock:
            type(self).faults, type(self).models = given["faults"], given["models"]
            self.requests.clear()
        self.reply({})

    def do_POST(self) -> None:
        """Complete a prompt, or misbehave."""
        request = self.read()
        self.note(request)
        with self.lock:
            fault = self.faults.pop(0) if self.faults else {}
        self.misbehave(fake_engine.completion(request), fault)

    def misbehave(self, payload: dict[str, Any], fault: Fault) -> None:
        """Send an answer with a fault, of which every key is one."""
        time.sleep(fault.get("delay", 0))
        body = fault["body"].encode() if "body" in fault else json.dumps(payload).encode()
        n_sent = int(len(body) * fault.get("sent", 1))
        if not fault.get("hang_up"):
            self.send_response(fault.get("status", 200))
            for name, value in fault.get("headers", {}).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            for begin in range(0, n_sent, step := fault.get("drip", n_sent) or 1):
                self.wfile.write(body[begin : min(begin + step, n_sent)])
                time.sleep(0.02 if "drip" in fault else 0)
        if fault.get("hang_up") or n_sent < len(body):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def note(self, body: Any) -> None:
        """Keep what was asked."""
        headers = {name.lower(): ", ".join(self.headers.get_all(name, [])) for name in self.headers}
        with self.lock:
            self.requests.append({"path": self.path, "headers": headers, "body": body, "at": time.time()})

    def read(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["content-length"])))


class Engine:
    """The process, seen from a test."""

    def __init__(self, port: int = 0) -> None:
        command = [sys.executable, __file__, str(port)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout
        self.port = int(self._process.stdout.readline())
        self.root = f"http://127.0.0.1:{self.port}"
        self.url = f"{self.root}/v1"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def put(self, *faults: Fault, models: Fault | None = None) -> None:
        """Let the next completions have these faults, and every list of the models that one."""
        data = json.dumps({"faults": faults, "models": models}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.root}/faults", data, method="PUT")).close()

    def requests(self, path: str = "/inference/v1/generate") -> list[dict[str, Any]]:
        """Give what was asked since."""
        with urllib.request.urlopen(f"{self.root}/requests") as response:
            return [request for request in json.load(response) if request["path"] == path]


if __name__ == "__main__":
    server = fake_engine.Server(("127.0.0.1", int(sys.argv[1])), FaultyEngine)
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    os._exit(0)  # connections may be open, and a thread may be asleep in one
