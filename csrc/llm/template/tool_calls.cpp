#include <csrc/llm/template/tool_calls.h>

#include <csrc/program/json.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace torch::llm {

namespace {

using program::Json;
using std::string_view;

constexpr string_view kOpen = "<tool_call>", kClose = "</tool_call>";
constexpr string_view kPythonTag = "<|python_tag|>";
constexpr string_view kMistralCalls = "[TOOL_CALLS]", kMistralId = "[CALL_ID]", kMistralArguments = "[ARGS]";
constexpr string_view kSpace = " \t\r\n";

bool contains(string_view text, string_view part) {
  return text.find(part) != string_view::npos;
}

string_view trimmed(string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  return begin == string_view::npos ? string_view() : text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

/// How much of the end of `text` may become `marker`.
size_t begun(string_view text, string_view marker) {
  for (size_t size = std::min(text.size(), marker.size() - 1); size > 0; --size) {
    if (text.ends_with(marker.substr(0, size))) {
      return size;
    }
  }
  return 0;
}

/// Behind the object or array that `text` begins with; npos when it does not end.
size_t end_of_json(string_view text) {
  int64_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth <= 0) {
      return i + 1;
    }
  }
  return string_view::npos;
}

std::optional<Json> parsed(string_view text) {
  try {
    return Json::parse(text, "a call of a function");
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

std::optional<ToolCall> call_of(const Json& json) {
  if (!json.is_object()) {
    return std::nullopt;
  }
  if (const Json* const function = json.find("function"); function && function->is_object()) {
    return call_of(*function);
  }
  const Json* const name = json.find("name");
  const Json* arguments = json.find("arguments");
  arguments = arguments ? arguments : json.find("parameters");
  if (!name || !name->is_string() || (arguments && !arguments->is_object())) {
    return std::nullopt;
  }
  return ToolCall{name->as_string(), arguments ? arguments->to_string() : "{}"};
}

/// All elements, or nothing when one is no call.
std::optional<std::vector<ToolCall>> calls_of(const Json::Array& items) {
  std::vector<ToolCall> calls;
  for (const Json& item : items) {
    std::optional<ToolCall> call = call_of(item);
    if (!call) {
      return std::nullopt;
    }
    calls.push_back(std::move(*call));
  }
  return calls;
}

using Calls = std::optional<std::vector<ToolCall>>;

/// {...}; {...}
Calls read_objects(string_view text) {
  Json::Array items;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const size_t end = text[0] == '{' ? end_of_json(text) : string_view::npos;
    std::optional<Json> json = end == string_view::npos ? std::nullopt : parsed(text.substr(0, end));
    if (!json) {
      return std::nullopt;
    }
    items.push_back(std::move(*json));
    text = trimmed(text.substr(end));
    text.remove_prefix(text.starts_with(';') ? 1 : 0);
  }
  return items.empty() ? std::nullopt : calls_of(items);
}

/// name[ARGS]{...}, with [CALL_ID]... perhaps behind the name
std::optional<ToolCall> read_named(string_view text, size_t& end) {
  const size_t place = text.find(kMistralArguments);
  if (place == string_view::npos) {
    return std::nullopt;
  }
  const string_view name = trimmed(text.substr(0, std::min(place, text.find(kMistralId))));
  const size_t begin = text.find_first_not_of(kSpace, place + kMistralArguments.size());
  const string_view rest = begin == string_view::npos ? string_view() : text.substr(begin);
  const size_t size = rest.starts_with('{') ? end_of_json(rest) : string_view::npos;
  const std::optional<Json> json = size == string_view::npos ? std::nullopt : parsed(rest.substr(0, size));
  if (!json || name.empty()) {
    return std::nullopt;
  }
  end = begin + size;
  return ToolCall{std::string(name), json->to_string()};
}

/// What follows the first [TOOL_CALLS].
Calls read_mistral(string_view text) {
  text = trimmed(text);
  if (text.starts_with('[')) {
    const std::optional<Json> json = parsed(text);
    return json && json->is_array() && !json->items().empty() ? calls_of(json->items()) : std::nullopt;
  }
  std::vector<ToolCall> calls;
  while (!text.empty()) {
    size_t end = 0;
    std::optional<ToolCall> call = read_named(text, end);
    if (!call) {
      return std::nullopt;
    }
    calls.push_back(std::move(*call));
    text = trimmed(text.substr(end));
    text.remove_prefix(text.starts_with(kMistralCalls) ? kMistralCalls.size() : 0);
  }
  return calls.empty() ? std::nullopt : Calls(std::move(calls));
}

} // namespace

