// https://platform.openai.com/docs/api-reference; top_k, min_p, repetition_penalty and ignore_eos are named as vLLM has
// them.
#include "completion_request.h"

#include "api_error.h"
#include "tools.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace llm = torch::llm;

namespace {

constexpr size_t kMaxStops = 16;

// Members of a request; those that are missing or null have a usual value.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  const Json* find(const std::string& name) const {
    return object_.find(name);
  }
  double number(const std::string& name, double usual, double least, double most) const {
    const Json* const value = find(name);
    if (!value) {
      return usual;
    }
    // Json also takes strings for infinities.
    const bool is_number = value->is_int() || value->is_double();
    const double number = is_number ? value->as_double() : std::nan("");
    if (!(number >= least && number <= most)) {
      throw bad_value(name, "must be a number from " + shown(least) + " to " + shown(most));
    }
    return number;
  }
  int64_t integer(const std::string& name, int64_t usual, int64_t least, int64_t most) const {
    const Json* const value = find(name);
    if (!value) {
      return usual;
    }
    if (!value->is_int() || value->as_int() < least || value->as_int() > most) {
      throw bad_value(name, "must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value->as_int();
  }
  bool flag(const std::string& name, bool usual = false) const {
    const Json* const value = find(name);
    if (value && !value->is_bool()) {
      throw bad_value(name, "must be true or false");
    }
    return value ? value->as_bool() : usual;
  }

 private:
  static std::string shown(double number) {
    return Json(number).to_string();
  }

  const Json& object_;
};

// What says nothing: the values with which clients fill members that they do not use.
bool is_nothing(const Json& value) {
  return value.is_null() || (value.is_bool() && !value.as_bool()) ||
      ((value.is_int() || value.is_double()) && value.as_double() == 0) ||
      (value.is_string() && value.as_string().empty()) || (value.is_array() && value.items().empty()) ||
      (value.is_object() && value.members().empty());
}

void refuse(const Members& members, std::initializer_list<const char*> names, const char* why) {
  for (const char* const name : names) {
    const Json* const value = members.find(name);
    if (value && !is_nothing(*value)) {
      throw ApiError(400, "unsupported_parameter", std::string("'") + name + "' " + why, name);
    }
  }
}

void refuse_unsupported(const Members& members, Endpoint endpoint) {
  refuse(members, {"logit_bias", "echo", "suffix", "functions", "function_call", "audio"}, "is not supported here");
  if (endpoint == Endpoint::Completions) {
    refuse(members, {"tools", "tool_choice", "top_logprobs"}, "goes with /v1/chat/completions");
  }
}

bool asks_for_json(const Members& members) {
  const Json* const format = members.find("response_format");
  const Json* const type = format && format->is_object() ? format->find("type") : nullptr;
  const std::string kind = type && type->is_string() ? type->as_string() : format ? "" : "text";
  if (kind != "text" && kind != "json_object") {
    throw ApiError(
        400, "unsupported_parameter",
        "'response_format' must be {\"type\": \"text\"} or {\"type\": \"json_object\"}: nothing else is supported here",
        "response_format");
  }
  return kind == "json_object";
}

std::vector<std::string> read_stop(const Members& members) {
  const Json* const value = members.find("stop");
  if (!value) {
    return {};
  }
  std::vector<std::string> stop;
  for (const Json& item : value->is_array() ? value->items() : Json::Array{*value}) {
    if (!item.is_string() || item.as_string().empty()) {
      throw bad_value("stop", "must be a string or an array of strings, none of them empty");
    }
    stop.push_back(item.as_string());
  }
  if (stop.size() > kMaxStops) {
    throw bad_value("stop", "may have at most " + std::to_string(kMaxStops) + " strings");
  }
  return stop;
}

std::vector<int64_t> read_tokens(const Json::Array& items) {
  std::vector<int64_t> tokens;
  for (const Json& item : items) {
    if (!item.is_int()) {
      throw bad_value("prompt", "must be a text, an array of texts, an array of tokens or an array of those");
    }
    tokens.push_back(item.as_int());
  }
  return tokens;
}

std::vector<std::vector<int64_t>> read_prompts(const Json* prompt, const llm::Tokenizer& tokenizer) {
  if (!prompt) {
    throw ApiError(400, "missing_required_parameter", "'prompt' is missing", "prompt");
  }
  if (prompt->is_array() && !prompt->items().empty() && prompt->items()[0].is_int()) {
    return {read_tokens(prompt->items())};
  }
  std::vector<std::vector<int64_t>> prompts;
  for (const Json& item : prompt->is_array() ? prompt->items() : Json::Array{*prompt}) {
    if (item.is_string()) {
      prompts.push_back(tokenizer.encode(item.as_string()));
    } else {
      prompts.push_back(read_tokens(item.is_array() ? item.items() : Json::Array{item}));
    }
  }
  if (prompts.empty()) {
    throw bad_value("prompt", "must not be an empty array");
  }
  return prompts;
}

// A text, or parts of which all are texts.
std::string read_content(const Json& content) {
  if (content.is_string()) {
    return content.as_string();
  }
  std::string joined;
  for (const Json& part : content.is_array() ? content.items() : Json::Array{content}) {
    const Json* const text = part.is_object() ? part.find("text") : nullptr;
    if (!text || !text->is_string()) {
      throw bad_value("messages", "must have texts for content: pictures and sounds are not supported here");
    }
    joined += text->as_string();
  }
  return joined;
}

Json read_message(const Json& message) {
  const Json* const role = message.is_object() ? message.find("role") : nullptr;
  if (!role || !role->is_string()) {
    throw bad_value("messages", "must be an array of objects with a 'role'");
  }
  Json::Object members;
  for (const auto& [name, value] : message.members()) {
    const bool is_content = name == "content" && !value.is_null();
    const bool is_calls = name == "tool_calls" && !value.is_null();
    members.emplace_back(name, is_content ? text(read_content(value)) : is_calls ? read_calls(value) : value);
  }
  return Json(std::move(members));
}

// The tokens that end an answer which is held to a form.
std::vector<int64_t> ends_of(const CompletionRequest& request, const RequestContext& context, const char* member) {
  std::vector<int64_t> ends = request.generate.stop_tokens;
  ends.insert(ends.end(), context.stop_tokens.begin(), context.stop_tokens.end());
  if (request.generate.ignore_eos || ends.empty()) {
    throw bad_value(member, "asks for an answer of a form, which ends with a stop token: 'ignore_eos' must not be set");
  }
  return ends;
}

void force_calls(CompletionRequest& request, const std::vector<std::string>& names, const RequestContext& context) {
  if (names.empty()) {
    return;
  }
  request.generate.sampler.constraint = llm::make_tool_call_constraint(
      context.token_bytes, {request.answer.tools, names, request.answer.parallel_calls},
      ends_of(request, context, "tool_choice"));
}

void force_json(CompletionRequest& request, const RequestContext& context) {
  if (request.answer.tools != llm::ToolFormat::None) {
    throw bad_value("response_format", "asks for JSON, which does not go with 'tools'");
  }
  request.generate.sampler.constraint =
      llm::make_json_object_constraint(context.token_bytes, ends_of(request, context, "response_format"));
}

std::vector<int64_t> read_messages(CompletionRequest& request, const Members& members, const RequestContext& context) {
  const Json* const messages = members.find("messages");
  if (!messages) {
    throw ApiError(400, "missing_required_parameter", "'messages' is missing", "messages");
  }
  if (!context.chat_template) {
    throw ApiError(400, "no_chat_template", "this model has no chat template: use /v1/completions");
  }
  if (!messages->is_array() || messages->items().empty()) {
    throw bad_value("messages", "must be an array of at least one message");
  }
  Json::Array list;
  for (const Json& message : messages->items()) {
    list.push_back(read_message(message));
  }
  Json::Object variables{{"messages", Json(std::move(list))}, {"add_generation_prompt", Json(true)}};
  if (const Json* const more = members.find("chat_template_kwargs")) {
    if (!more->is_object()) {
      throw bad_value("chat_template_kwargs", "must be an object");
    }
    variables.insert(variables.end(), more->members().begin(), more->members().end());
  }
  std::string prompt = context.chat_template->render(Json(variables).to_string());
  const ToolRequest tools = read_tools(members.find("tools"), members.find("tool_choice"));
  if (!tools.tools.is_null()) {
    prompt = with_tools(*context.chat_template, std::move(variables), tools.tools, prompt);
    request.answer.tools = context.chat_template->tool_format();
    request.answer.parallel_calls = members.flag("parallel_tool_calls", true);
    force_calls(request, tools.forced, context);
  }
  return context.tokenizer->encode(prompt, false);
}

// A number for completions; for a chat a flag, and a number beside it.
void read_logprobs(CompletionRequest& request, const Members& members) {
  constexpr int64_t kMost = 20;
  std::optional<int64_t>& top = request.generate.top_logprobs;
  if (request.endpoint == Endpoint::Completions) {
    if (members.find("logprobs")) {
      top = members.integer("logprobs", 0, 0, kMost);
    }
  } else if (members.flag("logprobs")) {
    top = members.integer("top_logprobs", 0, 0, kMost);
  } else if (members.integer("top_logprobs", 0, 0, kMost) > 0) {
    throw bad_value("top_logprobs", "goes with 'logprobs': true");
  }
  request.answer.logprobs = top.has_value();
}

std::vector<int64_t> read_stop_tokens(const Members& members) {
  const Json* const value = members.find("stop_token_ids");
  if (value && !value->is_array()) {
    throw bad_value("stop_token_ids", "must be an array of tokens");
  }
  std::vector<int64_t> tokens;
  for (const Json& item : value ? value->items() : Json::Array()) {
    if (!item.is_int() || tokens.size() == kMaxStops) {
      throw bad_value("stop_token_ids", "must be at most " + std::to_string(kMaxStops) + " integers");
    }
    tokens.push_back(item.as_int());
  }
  return tokens;
}

void read_sampling(CompletionRequest& request, const Members& members) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  llm::SamplerOptions& sampler = request.generate.sampler;
  sampler.temperature = members.number("temperature", 1, 0, 100);
  sampler.top_p = members.number("top_p", 1, 1e-9, 1);
  sampler.top_k = std::max<int64_t>(0, members.integer("top_k", 0, -1, kMost));
  sampler.min_p = members.number("min_p", 0, 0, 1);
  sampler.presence_penalty = members.number("presence_penalty", 0, -2, 2);
  sampler.frequency_penalty = members.number("frequency_penalty", 0, -2, 2);
  sampler.repetition_penalty = members.number("repetition_penalty", 1, 1e-3, 1e3);
  request.generate.ignore_eos = members.flag("ignore_eos");
  if (members.find("seed")) {
    constexpr int64_t kLimit = std::numeric_limits<int64_t>::max();
    request.seed = static_cast<uint64_t>(members.integer("seed", 0, -kLimit, kLimit));
  }
}

