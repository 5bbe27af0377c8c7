#!/usr/bin/env python3
"""The example serves a small model to real HTTP clients: right answers, errors in OpenAI's form, clients that go away.

    test/examples/serve_test.py SERVE CHAT [--requests 10000]
"""

import contextlib
import http.client
import json
import math
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "llm" / "data" / "llama"
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<a>{% endif %}"
PROGRAMS = {}
FOLDER = tempfile.mkdtemp()


def write_model() -> None:
    """The recorded Llama with room for long answers, and letters, digits and the two bytes of é for its 48 tokens."""
    config = json.loads((DATA / "config.json").read_text())
    config["max_position_embeddings"] = 16384
    Path(FOLDER, "config.json").write_text(json.dumps(config))
    shutil.copy(DATA / "model.safetensors", FOLDER)
    tokens = ["<s>", "</s>", "<u>", "<a>", *"abcdefghijklmnopqrstuvwxyz0123456789.:<>ÃĠĊ©"]
    assert len(tokens) == config["vocab_size"]
    added = [dict(id=i, content=token, special=i < 2, single_word=False, lstrip=False, rstrip=False, normalized=False)
             for i, token in enumerate(tokens[:4])]
    model = dict(type="BPE", vocab={token: i for i, token in enumerate(tokens)}, merges=[], dropout=None, unk_token=None)
    level = dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True)
    Path(FOLDER, "tokenizer.json").write_text(json.dumps(dict(
        version="1.0", truncation=None, padding=None, added_tokens=added, normalizer=None, pre_tokenizer=level,
        post_processor=None, decoder=level, model=model)))
    Path(FOLDER, "chat_template.jinja").write_text(TEMPLATE)


SPEAK_TOKENS = ["<s>", "</s>", "<q>", "<unused>"]


def write_speaker(folder: str, template: str, pieces: list, special: list = ()) -> None:
    """A model that says these pieces one behind the other and ends: layers that add nothing, and a head that tells the next
    token from the last."""
    tokens = [*SPEAK_TOKENS, *pieces]
    count, inner = len(tokens), 4
    config = dict(model_type="llama", vocab_size=count, hidden_size=count, intermediate_size=inner, num_hidden_layers=1,
                  num_attention_heads=1, num_key_value_heads=1, head_dim=2, max_position_embeddings=512, rms_norm_eps=1e-6,
                  hidden_act="silu", tie_word_embeddings=False, bos_token_id=0, eos_token_id=1, rope_theta=10000.0)
    Path(folder, "config.json").write_text(json.dumps(config))
    follows = {2: 4, **{i: i + 1 for i in range(4, count - 1)}, count - 1: 1}
    rows = lambda height, width, at: [[at(i, j) for j in range(width)] for i in range(height)]
    nothing = lambda height, width: rows(height, width, lambda i, j: 0.0)
    weights = {"model.embed_tokens.weight": rows(count, count, lambda i, j: float(i == j)),
               "model.norm.weight": [[1.0] * count],
               "lm_head.weight": rows(count, count, lambda i, j: 5.0 * (follows.get(j) == i))}
    layer = {"input_layernorm": [[1.0] * count], "post_attention_layernorm": [[1.0] * count], "self_attn.q_proj": nothing(2, count),
             "self_attn.k_proj": nothing(2, count), "self_attn.v_proj": nothing(2, count), "self_attn.o_proj": nothing(count, 2),
             "mlp.gate_proj": nothing(inner, count), "mlp.up_proj": nothing(inner, count), "mlp.down_proj": nothing(count, inner)}
    weights.update({f"model.layers.0.{name}.weight": rows for name, rows in layer.items()})
    header, data = {}, b""
    for name, matrix in weights.items():
        flat = [x for row in matrix for x in row]
        shape = [len(matrix[0])] if "norm" in name else [len(matrix), len(matrix[0])]
        header[name] = dict(dtype="F32", shape=shape, data_offsets=[len(data), len(data) + 4 * len(flat)])
        data += struct.pack(f"<{len(flat)}f", *flat)
    text = json.dumps(header).encode()
    Path(folder, "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    added = [dict(id=i, content=token, special=i < 2 or token in special, single_word=False, lstrip=False, rstrip=False, normalized=False)
             for i, token in enumerate(tokens)]
    level = dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True)
    Path(folder, "tokenizer.json").write_text(json.dumps(dict(
        version="1.0", truncation=None, padding=None, added_tokens=added, normalizer=None, pre_tokenizer=level, post_processor=None,
        decoder=level, model=dict(type="BPE", vocab={t: i for i, t in enumerate(tokens)}, merges=[], dropout=None, unk_token=None))))
    Path(folder, "chat_template.jinja").write_text(template)


