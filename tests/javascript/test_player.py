"""The JavaScript player lays what a bundle's vectors say, in Node and in a browser.

onnxruntime-web is installed with npm first. Where npm, its registry or a browser is not there,
what needs it is skipped, and says so.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np
import pytest

from crib_agents.bundle import MODEL, SPEC
from crib_agents.serve.protocol import Session
from tests.javascript.support import (
    JAVASCRIPT,
    NODE,
    edited,
    many_questions,
    needs_node,
    node,
    spoiled,
)

NPM = shutil.which("npm") or ""
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
NO_REGISTRY = (
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONN",
    "TIMEOUT",
    "ETIMEDOUT",
    "ENETUNREACH",
    "E401",
    "E403",
)
"""What npm says where its registry cannot be reached."""

pytestmark = needs_node


def install(folder: Path) -> str:
    """Install the runtime, as the README says. Returns why it cannot be had, or nothing."""
    if not NPM:
        return "npm is not installed"
    command = [NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    command += ["--fetch-retries=1", "--fetch-timeout=30000"]
    outcome = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    if outcome.returncode == 0:
        return ""
    assert any(code in outcome.stderr for code in NO_REGISTRY), outcome.stderr
    return f"npm cannot reach its registry: {outcome.stderr.splitlines()[0]}"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's folder with onnxruntime-web in it."""
    folder = tmp_path_factory.mktemp("javascript") / "example"
    shutil.copytree(JAVASCRIPT, folder, ignore=shutil.ignore_patterns("node_modules"))
    missing = install(folder)
    if missing:
        pytest.skip(missing)
    return folder


@pytest.mark.slow
def test_the_player_passes_the_vectors(installed: Path, folder: Path) -> None:
    outcome = node(installed / "verify.js", folder)
    assert (outcome.stdout, outcome.stderr) == ("200 of 200 vectors\n", "")
    assert outcome.returncode == 0


@pytest.mark.slow
def test_a_card_that_comes_out_otherwise_is_named(
    installed: Path, greedy: Path, tmp_path: Path
) -> None:
    folder = spoiled(greedy, tmp_path / "spoiled", lambda case: case.update(action=3, card="AS"))
    outcome = node(installed / "verify.js", folder)
    assert outcome.returncode == 1
    says = r"line 1: (..) is chosen, not AS: its logit is higher by \S+\n"
    assert re.fullmatch(rf"{folder}: vectors.jsonl, {says}", outcome.stderr)


