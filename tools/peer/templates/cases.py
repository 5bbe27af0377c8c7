"""Chat templates in the styles of the field, and small random ones, with the values that they are rendered with."""

import copy
import json
import random

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = 1767323045  # strftime_now of recorded cases, in UTC


class Generation(jinja2.ext.Extension):
    """{% generation %}, which transformers uses to mark answers."""
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return jinja2.nodes.Scope(parser.parse_statements(["name:endgeneration"], drop_needle=True))


def environment() -> ImmutableSandboxedEnvironment:
    """As transformers makes it."""
    import time

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda f: time.strftime(f, time.gmtime(NOW))
    return env


LLAMA3 = """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none and tools is defined %}
    {{- "Environment: ipython\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {{- '{"name": "' + tool_call.name + '", "parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}<|eot_id|>" }}
    {%- else %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable and message.content is not string %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

QWEN = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {{- "# Tools\\n\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}
                {{- '<|im_start|>' + message.role + '\\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' }}
                {{- tool_call.name }}
                {{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""

MISTRAL = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, conversation roles must alternate user/assistant") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is defined and tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}
                        {{- ", " }}
                    {%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}
                {{- raise_exception("Tool call IDs should be alphanumeric strings with length 9!") }}
            {%- endif %}
            {{- ', "id": "' + tool_call.id + '"}' }}
            {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool_results" or message["role"] == "tool" %}
        {%- if message.content is defined and message.content.content is defined %}
            {%- set content = message.content.content %}
        {%- else %}
            {%- set content = message.content %}
        {%- endif %}
        {{- '[TOOL_RESULTS] {"content": ' + content|string + "}[/TOOL_RESULTS]" }}
    {%- else %}
        {{- raise_exception("Only user and assistant roles are supported, with the exception of an initial optional system message!") }}
    {%- endif %}
{%- endfor %}
"""