class Server:
    """The program; its address is what it prints."""

    def __init__(self, *options: str, folder: str = FOLDER):
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen([PROGRAMS["serve"], folder, "--port", "0", "--name", "tiny", *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("http://127.0.0.1:") and line.endswith(" answers for tiny\n"), line
        self.port = int(line.split(":")[2].split("/")[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def call(self, method: str, path: str, body=None, connection=None):
        """Status and JSON; all bodies are JSON."""
        own = connection or self.connect()
        own.request(method, path, body if body is None or isinstance(body, bytes) else json.dumps(body))
        response = own.getresponse()
        answer = json.loads(response.read())
        if not connection:
            own.close()
        return response.status, answer

    def complete(self, prompt, connection=None, **options) -> dict:
        status, answer = self.call("POST", "/v1/completions", dict(prompt=prompt, **options), connection)
        assert status == 200, answer
        return answer

    def text(self, prompt, connection=None, **options) -> str:
        return self.complete(prompt, connection, **options)["choices"][0]["text"]

    def events(self, path: str, body: dict) -> list:
        connection = self.connect()
        connection.request("POST", path, json.dumps({**body, "stream": True}))
        response = connection.getresponse()
        assert response.status == 200 and response.getheader("Content-Type") == "text/event-stream"
        parts = response.read().decode().split("\n\n")
        connection.close()
        assert parts[-2:] == ["data: [DONE]", ""], parts
        return [json.loads(part.removeprefix("data: ")) for part in parts[:-2]]

    def raw(self, data: bytes) -> bytes:
        """What comes back for these bytes, whatever they are."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as plain, contextlib.suppress(OSError):
            plain.sendall(data)
            plain.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: plain.recv(65536), b""))
        return b""

    def health(self) -> dict:
        return self.call("GET", "/health")[1]

    def settles(self) -> bool:
        """Whether nothing runs and no page is held, soon."""
        for _ in range(100):
            health = self.health()
            if health["active"] == health["running"] == health["waiting"] == 0 and health["free_blocks"] == health["num_blocks"]:
                return True
            time.sleep(0.05)
        return False

    def resident(self) -> int:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) << 10
        return 0


LONG = dict(prompt="forever", max_tokens=15000, ignore_eos=True)


def in_threads(count: int, work) -> list:
    """What went wrong in any of them."""
    wrong = []

    def run(index: int) -> None:
        try:
            work(index)
        except Exception as error:  # all of them are told by the caller
            wrong.append(f"{index}: {error!r}")

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def cases(count: int) -> list:
    """Prompts with options, some of which begin alike."""
    pick = random.Random(7)
    made = []
    for i in range(count):
        prompt = ("once upon a time " if i % 3 == 0 else "") + "".join(pick.choices("abcdefgh 0123", k=pick.randint(1, 20)))
        made.append((prompt, dict(max_tokens=pick.randint(1, 24), seed=i, temperature=pick.choice([0, 0.7, 1.3]),
                                  top_p=pick.choice([1, 0.8]), ignore_eos=i % 2 == 0)))
    return made


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--sequences", "8", "--queue", "120")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_models_are_listed(self):
        status, models = self.server.call("GET", "/v1/models")
        self.assertEqual((status, models["object"], [m["id"] for m in models["data"]]), (200, "list", ["tiny"]))
        self.assertEqual(self.server.call("GET", "/v1/models/tiny")[1], models["data"][0])
        self.assertEqual(self.server.call("GET", "/v1/models/other")[0], 404)

    def test_greedy_answers_are_those_of_the_chat_example(self):
        for prompt in ("a", "hello there", "0123456789"):
            out = subprocess.run([PROGRAMS["chat"], FOLDER, "--prompt", prompt, "--tokens", "20"], capture_output=True, check=True)
            self.assertEqual(self.server.text(prompt, max_tokens=20, temperature=0), out.stdout.decode()[:-1])

    def test_usage_and_reasons(self):
        answer = self.server.complete("hello", max_tokens=7, ignore_eos=True)
        self.assertEqual(answer["usage"], dict(prompt_tokens=5, completion_tokens=7, total_tokens=12))
        self.assertEqual((answer["object"], answer["model"]), ("text_completion", "tiny"))
        self.assertEqual(answer["choices"][0]["finish_reason"], "length")
        self.assertTrue(answer["id"].startswith("cmpl-") and abs(answer["created"] - time.time()) < 100)

    def test_streams_join_to_the_whole(self):
        for prompt, options in cases(24):
            whole = self.server.complete(prompt, **options)
            events = self.server.events("/v1/completions", dict(prompt=prompt, stream_options=dict(include_usage=True), **options))
            self.assertEqual("".join(e["choices"][0]["text"] for e in events[:-1]), whole["choices"][0]["text"])
            self.assertEqual(events[-2]["choices"][0]["finish_reason"], whole["choices"][0]["finish_reason"])
            self.assertEqual((events[-1]["choices"], events[-1]["usage"]), ([], whole["usage"]))
            self.assertTrue(all(e["choices"][0]["finish_reason"] is None and e["usage"] is None for e in events[:-2]))

    def test_stop_reasons_name_what_has_ended_an_answer(self):
        ask = dict(prompt="hello", max_tokens=9, temperature=0, ignore_eos=True)
        answer = self.server.complete(**ask)["choices"][0]
        self.assertEqual((answer["finish_reason"], answer["stop_reason"]), ("length", None))
        whole = answer["text"]
        cut = self.server.complete(**ask, stop=["~", whole[3]])["choices"][0]
        self.assertEqual((cut["text"], cut["finish_reason"], cut["stop_reason"]), (whole[:whole.index(whole[3])], "stop", whole[3]))
        scored = self.server.complete(**ask, logprobs=0)["choices"][0]["logprobs"]["tokens"]
        token = 4 + next(i for i in map("abcdefghijklmnopqrstuvwxyz0123456789.:<>".find, scored) if i >= 0)
        events = self.server.events("/v1/completions", dict(ask, stop_token_ids=[token]))
        self.assertEqual((events[-1]["choices"][0]["finish_reason"], events[-1]["choices"][0]["stop_reason"]), ("stop", token))

    def test_logprobs_of_completions(self):
        for prompt, options in cases(12):
            whole = self.server.complete(prompt, logprobs=3, **options)["choices"][0]
            self.assertEqual(whole["text"], self.server.text(prompt, **options))
            scored = whole["logprobs"]
            self.assertEqual({len(column) for column in scored.values()}, {len(scored["tokens"])})
            self.assertEqual(sorted(scored["text_offset"]), scored["text_offset"])
            for token, logprob, top in zip(scored["tokens"], scored["token_logprobs"], scored["top_logprobs"]):
                self.assertTrue(logprob <= 0 and 3 <= len(top) <= 4)
                self.assertEqual(top[token], logprob)
                self.assertEqual(sorted(top.values(), reverse=True)[0], max(top.values()))
            joined = "".join(scored["tokens"])
            if joined and "\ufffd" not in joined and "s>" not in joined:  # special tokens are no text
                self.assertEqual(joined, whole["text"])
                for token, offset in zip(scored["tokens"], scored["text_offset"]):
                    self.assertTrue(whole["text"].startswith(token, offset))
            streamed = dict(tokens=[], token_logprobs=[], top_logprobs=[], text_offset=[])
            for event in self.server.events("/v1/completions", dict(prompt=prompt, logprobs=3, **options)):
                for name, column in event["choices"][0]["logprobs"].items():
                    streamed[name] += column
            self.assertEqual(streamed["tokens"], scored["tokens"])
            self.assertEqual(streamed["text_offset"], scored["text_offset"])
            for ours, theirs in zip(streamed["token_logprobs"], scored["token_logprobs"]):
                self.assertAlmostEqual(ours, theirs, places=3)

    def test_logprobs_of_all_tokens_sum_to_one(self):
        ask = dict(messages=[dict(role="u", content="hi")], max_tokens=6, temperature=0, logprobs=True, top_logprobs=20, ignore_eos=True)
        status, answer = self.server.call("POST", "/v1/chat/completions", ask)
        self.assertEqual(status, 200)
        content = answer["choices"][0]["logprobs"]["content"]
        self.assertEqual(len(content), 6)
        for token in content:
            self.assertEqual(set(token), {"token", "logprob", "bytes", "top_logprobs"})
            self.assertEqual(bytes(token["bytes"]).decode(errors="replace"), token["token"])
            tops = [top["logprob"] for top in token["top_logprobs"]]
            self.assertEqual((len(tops), tops[0]), (20, token["logprob"]))  # greedy
            self.assertEqual(tops, sorted(tops, reverse=True))
            self.assertLess(sum(map(math.exp, tops)), 1 + 1e-6)
        events = self.server.events("/v1/chat/completions", ask)
        streamed = [token for event in events for token in event["choices"][0]["logprobs"]["content"]]
        self.assertEqual([token["token"] for token in streamed], [token["token"] for token in content])

    def test_a_stop_string_leaves_out_the_logprobs_of_its_tokens(self):
        ask = dict(prompt="stop", max_tokens=30, temperature=1, seed=11, ignore_eos=True, logprobs=1)
        whole = self.server.complete(**ask)["choices"][0]
        stop = whole["text"][10:13]
        end = whole["text"].index(stop)
        cut = self.server.complete(**ask, stop=stop)["choices"][0]
        self.assertEqual(cut["text"], whole["text"][:end])
        self.assertEqual(cut["logprobs"]["text_offset"], [o for o in whole["logprobs"]["text_offset"] if o < end])
        events = self.server.events("/v1/completions", dict(ask, stop=stop))
        self.assertEqual([o for e in events for o in e["choices"][0]["logprobs"]["text_offset"]], cut["logprobs"]["text_offset"])

    def test_chats_go_through_the_template(self):
        messages = [dict(role="u", content="hi "), dict(role="a", content=None),
                    dict(role="u", content=[dict(type="text", text="one "), dict(type="text", text="two")])]
        options = dict(max_tokens=16, seed=3, ignore_eos=True)
        wanted = self.server.text("<u>hi <a>None<u>one two<a>", **options)
        status, chat = self.server.call("POST", "/v1/chat/completions", dict(messages=messages, model="tiny", **options))
        self.assertEqual((status, chat["object"]), (200, "chat.completion"))
        self.assertEqual(chat["choices"][0]["message"], dict(role="assistant", content=wanted))
        events = self.server.events("/v1/chat/completions", dict(messages=messages, **options))
        deltas = [e["choices"][0]["delta"] for e in events]
        self.assertEqual(deltas[0]["role"], "assistant")
        self.assertEqual("".join(d.get("content", "") for d in deltas), wanted)
        self.assertEqual([e["choices"][0]["finish_reason"] for e in events], [None] * (len(events) - 1) + ["length"])

    def test_several_answers_have_seeds_of_their_own(self):
        options = dict(max_tokens=12, temperature=1.5, ignore_eos=True)
        alone = [self.server.text(prompt, seed=5 + i, **options) for i, prompt in enumerate(["ab", "ab", "ab", "xyz", "xyz", "xyz"])]
        self.assertGreater(len(set(alone)), 3)
        answer = self.server.complete(["ab", "xyz"], n=3, seed=5, **options)
        self.assertEqual([c["text"] for c in answer["choices"]], alone)
        self.assertEqual([c["index"] for c in answer["choices"]], list(range(6)))
        self.assertEqual(answer["usage"]["completion_tokens"], 72)
        streamed = [""] * 6
        for event in self.server.events("/v1/completions", dict(prompt=["ab", "xyz"], n=3, seed=5, **options)):
            streamed[event["choices"][0]["index"]] += event["choices"][0]["text"]
        self.assertEqual(streamed, alone)
        tokens = [4 + ord(letter) - ord("a") for letter in "xyz"]
        self.assertEqual(self.server.text(tokens, seed=8, **options), alone[3])
        self.assertEqual(self.server.text([tokens], seed=8, **options), alone[3])

    def test_without_a_seed_answers_differ(self):
        self.assertGreater(len({self.server.text("ab", temperature=2, max_tokens=24, ignore_eos=True) for _ in range(4)}), 1)

    def test_stop_strings_end_answers_and_are_not_given(self):
        options = dict(max_tokens=40, temperature=1, seed=11, ignore_eos=True)
        whole = self.server.text("stop", **options)
        for stop in (whole[10:13], whole[5], ["no such thing", whole[20:22]], [whole[30:], whole[17:19]], whole + "!"):
            places = [whole.find(s) for s in ([stop] if isinstance(stop, str) else stop)]
            end = min((p for p in places if p >= 0), default=None)
            answer = self.server.complete("stop", stop=stop, **options)["choices"][0]
            self.assertEqual((answer["text"], answer["finish_reason"]), (whole[:end], "length" if end is None else "stop"))
            events = self.server.events("/v1/completions", dict(prompt="stop", stop=stop, **options))
            self.assertEqual("".join(e["choices"][0]["text"] for e in events), whole[:end])
        self.assertTrue(self.server.settles())

    def test_answers_do_not_mix(self):
        wanted = [(prompt, options, self.server.text(prompt, **options)) for prompt, options in cases(40)]

        def ask(index: int) -> None:
            connection = self.server.connect()
            for prompt, options, text in random.Random(index).sample(wanted, 20):
                assert self.server.text(prompt, connection, **options) == text, prompt
            connection.close()

        self.assertEqual(in_threads(16, ask), [])
        self.assertTrue(self.server.settles())

    def test_clients_that_go_away_free_their_pages(self):
        for stream in (False, True):
            open_ones = [self.server.connect() for _ in range(12)]
            for connection in open_ones:
                connection.request("POST", "/v1/completions", json.dumps(dict(LONG, stream=stream, n=2)))
            while self.server.health()["running"] < 8:
                time.sleep(0.02)
            if stream:
                self.assertTrue(open_ones[0].getresponse().read(100).startswith(b'data: {"id":'))
            for connection in open_ones:
                connection.close()
            self.assertTrue(self.server.settles(), self.server.health())

    def test_errors_are_in_openais_form(self):
        ask = dict(prompt="a")
        chat = "/v1/chat/completions"
        say = dict(messages=[dict(role="u", content="a")])
        wanted = [
            (b"{", 400, "invalid_request", None), (b"", 400, "invalid_request", None), (b"[]", 400, "invalid_json", None),
            (b"\xff\xfe", 400, "invalid_request", None), (b'{"prompt": "\xff"}', 400, "invalid_request", None),
            (b'{"prompt": "a", "model": "\xff"}', 404, "model_not_found", "model"), (b"[" * 100000, 400, "invalid_request", None),
            ({}, 400, "missing_required_parameter", "prompt"), (dict(ask, model="gpt"), 404, "model_not_found", "model"),
            (dict(prompt=[]), 400, "invalid_value", "prompt"), (dict(prompt=""), 400, "invalid_request", None),
            (dict(prompt=[1.5]), 400, "invalid_value", "prompt"), (dict(prompt=[48]), 400, "invalid_request", None),
            (dict(prompt=[[1], "a", {}]), 400, "invalid_value", "prompt"),
            (dict(prompt="a" * 9000), 400, "context_length_exceeded", "prompt"),
            (dict(ask, max_tokens=0), 400, "invalid_value", "max_tokens"), (dict(ask, max_tokens="9"), 400, "invalid_value", "max_tokens"),
            (dict(ask, n=0), 400, "invalid_value", "n"), (dict(ask, n=1000), 400, "invalid_value", "n"),
            (dict(prompt=["a"] * 100, n=2), 400, "invalid_value", "n"), (dict(ask, best_of=2), 400, "invalid_value", "best_of"),
            (dict(ask, temperature=-1), 400, "invalid_value", "temperature"), (dict(ask, top_p=0), 400, "invalid_value", "top_p"),
            (dict(ask, temperature="Infinity"), 400, "invalid_value", "temperature"), (dict(ask, seed=0.5), 400, "invalid_value", "seed"),
            (dict(ask, stop=[""]), 400, "invalid_value", "stop"), (dict(ask, stop=["x"] * 17), 400, "invalid_value", "stop"),
            (dict(ask, stream=1), 400, "invalid_value", "stream"), (dict(ask, stream_options={}), 400, "invalid_value", "stream_options"),
            (dict(ask, logprobs=21), 400, "invalid_value", "logprobs"), (dict(ask, logprobs=True), 400, "invalid_value", "logprobs"),
            (dict(say, logprobs=2), 400, "invalid_value", "logprobs", chat), (dict(say, top_logprobs=2), 400, "invalid_value", "top_logprobs", chat),
            (dict(ask, stop_token_ids=["a"]), 400, "invalid_value", "stop_token_ids"),
            (dict(ask, tools=[dict(function=dict(name="f"))]), 400, "unsupported_parameter", "tools"), (dict(ask, echo=True), 400, "unsupported_parameter", "echo"),
            (dict(say, tools=[{}]), 400, "invalid_value", "tools", chat), (dict(say, tools="f"), 400, "invalid_value", "tools", chat),
            (dict(say, tools=[dict(function=dict(name="no name"))]), 400, "invalid_value", "tools", chat),
            (dict(say, tools=[dict(function=dict(name="f"))]), 400, "unsupported_parameter", "tools", chat),
            (dict(say, tools=[dict(function=dict(name="f"))], tool_choice="must"), 400, "invalid_value", "tool_choice", chat),
            (dict(say, tools=[dict(function=dict(name="f"))], tool_choice=1), 400, "invalid_value", "tool_choice", chat),
            (dict(say, tools=[dict(function=dict(name="f"))], tool_choice=dict(function=dict(name="g"))), 400, "invalid_value", "tool_choice",
             chat),
            (dict(say, tool_choice="required"), 400, "invalid_value", "tool_choice", chat),
            (dict(say, tools=[dict(function=dict(name="f"))], tool_choice="required"), 400, "unsupported_parameter", "tools", chat),
            (dict(ask, response_format=dict(type="json_object"), ignore_eos=True), 400, "invalid_value", "response_format"),
            (dict(messages=[dict(role="a", tool_calls=[{}])]), 400, "invalid_value", "messages", chat),
            (dict(say, response_format=dict(type="json_schema")), 400, "unsupported_parameter", "response_format", chat),
            (dict(say, response_format="text"), 400, "unsupported_parameter", "response_format", chat),
            ({}, 400, "missing_required_parameter", "messages", chat), (dict(messages=[]), 400, "invalid_value", "messages", chat),
            (dict(messages=[dict(content="a")]), 400, "invalid_value", "messages", chat),
            (dict(messages=[dict(role="u", content=[dict(type="image_url")])]), 400, "invalid_value", "messages", chat),
            (dict(say, chat_template_kwargs=1), 400, "invalid_value", "chat_template_kwargs", chat),
        ]
        for body, status, code, param, *path in wanted:
            got, answer = self.server.call("POST", path[0] if path else "/v1/completions", body)
            error = answer["error"]
            self.assertEqual((got, error["code"], error["param"]), (status, code, param), (body if len(str(body)) < 200 else "", error))
            self.assertEqual(error["type"], "invalid_request_error")
            self.assertTrue(error["message"])
        for method, path in (("GET", "/"), ("POST", "/v1/other"), ("GET", "/v1/completions"), ("GET", "/%ff%fe")):
            status, answer = self.server.call(method, path)
            self.assertEqual((status, answer["error"]["code"]), (404, "unknown_url"))
        # What says nothing is no error.
        self.server.complete("a", logprobs=None, echo=False, presence_penalty=0, logit_bias={}, tools=[], user="me")
        self.assertTrue(self.server.settles())

    def test_garbage_leaves_the_server_as_it_was(self):
        pick = random.Random(1)
        head = b"POST /v1/completions HTTP/1.1\r\nHost: a\r\n"
        body = b'{"prompt": "a", "max_tokens": 2}'
        good = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
        strange = [b"", b"\r\n\r\n", b"GET", b"\0" * 1000, b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
                   head + b"X: " + b"y" * 100000 + b"\r\n\r\n", head + b"Content-Length: -1\r\n\r\n", head + b"Content-Length: 99\r\n\r\n{}",
                   head + b"Content-Length: 99999999999999999999\r\n\r\n", head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
                   head + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{", good[:40], good[:-3],
                   head + b"Range: bytes=" + b"1-2," * 2000 + b"1-2\r\nContent-Length: 2\r\n\r\n{}",
                   head + b"Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip.",
                   head + b"Content-Type: multipart/form-data; boundary=\r\nContent-Length: 4\r\n\r\n----"]
        for _ in range(150):
            changed = bytearray(good)
            for _ in range(pick.randint(1, 6)):
                changed[pick.randrange(len(changed))] = pick.randrange(256)
            strange.append(bytes(changed[:pick.randint(1, len(changed))]))
        for data in strange:
            reply = self.server.raw(data)
            self.assertTrue(not reply or reply.startswith(b"HTTP/1."), reply[:100])
        self.assertIsNone(self.server.process.poll())
        self.assertTrue(self.server.settles())

    def test_old_and_other_clients(self):
        body = json.dumps(dict(prompt="curl", max_tokens=9, seed=1, ignore_eos=True))
        wanted = self.server.text(**json.loads(body))
        reply = self.server.raw(b"POST /v1/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body.encode()))
        self.assertNotIn(b"hunked", reply)
        if shutil.which("curl"):
            url = f"http://127.0.0.1:{self.server.port}/v1/completions"
            out = subprocess.run(["curl", "-sS", "--compressed", url, "-d", body], capture_output=True, check=True).stdout
            self.assertEqual(json.loads(out)["choices"][0]["text"], wanted)
            streamed = json.dumps(dict(json.loads(body), stream=True))
            out = subprocess.run(["curl", "-sSN", url, "-d", streamed], capture_output=True, check=True).stdout.decode()
            self.assertEqual(out.count("data: "), out.count("\n\n"))


WEATHER = dict(type="function", function=dict(name="weather", description="of a city", parameters=dict(
    type="object", properties=dict(city=dict(type="string")), required=["city"])))
SHOWN = "{% for m in messages %}{{ '' if m.role }}{% endfor %}"
TOOL_MODELS = {
    "tagged": ("{% if tools %}<tool_call>{% endif %}" + SHOWN + "<q>",
               ["Let me see.\n", "<tool_call>\n", '{"name": "weather", ', '"arguments": {"city": "Paris"}}', "\n</tool_call>", "\n<tool_call>",
                '{"name": "weather", "arguments": {"city": "Rome"}}', "</tool_call>"], [], "Let me see."),
    "json": ("{% if tools %}ipython \"parameters\"{% endif %}" + SHOWN + "<q>",
             ["<|python_tag|>", '{"name": "weather", "parameters"', ': {"city": "Paris"}}', "; ",
              '{"name": "weather", "parameters": {"city": "Rome"}}'], ["<|python_tag|>"], None),
    "mistral": ("{% if tools %}[TOOL_CALLS]{% endif %}" + SHOWN + "<q>",
                ["[TOOL_CALLS]", ' [{"name": "weather", "arguments": {"city": "Paris"}}', ", ",
                 '{"name": "weather", "arguments": {"city": "Rome"}}', "]"], ["[TOOL_CALLS]"], None),
}


class Tools(unittest.TestCase):
    """Models that call functions in the ways of their families."""

    def ask(self, server: Server, **more) -> dict:
        body = {**dict(messages=[dict(role="user", content="Weather?")], tools=[WEATHER], temperature=0, max_tokens=40), **more}
        status, answer = server.call("POST", "/v1/chat/completions", body)
        self.assertEqual(status, 200, answer)
        return answer["choices"][0]

    def check_calls(self, calls: list, cities: list) -> None:
        self.assertEqual([json.loads(call["function"]["arguments"]) for call in calls], [dict(city=city) for city in cities])
        self.assertEqual({(call["type"], call["function"]["name"]) for call in calls}, {("function", "weather")})
        self.assertEqual(len({call["id"] for call in calls}), len(cities))

    def test_calls_are_given_in_openais_form(self):
        for name, (template, pieces, special, content) in TOOL_MODELS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_speaker(folder, template, pieces, special)
                with Server(folder=folder) as server:
                    choice = self.ask(server)
                    self.assertEqual((choice["finish_reason"], choice["message"]["content"]), ("tool_calls", content))
                    self.check_calls(choice["message"]["tool_calls"], ["Paris", "Rome"])
                    first = self.ask(server, parallel_tool_calls=False)
                    self.check_calls(first["message"]["tool_calls"], ["Paris"])
                    plain = self.ask(server, tool_choice="none")
                    self.assertEqual((plain["finish_reason"], "tool_calls" in plain["message"]), ("stop", False))
                    self.assertIn("weather", plain["message"]["content"])
                    self.check_stream(server, content)
                    self.check_conversation(server)

    def test_calls_can_be_forced(self):
        named = dict(type="function", function=dict(name="weather"))
        for name, (template, pieces, special, _) in TOOL_MODELS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                # This model would rather talk.
                write_speaker(folder, template, ["No, ", "I will not.", *pieces], special)
                with Server(folder=folder) as server:
                    self.assertTrue(self.ask(server)["message"]["content"].startswith("No, I will not."))
                    for choice in ("required", named):
                        forced = self.ask(server, tool_choice=choice)
                        self.assertEqual((forced["finish_reason"], forced["message"]["content"]), ("tool_calls", None))
                        self.check_calls(forced["message"]["tool_calls"], ["Paris", "Rome"])
                        one = self.ask(server, tool_choice=choice, parallel_tool_calls=False, temperature=2, seed=3)
                        self.assertEqual(one["finish_reason"], "tool_calls")
                        self.assertEqual([call["function"]["name"] for call in one["message"]["tool_calls"]], ["weather"])
                    body = dict(messages=[dict(role="user", content="Weather?")], tools=[WEATHER], tool_choice="required", ignore_eos=True)
                    status, answer = server.call("POST", "/v1/chat/completions", body)
                    self.assertEqual((status, answer["error"]["param"]), (400, "tool_choice"))

    def test_answers_can_be_objects(self):
        with tempfile.TemporaryDirectory() as folder:
            write_speaker(folder, SHOWN + "<q>", ["Sure: ", '{"a', '": [1', ", 2", "]", "}", " is it."], [])
            with Server(folder=folder) as server:
                body = dict(messages=[dict(role="user", content="?")], temperature=0, max_tokens=40)
                plain = server.call("POST", "/v1/chat/completions", body)[1]["choices"][0]["message"]["content"]
                self.assertEqual(plain, 'Sure: {"a": [1, 2]} is it.')
                for form, wanted in (("text", plain), ("json_object", '{"a": [1, 2]}')):
                    status, answer = server.call("POST", "/v1/chat/completions", dict(body, response_format=dict(type=form)))
                    self.assertEqual((status, answer["choices"][0]["finish_reason"]), (200, "stop"))
                    self.assertEqual(answer["choices"][0]["message"]["content"], wanted)

    def check_stream(self, server: Server, content: str) -> None:
        events = server.events("/v1/chat/completions", dict(messages=[dict(role="user", content="Weather?")], tools=[WEATHER],
                                                            temperature=0, max_tokens=40))
        deltas = [event["choices"][0]["delta"] for event in events]
        calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
        self.assertEqual([call["index"] for call in calls], [0, 1])
        self.check_calls(calls, ["Paris", "Rome"])
        self.assertEqual("".join(delta.get("content", "") for delta in deltas), content or "")
        self.assertEqual(events[-1]["choices"][0]["finish_reason"], "tool_calls")

    def check_conversation(self, server: Server) -> None:
        """What a client sends back: the calls and what they gave."""
        calls = self.ask(server)["message"]["tool_calls"]
        messages = [dict(role="user", content="Weather?"), dict(role="assistant", content=None, tool_calls=calls),
                    dict(role="tool", tool_call_id=calls[0]["id"], content="sunny"), dict(role="tool", tool_call_id=calls[1]["id"], content="rain")]
        status, answer = server.call("POST", "/v1/chat/completions", dict(messages=messages, tools=[WEATHER], temperature=0, max_tokens=3))
        self.assertEqual(status, 200, answer)
        broken = [dict(role="assistant", tool_calls=[dict(function=dict(name="weather", arguments="{"))])]
        self.assertEqual(server.call("POST", "/v1/chat/completions", dict(messages=broken))[0], 400)

    def test_templates_get_arguments_as_objects(self):
        template = ("{% if tools %}<tool_call>{% endif %}{% for m in messages %}{% for c in m.tool_calls or [] %}"
                    "{% if c.function.arguments.city == 'Paris' %}<q>{% endif %}{% endfor %}{% endfor %}")
        with tempfile.TemporaryDirectory() as folder:
            write_speaker(folder, template, ["yes"])
            call = dict(id="123456789", type="function", function=dict(name="weather", arguments='{"city": "Paris"}'))
            with Server(folder=folder) as server:
                status, answer = server.call("POST", "/v1/chat/completions", dict(
                    messages=[dict(role="assistant", content="", tool_calls=[call])], temperature=0, max_tokens=4))
                self.assertEqual((status, answer["choices"][0]["message"]["content"]), (200, "yes"))


class Limits(unittest.TestCase):
    def test_a_full_queue_refuses(self):
        with Server("--sequences", "2", "--queue", "1", "--body-limit", "1000") as server:
            open_ones = [server.connect() for _ in range(3)]
            for connection in open_ones:
                connection.request("POST", "/v1/completions", json.dumps(LONG))
            while (health := server.health())["running"] < 2 or health["waiting"] < 1: # until the engine has all three
                time.sleep(0.02)
            self.assertEqual((health["running"], health["waiting"]), (2, 1))
            connection = server.connect()
            connection.request("POST", "/v1/completions", json.dumps(dict(prompt="a")))
            response = connection.getresponse()
            error = json.loads(response.read())["error"]
            self.assertEqual((response.status, error["code"], error["type"]), (429, "queue_full", "rate_limit_error"))
            self.assertEqual(response.getheader("Retry-After"), "1")
            for open_one in open_ones:
                open_one.close()
            self.assertTrue(server.settles())
            self.assertEqual(len(server.complete("a", n=3)["choices"]), 3)
            status, answer = server.call("POST", "/v1/completions", dict(prompt="a" * 1000))
            self.assertEqual((status, answer["error"]["message"]), (413, "the request is too long"))

    def test_a_small_pool_serves_all(self):
        with Server("--positions", "160") as server:
            wanted = [(prompt, options, server.text(prompt, **options)) for prompt, options in cases(24)]

            def ask(index: int) -> None:
                prompt, options, text = wanted[index]
                assert server.text(prompt, **options) == text

            self.assertEqual(in_threads(24, ask), [])
            self.assertEqual(server.complete("a", max_tokens=1000, ignore_eos=True)["usage"]["total_tokens"], 160)

    def test_it_ends_when_told_to(self):
        with Server() as server:
            events = []
            running = threading.Thread(target=lambda: events.extend(server.events("/v1/completions", dict(LONG, max_tokens=3000))))
            running.start()
            while server.health()["running"] == 0:
                time.sleep(0.01)
            server.process.send_signal(signal.SIGTERM)
            while server.health()["status"] != "ending":
                time.sleep(0.01)
            status, answer = server.call("POST", "/v1/completions", dict(prompt="a"))
            self.assertEqual((status, answer["error"]["type"]), (503, "server_error"))
            running.join()
            self.assertEqual(events[-1]["choices"][0]["finish_reason"], "length")
            self.assertEqual(server.process.wait(20), 0)

    def test_it_does_not_wait_for_ever(self):
        for options, signals in ((("--grace", "0"), 1), ((), 2)):
            with Server(*options) as server, contextlib.closing(server.connect()) as connection:
                connection.request("POST", "/v1/completions", json.dumps(dict(LONG, stream=True)))
                connection.getresponse().read(100)
                for _ in range(signals):
                    server.process.send_signal(signal.SIGINT)
                    time.sleep(0.2)
                self.assertEqual(server.process.wait(8), 0)

    def test_what_it_cannot_do_is_told(self):
        for arguments, said in ((["--port"], "needs a value"), (["--port", "99999"], "from 0 to 65535"), (["--fast", "1"], "is no option"),
                                (["--weights", "int3"], "choose one of"), (["--host", "256.1.1.1"], "cannot listen")):
            run = subprocess.run([PROGRAMS["serve"], FOLDER, *arguments], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            self.assertIn(said, run.stderr)


class Load(unittest.TestCase):
    requests = 0

    def test_memory_stays_while_requests_come_and_go(self):
        threads = 24
        with Server("--queue", "64") as server:
            wanted = [(prompt, options, server.text(prompt, **options)) for prompt, options in cases(100)]

            def ask(index: int) -> None:
                pick = random.Random(index)
                connection = server.connect()
                for _ in range(rounds):
                    prompt, options, text = pick.choice(wanted)
                    if pick.random() < 0.1:  # goes away
                        gone = server.connect()
                        gone.request("POST", "/v1/completions", json.dumps(dict(LONG, stream=pick.random() < 0.5)))
                        time.sleep(pick.random() * 0.05)
                        gone.close()
                    elif pick.random() < 0.3:
                        events = server.events("/v1/completions", dict(prompt=prompt, **options))
                        assert "".join(e["choices"][0]["text"] for e in events) == text, prompt
                    else:
                        assert server.text(prompt, connection, **options) == text, prompt
                connection.close()

            sizes = []
            for part in (0.2, 0.4, 0.4):
                rounds = int(self.requests * part / threads) + 1
                self.assertEqual(in_threads(threads, ask), [])
                self.assertTrue(server.settles(), server.health())
                sizes.append(server.resident())
            print(f"resident after a fifth, three fifths and all requests: {[size >> 10 for size in sizes]} KB")
            self.assertLess(sizes[2], sizes[0] * 1.03 + (2 << 20))


if __name__ == "__main__":
    PROGRAMS["serve"], PROGRAMS["chat"], *options = sys.argv[1:]
    Load.requests = int(options[1]) if options else 0
    write_model()
    cases_to_run = [Load] if options else [Answers, Tools, Limits]
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in cases_to_run)
    good = unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful()
    shutil.rmtree(FOLDER)
    sys.exit(not good)