void check_model(const Members& members, const RequestContext& context) {
  const Json* const model = members.find("model");
  if (model && !(model->is_string() && model->as_string() == context.model_name)) {
    throw ApiError(
        404, "model_not_found",
        "there is no model " + model->to_string().substr(0, 200) + ": this is " + context.model_name, "model");
  }
}

void check_lengths(CompletionRequest& request, const RequestContext& context) {
  for (const std::vector<int64_t>& prompt : request.prompts) {
    if (static_cast<int64_t>(prompt.size()) >= context.context) {
      throw ApiError(
          400, "context_length_exceeded",
          "the prompt has " + std::to_string(prompt.size()) + " tokens: with its answer there may be at most " +
              std::to_string(context.context),
          request.endpoint == Endpoint::Chat ? "messages" : "prompt");
    }
  }
  const auto prompts = static_cast<int64_t>(request.prompts.size());
  if (prompts * request.n > context.max_choices) {
    throw bad_value(
        "n",
        "is " + std::to_string(request.n) + " for " + std::to_string(prompts) +
            " prompts: a request may have at most " + std::to_string(context.max_choices) + " answers");
  }
}

} // namespace

int64_t CompletionRequest::prompt_tokens() const {
  int64_t count = 0;
  for (const std::vector<int64_t>& prompt : prompts) {
    count += static_cast<int64_t>(prompt.size());
  }
  return count;
}

