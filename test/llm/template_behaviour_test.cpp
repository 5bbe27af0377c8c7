// Chat templates: loading, errors and bounds.
#include <torch/llm.h>

#include <c10/util/Exception.h>

#include <catch2/catch.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace {

using torch::llm::ChatTemplate;

std::string render(const std::string& source, const std::string& variables = "{}") {
  return ChatTemplate(source).render(variables);
}

/// A folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "chat_template.XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::filesystem::remove_all(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
  }
  const std::string& path() const {
    return path_;
  }

 private:
  std::string path_;
};

} // namespace

TEST_CASE("a folder gives its template and the texts of special tokens", "[llm][template]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(ChatTemplate::load(folder.path()), Catch::Contains("has no chat template"));
  folder.write(
      "tokenizer_config.json",
      R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>", "pad_token": null, "chat_template":
          [{"name": "tool_use", "template": "tools"}, {"name": "default", "template":
          "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}"}]})");
  const std::string text = "<s>user: Grüezi \"you\"</s>assistant: hi</s>";
  CHECK(ChatTemplate::load(folder.path()).apply({{"user", "Grüezi \"you\""}, {"assistant", "hi"}}) == text);
  folder.write("chat_template.jinja", "{% if add_generation_prompt %}{{ eos_token }}{% endif %}.\n");
  CHECK(ChatTemplate::load(folder.path()).apply({{"user", ""}}) == "</s>.");
  CHECK(ChatTemplate::load(folder.path()).apply({{"user", ""}}, false) == ".");
}

TEST_CASE("a template that refuses throws its message", "[llm][template]") {
  const ChatTemplate chat("{{ raise_exception('roles must alternate') }}");
  CHECK_THROWS_AS(chat.apply({}), c10::ValueError);
  CHECK_THROWS_WITH(chat.apply({}), Catch::Contains("chat template: roles must alternate"));
}

TEST_CASE("syntax errors tell the line", "[llm][template]") {
  const auto [source, words] = GENERATE(table<std::string, std::string>({
      {"a\n{% if x %}", "line 2: unexpected end of template, expected 'endif'"},
      {"\n\n{{ 1 + }}", "line 3: unexpected"},
      {"{{ 'a }}", "a string does not end"},
      {"{% block x %}", "unknown tag 'block'"},
      {"{% for x in y recursive %}", "recursive loops are not supported"},
      {"{{ (1 }}", "unexpected '}'"},
      {"{{ 1 ) }}", "unexpected ')'"},
      {"{# never", "Missing end of comment tag"},
      {"{% break %}", "outside of a loop"},
      {"{{ 99999999999999999999 }}", "out of range"},
      {"{{ a $ b }}", "unexpected character '$'"},
  }));
  CHECK_THROWS_AS(ChatTemplate(source), c10::SyntaxError);
  CHECK_THROWS_WITH(ChatTemplate(source), Catch::Contains(words));
}

TEST_CASE("errors while rendering tell the line and what came", "[llm][template]") {
  const auto [source, words] = GENERATE(table<std::string, std::string>({
      {"\n{{ x.y }}", "'x' is undefined (in line 2"},
      {"{{ 'a' + 1 }}", "unsupported operand type(s) for +: 'str' and 'int'; use ~"},
      {"{{ none() }}", "'NoneType' object is not callable"},
      {"{{ 1|fancy }}", "No filter named 'fancy'"},
      {"{{ 1 is fancy }}", "No test named 'fancy'"},
      {"{{ 1 // 0 }}", "by zero"},
      {"{% for a, b in [[1]] %}{% endfor %}", "cannot unpack 1 values to 2 names"},
      {"{{ 9223372036854775807 + 1 }}", "does not fit into 64 bits"},
      {"{{ [1].append(2) }}", "'append' is undefined"},
      {"{{ {}|tojson(indent=1000) }}", "more than 40"},
  }));
  CHECK_THROWS_WITH(render(source), Catch::Contains(words));
}

TEST_CASE("a rendering is bounded in steps, text, nesting and calls", "[llm][template]") {
  const auto [source, words] = GENERATE(table<std::string, std::string>({
      {"{% for a in range(1000000) %}{% for b in range(1000000) %}{% endfor %}{% endfor %}", "steps"},
      {"{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}", "bytes of text"},
      {"{{ 'a' * 100000000 }}", "is repeated"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "macros call each other deeper"},
      {"{% set n = namespace(l=[]) %}{% for i in range(900) %}{% set n.l = [n.l] %}{% endfor %}", "nested deeper"},
      {"{% set n = namespace() %}{% set n.x = n %}", "a namespace cannot be an item"},
      {"{{ range(10000000) }}", "Range too big"},
  }));
  CHECK_THROWS_WITH(render(source), Catch::Contains(words));
  CHECK_THROWS_WITH(
      render("{{ " + std::string(500, '(') + "1" + std::string(500, ')') + " }}"), Catch::Contains("nested deeper"));
  CHECK_THROWS_WITH(render("{{ " + std::string(500, '-') + "1 }}"), Catch::Contains("nested deeper"));
  std::string sum = "{{ 1", blocks;
  for (int i = 0; i < 500; ++i) {
    sum += " + 1";
    blocks += "{% if true %}";
  }
  CHECK_THROWS_WITH(render(sum + " }}"), Catch::Contains("nested deeper"));
  CHECK_THROWS_WITH(render(blocks), Catch::Contains("blocks are nested deeper"));
  CHECK_THROWS_WITH(render("", "[]"), Catch::Contains("must be an object"));
}
