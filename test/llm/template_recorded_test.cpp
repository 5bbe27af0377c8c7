// Chat templates as jinja2 renders them with transformers' settings: tools/peer/templates/compare --record wrote the
// cases.
#include <torch/llm.h>

#include <csrc/program/json.h>

#include <catch2/catch.hpp>

#include <fstream>
#include <optional>
#include <sstream>

namespace {

using torch::llm::ChatTemplate;
using torch::program::Json;

constexpr std::time_t kRecordedNow = 1767323045;

Json recorded_templates() {
  std::ostringstream text;
  text << std::ifstream(std::string(TEST_LLM_DATA) + "/templates.json").rdbuf();
  return Json::parse(text.str(), "templates.json");
}

/// The text, or nothing where the template refuses.
std::optional<std::string> rendered(const std::string& source, const Json& variables) {
  try {
    ChatTemplate chat(source);
    chat.set_clock([] { return kRecordedNow; });
    return chat.render(variables.to_string());
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

} // namespace

TEST_CASE("templates give the recorded texts and refuse what jinja2 refuses", "[llm][template]") {
  const Json recorded = recorded_templates();
  for (const Json& one : recorded.at("cases").items()) {
    const Json* const style = one.find("style");
    const std::string source = style
        ? recorded.at("styles").items().at(static_cast<size_t>(style->as_int())).as_string()
        : one.at("template").as_string();
    const Json& variables = style
        ? recorded.at("conversations").items().at(static_cast<size_t>(one.at("values").as_int()))
        : recorded.at("values");
    const Json* const text = one.find("text");
    INFO(source);
    CHECK(rendered(source, variables) == (text ? std::optional(text->as_string()) : std::nullopt));
  }
}