ToolFormat tool_format_of(string_view template_source) {
  if (!contains(template_source, "tools") || contains(template_source, "<function=")) {
    return ToolFormat::None;
  }
  if (contains(template_source, kOpen)) {
    return ToolFormat::Tagged;
  }
  if (contains(template_source, kMistralCalls)) {
    return ToolFormat::Mistral;
  }
  const bool is_llama = contains(template_source, kPythonTag) || contains(template_source, "ipython");
  return is_llama && contains(template_source, "\"parameters\"") ? ToolFormat::Json : ToolFormat::None;
}

std::string ToolCallReader::push(string_view piece) {
  held_ += piece;
  switch (format_) {
    case ToolFormat::None:
      return std::exchange(held_, {});
    case ToolFormat::Tagged:
      return take_tagged();
    default:
      return take_until_call();
  }
}

// Text in front of a tag, and calls that are complete.
std::string ToolCallReader::take_tagged() {
  std::string given;
  while (true) {
    if (in_call_) {
      const size_t end = held_.find(kClose);
      if (end == std::string::npos) {
        return given;
      }
      const string_view body = string_view(held_).substr(kOpen.size(), end - kOpen.size());
      const std::optional<Json> json = parsed(body);
      std::optional<ToolCall> call = json ? call_of(*json) : std::nullopt;
      if (call) {
        calls_.push_back(std::move(*call));
      } else {
        given += held_.substr(0, end + kClose.size());
      }
      held_.erase(0, end + kClose.size());
      in_call_ = false;
      continue;
    }
    const size_t place = held_.find(kOpen);
    in_call_ = place != std::string::npos;
    const size_t end = in_call_ ? place : held_.size() - begun(held_, kOpen);
    // White space is held: it may stand in front of a call.
    const size_t last = end == 0 ? std::string::npos : held_.find_last_not_of(kSpace, end - 1);
    const size_t size = last == std::string::npos ? 0 : last + 1;
    given += held_.substr(0, size);
    held_.erase(0, in_call_ ? place : size);
    if (!in_call_) {
      return given;
    }
  }
}

// Text in front of calls, which are the rest of the answer.
std::string ToolCallReader::take_until_call() {
  if (in_call_) {
    return "";
  }
  if (format_ == ToolFormat::Json) {
    const string_view text = trimmed(held_);
    in_call_ = !is_text_ && (text.starts_with('{') || text.starts_with(kPythonTag));
    const bool may_be = !is_text_ && (text.empty() || kPythonTag.starts_with(text));
    is_text_ = is_text_ || !(in_call_ || may_be);
    return is_text_ ? std::exchange(held_, {}) : "";
  }
  const size_t place = held_.find(kMistralCalls);
  in_call_ = place != std::string::npos;
  const size_t end = in_call_ ? place : held_.size() - begun(held_, kMistralCalls);
  const std::string given = held_.substr(0, end);
  held_.erase(0, end);
  return given;
}

// Whether what is held is nothing but calls.
bool ToolCallReader::read_rest() {
  const string_view text = trimmed(held_);
  Calls calls;
  if (format_ == ToolFormat::Tagged) {
    calls = read_objects(text.substr(std::min(text.size(), kOpen.size()))); // the closing tag is missing
  } else if (format_ == ToolFormat::Json) {
    calls = read_objects(text.substr(text.starts_with(kPythonTag) ? kPythonTag.size() : 0));
  } else {
    calls = read_mistral(text.substr(kMistralCalls.size()));
  }
  if (calls) {
    calls_.insert(calls_.end(), calls->begin(), calls->end());
  }
  return calls.has_value();
}

std::string ToolCallReader::finish() {
  if (in_call_ && read_rest()) {
    held_.clear();
  }
  const bool is_space = held_.find_first_not_of(kSpace) == std::string::npos;
  const std::string rest = std::exchange(held_, {});
  return is_space && !calls_.empty() ? "" : rest;
}

} // namespace torch::llm