GEMMA = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '\\n\\n' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '\\n\\n' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("Conversation roles must alternate user/assistant/user/assistant/...") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '\\n' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<start_of_image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model\\n'}}
{%- endif -%}
"""

PHI = """{% for message in messages %}
{% if message['role'] == 'system' and 'tools' in message and message['tools'] is not none %}
{{ '<|' + message['role'] + '|>' + message['content'] + '<|tool|>' + message['tools'] + '<|/tool|>' + '<|end|>' }}
{% else %}
{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}
{% endif %}
{% endfor %}
{% if add_generation_prompt %}
{{ '<|assistant|>' }}
{% else %}
{{ eos_token }}
{% endif %}
"""

CHATML = ("{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}"
          "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
          "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")

MACROS = """{%- macro text_of(content, sep='|') -%}
  {%- if content is string -%}{{ content }}
  {%- else -%}{%- for part in content -%}{{ part.text | default('?', true) }}{{ sep if not loop.last }}{%- endfor -%}{%- endif -%}
{%- endmacro -%}
{%- macro type_of(schema, depth=0) -%}
  {%- if schema.type == 'array' -%}{{ type_of(schema['items'], depth + 1) }}[]
  {%- elif schema.type == 'object' and schema.properties -%}
  { {%- for name, inner in schema.properties | dictsort -%}{{ name }}{{ '' if name in schema.get('required', []) else '?' }}: {{ type_of(inner, depth=depth + 1) }}{{ ', ' if not loop.last }}{%- endfor -%} }
  {%- else -%}{{ schema.type or 'any' }}{%- endif -%}
{%- endmacro -%}
{# tools first #}
{%- for tool in tools or [] %}
// {{ tool.function.description | default('no description') | replace('\n', ' ') }}
type {{ tool.function.name }} = (_: {{ type_of(tool.function.parameters or {}) }}) => any;
{% endfor -%}
{%- for message in messages %}
{%- if loop.previtem is defined and loop.previtem.role == message.role %}{% continue %}{% endif %}
<|{{ message.role | upper }}|>{% generation %}{{ text_of(message.content) | trim }}{% endgeneration %}{{ loop.cycle(';', ',') }}
{%- if loop.index > 6 %}{% break %}{% endif %}
{%- endfor %}"""

TEMPLATES = {"llama3": LLAMA3, "qwen": QWEN, "mistral": MISTRAL, "gemma": GEMMA, "phi": PHI, "chatml": CHATML, "macros": MACROS}

TOOL = {"type": "function", "function": {"name": "weather", "description": "The weather\nof a \"city\" — é", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "array", "items": {"type": "integer"}},
                                     "at": {"type": "object", "properties": {"hour": {"type": "number"}}}},
    "required": ["city"]}}}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "abc123def", "type": "function", "function": {
    "name": "weather", "arguments": {"city": "Zürich", "days": [1, 2], "x": 1.5, "ok": True, "none": None}}}]}
TEXTS = ["Hello!", "  Größe <b> & 'quotes' \"double\"  ", "<think>\nhmm\n</think>\n\nSo: 42.", "多行\n文本\r\n🙂", "", "{{ not }} {% a %}"]


def conversations() -> list:
    def message(role, text):
        return {"role": role, "content": text}
    talks = [[message("user", t)] for t in TEXTS]
    talks += [[message("system", "Be brief. "), message("user", TEXTS[1]), message("assistant", TEXTS[2]), message("user", TEXTS[3])],
              [message("user", "Weather?"), CALL, message("tool", '{"t": 21}'), message("tool", "[1]"),
               message("assistant", "It is 21."), message("user", "Thanks")],
              [message("user", [{"type": "text", "text": " a "}, {"type": "image"}, {"type": "text", "text": "b"}])],
              [message("assistant", "I begin"), message("assistant", "again")], [message("robot", "?")]]
    return talks


def variables() -> list:
    out = []
    for i, talk in enumerate(conversations()):
        more = [{}, {"tools": [TOOL]}, {"tools": None, "enable_thinking": False}][i % 3]
        out.append({"messages": talk, "add_generation_prompt": i % 2 == 0, "bos_token": "<s>", "eos_token": "</s>", **more})
    return out


VALUES = {"n": 7, "m": -3, "f": 2.5, "big": 1e20, "s": "Hello, World", "u": "größe ÉTÉ ǆ", "e": "", "t": True, "z": None,
          "l": [3, 1, 2], "w": ["b", "A", "c", "a"], "d": {"k": 1, "items": 2, "b": [1, {"x": "y"}]}, "o": [
              {"name": "x", "v": 1, "r": {"q": 5}}, {"name": "Y", "v": None, "r": {"q": 4}}, {"v": 3, "r": {}}], "p": "a\n\nb\n c"}


NO_VALUE, ONE = "'v', 'none'", "'v', 'eq', 1"


class Random:
    """Random small templates, most of them valid."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)

    def pick(self, *options):
        return self.rng.choice(options)

    def atom(self) -> str:
        return self.pick("n", "m", "f", "s", "u", "e", "t", "z", "l", "w", "d", "o", "p", "missing", "1", "-2", "0.5", "'a'", "\"b c\"",
                         "true", "none", "[1, 'x', 2.0]", "{'a': 1, 'b': n}", "(1, 2)", "[]", "{}", "big", "1e-7|float", "'\\n\\t\\u00e9'")

    def expression(self, depth: int) -> str:
        if depth == 0:
            return self.atom()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        return self.pick(
            lambda: f"{a} {self.pick('+', '-', '*', '/', '//', '%', '~', '==', '!=', '<', '>=', 'and', 'or', 'in', 'not in')} {b}",
            lambda: f"({a})", lambda: f"not {a}", lambda: f"-{a}", lambda: f"{a} if {b} else {self.atom()}", lambda: f"{a} if {b}",
            lambda: f"({a})|{self.filter()}", lambda: f"({a})|{self.filter()}|{self.filter()}", lambda: f"({a}) is {self.test()}",
            lambda: f"({a}){self.subscript()}", lambda: f"{self.pick('s', 'u', 'p', 'e')}.{self.text_method()}",
            lambda: f"[{a}, {b}]", lambda: f"{{'q': {a}}}", lambda: f"({a} ~ {b})", lambda: f"{self.atom()}|tojson",
            lambda: f"o|map(attribute='{self.pick('name', 'r.q', 'v')}')|list", lambda: f"o|selectattr('{self.pick('name', 'v')}')|list|length",
            lambda: f"o|rejectattr({self.pick(NO_VALUE, ONE)})|list")()

    def filter(self) -> str:
        return self.pick("trim", "upper", "lower", "title", "capitalize", "length", "first", "last", "list", "string", "int", "float", "abs",
                         "tojson", "tojson(indent=2)", "join", "join(', ')", "default('D')", "default('D', true)", "d(1)", "reverse|list",
                         "sort", "sort(reverse=true)", "unique|list", "items|list", "indent", "indent(2, true)", "replace('l', 'L')",
                         "replace('o', '0', 1)", "max", "min", "sum", "round", "round(1)", "escape", "map('upper')|list", "select|list",
                         "select('odd')|list", "reject('string')|list", "map('string')|join('-')", "dictsort", "format(1)", "count")

    def test(self) -> str:
        return self.pick("defined", "undefined", "none", "string", "number", "integer", "float", "mapping", "iterable", "sequence", "boolean",
                         "true", "false", "odd", "even", "divisibleby 2", "divisibleby(3)", "in [1, 2]", "eq 7", "not none", "not defined",
                         "equalto('a')", "gt 1", "lower", "upper", "callable", "sameas none")

    def subscript(self) -> str:
        return self.pick("[0]", "[-1]", "[1:]", "[:-1]", "[::-1]", "[::2]", "[5:1:-2]", "['k']", ".k", ".b", ".items()", ".get('k')",
                         ".get('zz', 9)", ".keys()|list", ".values()|list", "[9]", ".missing", "['items']", ".b[1].x", ".index(1)", ".count('a')")

    def text_method(self) -> str:
        return self.pick("split()", "split(',')", "split('l', 1)", "rsplit('o', 1)", "strip()", "strip('Hd')", "lstrip('H')", "rstrip('d')",
                         "startswith('He')", "endswith(('d', 'x'))", "upper()", "lower()", "title()", "capitalize()", "replace('l', '')",
                         "replace('', '-')", "find('o')", "rfind('o')", "count('l')", "isdigit()", "isalpha()", "islower()", "splitlines()",
                         "join(['x', 'y'])", "removeprefix('He')", "format(1)", "isspace()", "isupper()", "swap()")

    def tag(self, body: str) -> str:
        return "{%" + self.pick("", "", "-", "+") + " " + body + " " + self.pick("", "", "-", "+") + "%}"

    def text(self) -> str:
        return self.pick("", "", " ", "\n", "  \n", "x", "a b\n", "\n\n  ", "\t", "{# c #}", "{#- c -#}\n", "{", "}", "%", "\r\n")

    def block(self, depth: int) -> str:
        out = self.text()
        for _ in range(self.rng.randrange(1, 4)):
            out += (self.print() if depth == 0 or self.rng.random() < 0.4 else self.statement(depth - 1)) + self.text()
        return out

    def print(self) -> str:
        return "{{" + self.pick("", "", "-") + " " + self.expression(self.rng.randrange(0, 3)) + " " + self.pick("", "", "-") + "}}"

    def statement(self, depth: int) -> str:
        body, other, value = self.block(depth), self.block(depth), self.expression(1)
        return self.pick(
            lambda: self.tag(f"if {value}") + body + self.tag("endif"),
            lambda: self.tag(f"if {value}") + body + self.tag("else") + other + self.tag("endif"),
            lambda: self.tag(f"if {value}") + body + self.tag(f"elif {self.expression(1)}") + other + self.tag("endif"),
            lambda: self.tag(f"for x in {self.pick('l', 'w', 'o', 'd', 's', 'e', 'range(3)', value)}") + body +
            "{{ loop.index }}{{ x }}{{ loop.last }}" + self.tag("endfor"),
            lambda: self.tag("for k, v in d.items()") + "{{ k }}={{ v }}" + self.tag("else") + other + self.tag("endfor"),
            lambda: self.tag(f"for x in l if x {self.pick('> 1', 'is odd', 'in w')}") + "{{ loop.revindex0 }}{{ x }}" + body + self.tag("endfor"),
            lambda: self.tag(f"set {self.pick('n', 'q', 's')} = {value}") + body,
            lambda: self.tag("set q") + body + self.tag("endset") + "[{{ q }}]",
            lambda: self.tag("set ns = namespace(c=0, t='')") + self.tag("for x in w") + self.tag("set ns.c = ns.c + 1") + self.tag("endfor") + "{{ ns.c }}",
            lambda: self.tag("macro g(a, b=2)") + "<{{ a }}:{{ b }}" + body + ">" + self.tag("endmacro") + "{{ g(1) }}{{ g(b=n, a='z') }}{{ g() }}",
            lambda: self.tag("for x in range(5)") + self.tag(f"if x == {self.rng.randrange(5)}") + self.tag(self.pick("break", "continue")) +
            self.tag("endif") + "{{ x }}" + self.tag("endfor"),
            lambda: self.tag("generation") + body + self.tag("endgeneration"), lambda: "{% raw -%} {{ x }} {%- endraw %}")()


def random_template(seed: int) -> str:
    return Random(seed).block(2)


def render(template: str, values: dict):
    """The text, or None where jinja2 raises."""
    try:
        return environment().from_string(template).render(**copy.deepcopy(values))  # indent changes lists
    except Exception:
        return None