CompletionRequest read_request(const std::string& body, Endpoint endpoint, const RequestContext& context) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const Json json = Json::parse(body, "the request");
  if (!json.is_object()) {
    throw ApiError(400, "invalid_json", "the request must be a JSON object");
  }
  const Members members(json);
  check_model(members, context);
  refuse_unsupported(members, endpoint);
  const bool is_chat = endpoint == Endpoint::Chat;
  CompletionRequest request;
  request.endpoint = endpoint;
  request.n = members.integer("n", 1, 1, context.max_choices);
  const int64_t best_of = members.integer("best_of", request.n, 1, kMost);
  if (best_of != request.n) {
    throw bad_value("best_of", "must be n, or be left out");
  }
  request.stream = members.flag("stream");
  if (const Json* const options = members.find("stream_options")) {
    if (!options->is_object() || !request.stream) {
      throw bad_value("stream_options", "must be an object, and goes with 'stream': true");
    }
    request.stream_usage = Members(*options).flag("include_usage");
  }
  request.answer.stop = read_stop(members);
  request.generate.stop_tokens = read_stop_tokens(members);
  read_logprobs(request, members);
  read_sampling(request, members);
  const int64_t tokens = members.integer("max_tokens", is_chat ? context.default_tokens : 16, 1, kMost);
  request.generate.max_new_tokens = members.integer("max_completion_tokens", tokens, 1, kMost);
  request.prompts = is_chat ? std::vector<std::vector<int64_t>>{read_messages(request, members, context)}
                            : read_prompts(members.find("prompt"), *context.tokenizer);
  if (asks_for_json(members)) {
    force_json(request, context);
  }
  check_lengths(request, context);
  return request;
}