@pytest.mark.slow
def test_a_damaged_model_is_refused(installed: Path, greedy: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(greedy, folder)
    model = (folder / MODEL).read_bytes()
    (folder / MODEL).write_bytes(model[:-1])
    outcome = node(installed / "bot.js", folder)
    damaged = "model.onnx is damaged: its checksum is not that of spec.json"
    assert (outcome.returncode, outcome.stderr) == (1, f"{folder}: {damaged}\n")
    spec = json.loads((folder / SPEC).read_text())
    (folder / MODEL).write_bytes(b"nonsense")
    (folder / SPEC).write_text(edited(spec, sha256=hashlib.sha256(b"nonsense").hexdigest()))
    outcome = node(installed / "bot.js", folder)
    assert outcome.returncode == 1
    assert outcome.stderr.startswith(f"{folder}: model.onnx cannot be loaded: ")
    assert outcome.stderr.count("\n") == 1


def test_without_the_runtime_it_says_how_to_get_it(greedy: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bare"
    shutil.copytree(JAVASCRIPT, folder, ignore=shutil.ignore_patterns("node_modules"))
    outcome = node(folder / "verify.js", greedy)
    assert outcome.returncode == 1
    assert outcome.stderr.endswith("onnxruntime-web is not installed: run npm ci in this folder\n")


@pytest.mark.parametrize("script", ["bot.js", "verify.js"])
def test_without_a_bundle_it_says_how_it_is_called(script: str) -> None:
    outcome = node(JAVASCRIPT / script)
    assert outcome.returncode == 2
    assert outcome.stderr.startswith(f"usage: node {script} BUNDLE")


@pytest.mark.slow
def test_it_answers_as_ours_does(installed: Path, greedy: Path) -> None:
    chance = random.Random(8)
    views_asked = [view for view in many_questions(2, seed=40) if chance.random() < 0.5]
    five = ["5H", "JC", "2S", "9D", "KH"]
    views_asked.append({"seat": 0, "dealer": 0, "hand": five, "rules": "three-player"})
    messages: list[Any] = [
        {"id": number, "type": "act", "view": view} for number, view in enumerate(views_asked)
    ]
    messages += [{"type": "ping"}, {"id": "x", "type": "dance"}, 3, {"type": "act"}]
    messages += [{"id": None, "type": "quit"}]
    lines = [*map(json.dumps, messages), "{"]
    outcome = node(installed / "bot.js", greedy, lines="".join(f"{line}\n" for line in lines))
    assert (outcome.returncode, outcome.stderr) == (0, "")
    answers = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert len(answers) == len(messages), "it stops at quit"
    session = Session(str(greedy))
    for message, answer in zip(messages, answers, strict=True):
        wanted = json.loads(session.handle(json.dumps(message)) or "")
        for said in (answer, wanted):
            if "error" in said:
                said["error"].pop("message")
        assert answer == wanted, message


@pytest.mark.slow
def test_a_temperature_draws_among_the_legal_cards(installed: Path, greedy: Path) -> None:
    script = installed / "draw.mjs"
    script.write_text(
        """
        import { fromFolder, loadRuntime } from "./folder.js";
        import { loadPlayer } from "./player.js";
        const ort = await loadRuntime();
        const view = { seat: 0, dealer: 1, hand: ["8H", "9S", "KC"], starter: "KH",
                       plays: [[0, "7C"], [1, "8D"]] };
        for (const temperature of [0, 0.1, 1e12]) {
          let at = 0;
          const random = () => (at++ + 0.5) / 100;
          const options = { temperature, random };
          const player = await loadPlayer(ort, fromFolder(process.argv[2]), options);
          const drawn = {};
          for (let n = 0; n < 100; n++) {
            const { play } = await player.act(view);
            drawn[play] = (drawn[play] ?? 0) + 1;
          }
          console.log(JSON.stringify(drawn));
        }
        for (const temperature of [-1, NaN, Infinity, "hot", null]) {
          await loadPlayer(ort, fromFolder(process.argv[2]), { temperature }).then(
            () => console.log("taken"),
            (error) => console.log(error.message),
          );
        }
        """
    )
    outcome = node(script, greedy)
    assert outcome.returncode == 0, outcome.stderr
    drawn, refused = outcome.stdout.splitlines()[:3], outcome.stdout.splitlines()[3:]
    assert refused == [
        f"a temperature is a number from 0, not {odd}"
        for odd in ("-1", "NaN", "Infinity", "hot", "null")
    ]
    cold, warm, hot = map(json.loads, drawn)
    assert cold == {"9S": 100}
    # Drawn at a hundred equal steps, so the shares are the softmax of the points, in tens.
    odds = np.exp(np.array([2, 3, 0]))
    for card, share in zip(("8H", "9S", "KC"), odds / odds.sum(), strict=True):
        assert abs(warm[card] - 100 * share) < 1
        assert abs(hot[card] - 100 / 3) < 1


@pytest.mark.slow
def test_the_readme_runs(installed: Path, greedy: Path) -> None:
    (program,) = re.findall(r"```js\n(.*?)```", (JAVASCRIPT / "README.md").read_text(), re.DOTALL)
    shutil.copytree(greedy, installed / "bundle", dirs_exist_ok=True)
    (installed / "readme.mjs").write_text(program)
    command = [NODE, "readme.mjs"]
    outcome = subprocess.run(command, cwd=installed, capture_output=True, text=True, timeout=60)
    assert outcome.stdout == "[ '2C', '9D' ]\n", outcome.stderr


PRESSING = """<!doctype html>
<iframe src="index.html?bundle=bundle"></iframe>
<script type="module">
  const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
  const page = document.querySelector("iframe");
  const said = () => page.contentDocument?.getElementById("answer")?.value ?? "Loading";
  async function next(before) {
    while (said() === before || said().startsWith("Loading")) await pause();
    return said();
  }
  const found = [await next("")];
  for (const button of ["ask", "verify"]) {
    page.contentDocument.getElementById(button).click();
    found.push(await next(found.at(-1)));
  }
  await fetch("/found", { method: "POST", body: JSON.stringify(found) });
</script>
"""
"""A page that presses the example page's buttons and sends what it says."""


class Pages(SimpleHTTPRequestHandler):
    """Serves a folder and takes what a page sends."""

    def __init__(self, *arguments: Any, found: Queue[list[str]], directory: str) -> None:
        self.found = found
        super().__init__(*arguments, directory=directory)

    def do_POST(self) -> None:
        self.found.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing: the tests' output is not the place."""


@pytest.mark.slow
@pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")
def test_the_page_in_a_browser(installed: Path, greedy: Path, tmp_path: Path) -> None:
    shutil.copytree(greedy, installed / "bundle", dirs_exist_ok=True)
    (installed / "pressing.html").write_text(PRESSING)
    found: Queue[list[str]] = Queue()
    pages = partial(Pages, found=found, directory=str(installed))
    with ThreadingHTTPServer(("127.0.0.1", 0), pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        switches = ["headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"]
        switches += ["disable-background-networking", "disable-component-update", "disable-sync"]
        command = [BROWSER, *(f"--{switch}" for switch in switches)]
        command += [f"--user-data-dir={tmp_path / 'profile'}"]
        command += ["--remote-debugging-port=0"]  # so that it stays open
        command += [f"http://127.0.0.1:{server.server_port}/pressing.html"]
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            ready, answer, verified = found.get(timeout=120)
        finally:
            browser.terminate()
            browser.wait(timeout=30)
            server.shutdown()
    assert ready == "greedy is ready."
    assert json.loads(answer) == {"play": "5H", "assumed": ["target", "rules", "players"]}
    assert verified == "200 of 200 vectors"
