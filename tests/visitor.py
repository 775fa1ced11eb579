"""Somebody with a browser and no network: for tests of the workbench's pages."""

import json
import os
import threading
import time

from starlette.testclient import TestClient

from gdppca.jobs.worker import work
from gdppca.web.app import make_app

HOST = "127.0.0.1:8000"
SECRET = "HIV+"  # a cell that no page may show
HOSTILE = "<script>alert(1)</script>"
PERSONS = 300
WHO = {"unit": "person", "person": "who", "neighbors": "replace-one"}
COLUMNS = {
    "use-1": "yes", "type-1": "number", "typical-1": "50", "spread-1": "20",
    "use-2": "yes", "type-2": "number", "typical-2": "0", "spread-2": "1",
    "use-3": "yes", "type-3": "category", "levels-3": "a\nb",
    "gaps": "rates", "codes": "NA", "save_as": "visits.toml",
}  # fmt: skip
BUDGET = {
    "epsilon": "2",
    "delta": "1e-6",
    "components": "2",
    "dataset": "visits",
    "purpose": "A study",
}


class Inside:
    """A worker in a thread, where a process of its own would take seconds to start."""

    def __init__(self, *_, **__):
        hears, self._told = os.pipe()
        heard, says = os.pipe()
        self.stdin, self.stdout = os.fdopen(self._told, "w"), os.fdopen(heard)
        self._ears, self._mouth = os.fdopen(hears), os.fdopen(says, "w")
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self):
        def tell(kind, **more):
            self._mouth.write(json.dumps({"kind": kind, **more}) + "\n")
            self._mouth.flush()

        with self._mouth, self._ears:
            work(json.loads(self._ears.readline()), tell, self._ears)

    def terminate(self):
        self.stdin.close()

    def kill(self):
        pass

    def wait(self):
        self._thread.join()


class Visitor:
    """Somebody with a browser: follows redirects, sends the form's token and the origin."""

    def __init__(self, bench):
        self.bench = bench
        self.client = TestClient(make_app(bench, (HOST,)), base_url=f"http://{HOST}")
        self.client.get("/start", params={"token": bench.keys.token})

    def get(self, path, **query):
        return self.client.get(path, params=query or None)

    def post(self, path, **typed):
        return self.client.post(
            path,
            data={"csrf": self.bench.keys.form, **typed},
            headers={"origin": f"http://{HOST}"},
        )

    def wait(self, path, while_):
        """Ask until a page no longer says something."""
        until = time.monotonic() + 120
        while while_ in (page := self.get(path)).text:
            assert time.monotonic() < until
            time.sleep(0.2)
        return page
