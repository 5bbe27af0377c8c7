// Calls of functions in answers, as the templates of the families have models write them.
#include <catch2/catch.hpp>

#include <csrc/llm/template/chat_template.h>
#include <csrc/llm/template/tool_calls.h>

#include <string>
#include <utility>
#include <vector>

using namespace torch::llm;

namespace {

struct Read {
  std::string text;
  std::vector<std::pair<std::string, std::string>> calls; // name and arguments
};

// The answer in pieces of so many bytes.
Read read(ToolFormat format, const std::string& answer, size_t piece) {
  ToolCallReader reader(format);
  Read read;
  for (size_t i = 0; i < answer.size(); i += piece) {
    read.text += reader.push(answer.substr(i, piece));
  }
  read.text += reader.finish();
  for (const ToolCall& call : reader.calls()) {
    read.calls.emplace_back(call.name, call.arguments);
  }
  return read;
}

struct Row {
  ToolFormat format;
  std::string answer, text;
  std::vector<std::pair<std::string, std::string>> calls;
};

const std::vector<Row>& rows() {
  static const std::pair<std::string, std::string> paris{"weather", R"({"city": "Paris"})"}, now{"now", "{}"};
  static const std::vector<Row> all{
      {ToolFormat::None, "<tool_call>{}</tool_call>", "<tool_call>{}</tool_call>", {}},
      {ToolFormat::Tagged, "no call at all \n", "no call at all \n", {}},
      {ToolFormat::Tagged,
       "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>",
       "",
       {paris}},
      {ToolFormat::Tagged,
       "Let me see.\n\n<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>\n"
       "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>\n",
       "Let me see.",
       {paris, now}},
      {ToolFormat::Tagged, "a<tool_call>{\"name\": 1}</tool_call> b", "a<tool_call>{\"name\": 1}</tool_call> b", {}},
      {ToolFormat::Tagged, "a <tool_call>{\"name\": \"now\"}", "a", {now}}, // the end of the answer closes it
      {ToolFormat::Tagged, "a < b <tool_cal", "a < b <tool_cal", {}},
      {ToolFormat::Tagged, "<tool_call>{\"name\": \"no", "<tool_call>{\"name\": \"no", {}},
      {ToolFormat::Json, "{\"name\": \"weather\", \"parameters\": {\"city\": \"Paris\"}}", "", {paris}},
      {ToolFormat::Json,
       "<|python_tag|>{\"name\": \"weather\", \"parameters\": {\"city\": \"Paris\"}}; {\"name\": \"now\"}",
       "",
       {paris, now}},
      {ToolFormat::Json, " {\"answer\": 42}", " {\"answer\": 42}", {}},
      {ToolFormat::Json, "It is {\"name\": \"now\"}", "It is {\"name\": \"now\"}", {}},
      {ToolFormat::Json, "{\"name\": \"now\"} is what I call", "{\"name\": \"now\"} is what I call", {}},
      {ToolFormat::Mistral,
       "[TOOL_CALLS] [{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\"}}, {\"name\": \"now\", "
       "\"arguments\": "
       "{}, \"id\": \"123456789\"}]",
       "",
       {paris, now}},
      {ToolFormat::Mistral,
       "Well: [TOOL_CALLS]weather[CALL_ID]123456789[ARGS]{\"city\": \"Paris\"}[TOOL_CALLS]now[ARGS]{}",
       "Well: ",
       {paris, now}},
      {ToolFormat::Mistral, "[TOOL", "[TOOL", {}},
      {ToolFormat::Mistral, "[TOOL_CALLS][1]", "[TOOL_CALLS][1]", {}},
      {ToolFormat::Mistral, "[TOOL_CALLS]now[ARGS]{\"a\"", "[TOOL_CALLS]now[ARGS]{\"a\"", {}},
  };
  return all;
}

} // namespace

TEST_CASE("calls are taken out of answers, however they come in pieces", "[llm][tools]") {
  const size_t piece = GENERATE(1, 2, 7, 1000);
  for (const Row& row : rows()) {
    INFO(row.answer << " in pieces of " << piece);
    const Read got = read(row.format, row.answer, piece);
    CHECK(got.text == row.text);
    CHECK(got.calls == row.calls);
  }
}

TEST_CASE("arguments keep strings with braces and quotes", "[llm][tools]") {
  const std::string answer = R"(<|python_tag|>{"name": "run", "parameters": {"code": "f(\"}\") ; {"}})";
  const Read got = read(ToolFormat::Json, answer, 3);
  REQUIRE(got.calls.size() == 1);
  CHECK(got.calls[0].second == R"({"code": "f(\"}\") ; {"})");
}

TEST_CASE("text is given as soon as it cannot begin a call", "[llm][tools]") {
  ToolCallReader tagged(ToolFormat::Tagged), json(ToolFormat::Json);
  CHECK(tagged.push("Hello ") == "Hello"); // white space may stand in front of a call
  CHECK(tagged.push("you <") == " you");
  CHECK(tagged.push("3 ") == " <3");
  CHECK(json.push("<|py") == "");
  CHECK(json.push("<") == "<|py<");
  CHECK(json.push("{") == "{");
}

TEST_CASE("the format of calls is read from the template", "[llm][tools]") {
  const auto format_of = [](const std::string& source) { return ChatTemplate(source).tool_format(); };
  CHECK(format_of("{{ messages }}") == ToolFormat::None);
  CHECK(format_of("{% if tools %}<tool_call>{\"name\": ...}</tool_call>{% endif %}") == ToolFormat::Tagged);
  CHECK(format_of("{% if tools %}<tool_call><function=...>{% endif %}") == ToolFormat::None);
  CHECK(format_of("{% if tools %}[TOOL_CALLS]{% endif %}") == ToolFormat::Mistral);
  CHECK(
      format_of("{% if tools %}Environment: ipython, {\"name\": ..., \"parameters\": ...}{% endif %}") ==
      ToolFormat::Json);
}
