"""Uploads that go on while something happens to a site."""

from __future__ import annotations

import base64
import hashlib
import random
import threading

import requests

from tests.ops.site import document


class Uploader(threading.Thread):
    """Uploads one result after the other until it is stopped; `acknowledged`: run -> digest of its file."""

    def __init__(self, ask: requests.Session, url: str) -> None:
        super().__init__(daemon=True)
        self.ask, self.url, self.stopped = ask, url, threading.Event()
        self.acknowledged: dict[str, str] = {}
        self.unanswered = 0

    def run(self) -> None:
        while not self.stopped.wait(0.1):
            self.upload()

    def upload(self) -> None:
        body = document(len(self.acknowledged), random.Random(len(self.acknowledged)).randbytes)
        try:
            answer = self.ask.post(f"{self.url}/api/v1/results/", json=body, timeout=60)
        except requests.RequestException:
            self.unanswered += 1
            return
        if answer.status_code == 201:
            content = base64.b64decode(body["artefacts"][0]["base64"])
            self.acknowledged[answer.json()["runs"][0]["id"]] = hashlib.sha256(content).hexdigest()
        else:
            self.unanswered += 1
