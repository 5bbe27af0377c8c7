#include "tools.h"

#include <algorithm>
#include <utility>

namespace llm = torch::llm;

namespace {

constexpr size_t kMaxTools = 128;

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string name_of(const Json& tool, const char* member) {
  const Json* const function = tool.is_object() ? tool.find("function") : nullptr;
  const Json* const name = function && function->is_object() ? function->find("name") : nullptr;
  if (!name || !name->is_string() || !is_name(name->as_string())) {
    throw bad_value(
        member,
        "must have {\"type\": \"function\", \"function\": {\"name\": ..., ...}}, with names of at most 64 letters, "
        "digits, _ and -");
  }
  return name->as_string();
}

// Those that 'tool_choice' forces a call of.
std::vector<std::string> forced_of(const Json& choice, const std::vector<std::string>& names) {
  if (choice.is_string()) {
    const std::string& kind = choice.as_string();
    if (kind != "auto" && kind != "none" && kind != "required") {
      throw bad_value("tool_choice", "must be \"auto\", \"none\", \"required\" or name a function");
    }
    if (kind == "required" && names.empty()) {
      throw bad_value("tool_choice", "is \"required\": then 'tools' must have a function at least");
    }
    return kind == "required" ? names : std::vector<std::string>();
  }
  std::string name = name_of(choice, "tool_choice");
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw bad_value("tool_choice", "asks for '" + name + "', which is not among the tools");
  }
  return {std::move(name)};
}

} // namespace

ToolRequest read_tools(const Json* tools, const Json* choice) {
  if (tools && (!tools->is_array() || tools->items().size() > kMaxTools)) {
    throw bad_value("tools", "must be an array of at most " + std::to_string(kMaxTools) + " functions");
  }
  std::vector<std::string> names;
  for (const Json& tool : tools ? tools->items() : Json::Array()) {
    names.push_back(name_of(tool, "tools"));
  }
  ToolRequest request;
  request.forced = choice ? forced_of(*choice, names) : std::vector<std::string>();
  const bool none = choice && choice->is_string() && choice->as_string() == "none";
  request.tools = none || names.empty() ? Json() : *tools;
  return request;
}

Json read_calls(const Json& calls) {
  Json::Array read;
  for (const Json& call : calls.is_array() ? calls.items() : Json::Array{calls}) {
    const Json* const function = call.is_object() ? call.find("function") : nullptr;
    const Json* const arguments = function && function->is_object() ? function->find("arguments") : nullptr;
    if (!arguments) {
      throw bad_value("messages", "must have a 'function' with 'name' and 'arguments' in each of 'tool_calls'");
    }
    Json::Object inner, outer;
    for (const auto& [name, value] : function->members()) {
      const bool is_text = name == "arguments" && value.is_string();
      inner.emplace_back(name, is_text ? Json::parse(value.as_string(), "the arguments of a call") : value);
    }
    for (const auto& [name, value] : call.members()) {
      outer.emplace_back(name, name == "function" ? Json(inner) : value);
    }
    read.emplace_back(std::move(outer));
  }
  return Json(std::move(read));
}

std::string with_tools(
    const llm::ChatTemplate& chat, Json::Object variables, const Json& tools, const std::string& plain) {
  variables.emplace_back("tools", tools);
  std::string prompt = chat.render(Json(std::move(variables)).to_string());
  if (prompt == plain || chat.tool_format() == llm::ToolFormat::None) {
    throw ApiError(
        400, "unsupported_parameter", "'tools' are not supported: the chat template of this model has none", "tools");
  }
  return prompt;
}
