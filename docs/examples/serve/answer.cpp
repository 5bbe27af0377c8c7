#include "answer.h"

#include "token_report.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

namespace llm = torch::llm;

Answer::Answer(
    AnswerHead head, const CompletionRequest& request, const llm::Tokenizer& tokenizer, std::vector<Choice> choices)
    : head_(std::move(head)),
      tokenizer_(&tokenizer),
      logprobs_(request.answer.logprobs),
      endpoint_(request.endpoint),
      stream_usage_(request.stream_usage),
      prompt_tokens_(request.prompt_tokens()) {
  for (Choice& choice : choices) {
    parts_.push_back(Part{std::move(choice), {}});
  }
}

namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

} // namespace

void Answer::poll(std::chrono::milliseconds wait) {
  // The engine gives all of them their tokens in the same steps: waiting for the first that runs is enough.
  for (Part& part : parts_) {
    if (!part.choice.is_finished()) {
      ChoiceDelta delta = part.choice.poll(wait);
      part.gained.text += delta.text;
      append(part.gained.tokens, std::move(delta.tokens));
      append(part.gained.calls, std::move(delta.calls));
      wait = std::chrono::milliseconds(0);
    }
  }
}

bool Answer::is_finished() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.choice.is_finished(); });
}

Json::Object Answer::head(const char* object) const {
  return {
      {"id", text(head_.id)}, {"object", text(object)}, {"created", Json(head_.created)}, {"model", text(head_.model)}};
}

Json Answer::usage() const {
  int64_t made = 0;
  for (const Part& part : parts_) {
    made += part.choice.tokens();
  }
  return Json(Json::Object{
      {"prompt_tokens", Json(prompt_tokens_)},
      {"completion_tokens", Json(made)},
      {"total_tokens", Json(prompt_tokens_ + made)}});
}

namespace {

Json reason_of(const Choice& choice) {
  return choice.is_finished() ? text(choice.finish_reason()) : Json();
}

// Nine letters and digits, which the templates of Mistral ask for.
std::string call_id() {
  constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  thread_local std::mt19937_64 random{std::random_device{}()};
  std::string id;
  for (int i = 0; i < 9; ++i) {
    id += kLetters[random() % kLetters.size()];
  }
  return id;
}

Json::Object call_object(const llm::ToolCall& call) {
  return {
      {"id", text(call_id())},
      {"type", text("function")},
      {"function", Json(Json::Object{{"name", text(call.name)}, {"arguments", text(call.arguments)}})}};
}

} // namespace

Json Answer::logprobs(const std::vector<ScoredToken>& tokens) const {
  if (!logprobs_) {
    return Json();
  }
  return is_chat() ? chat_logprobs(tokens, *tokenizer_) : completion_logprobs(tokens, *tokenizer_);
}

std::string Answer::event(Json choices, Json usage) const {
  Json::Object object = head(is_chat() ? "chat.completion.chunk" : "text_completion");
  object.emplace_back("choices", std::move(choices));
  if (stream_usage_) {
    object.emplace_back("usage", std::move(usage));
  }
  return "data: " + Json(std::move(object)).to_string() + "\n\n";
}

void Answer::add_ends(Json::Object& choice, const Part& part) const {
  choice.emplace_back("logprobs", logprobs(part.gained.tokens));
  choice.emplace_back("finish_reason", reason_of(part.choice));
  choice.emplace_back("stop_reason", part.choice.stop_reason());
}

Json Answer::event_choice(size_t index, Json::Object delta, const Part& part) const {
  Json::Object object{{"index", Json(static_cast<int64_t>(index))}};
  if (is_chat()) {
    object.emplace_back("delta", Json(std::move(delta)));
  } else {
    object.emplace_back("text", text(part.gained.text));
  }
  add_ends(object, part);
  return Json(std::move(object));
}

std::string Answer::take_events() {
  std::string events;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    ChoiceDelta& gained = part.gained;
    const bool ends = part.choice.is_finished() && !part.has_ended;
    const bool begins = is_chat() && !part.has_begun;
    if (gained.text.empty() && gained.tokens.empty() && gained.calls.empty() && !ends && !begins) {
      continue;
    }
    Json::Object delta;
    if (begins) {
      delta.emplace_back("role", text("assistant"));
    }
    if (begins || !gained.text.empty()) {
      delta.emplace_back("content", text(gained.text));
    }
    Json::Array calls;
    for (const llm::ToolCall& call : gained.calls) {
      Json::Object object = call_object(call);
      object.emplace(object.begin(), "index", Json(static_cast<int64_t>(part.calls_given++)));
      calls.emplace_back(std::move(object));
    }
    if (!calls.empty()) {
      delta.emplace_back("tool_calls", Json(std::move(calls)));
    }
    events += event(Json(Json::Array{event_choice(i, std::move(delta), part)}), Json());
    gained = {};
    part.has_begun = true;
    part.has_ended = ends;
  }
  if (is_finished()) {
    events += stream_usage_ ? event(Json(Json::Array{}), usage()) : "";
    events += "data: [DONE]\n\n";
  }
  return events;
}

namespace {

Json message_of(const ChoiceDelta& whole) {
  const bool only_calls = whole.text.empty() && !whole.calls.empty();
  Json::Object message{{"role", text("assistant")}, {"content", only_calls ? Json() : text(whole.text)}};
  Json::Array calls;
  for (const llm::ToolCall& call : whole.calls) {
    calls.emplace_back(call_object(call));
  }
  if (!calls.empty()) {
    message.emplace_back("tool_calls", Json(std::move(calls)));
  }
  return Json(std::move(message));
}

} // namespace

std::string Answer::to_json() const {
  Json::Array choices;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const ChoiceDelta& whole = parts_[i].gained;
    Json::Object choice{{"index", Json(static_cast<int64_t>(i))}};
    choice.emplace_back(is_chat() ? "message" : "text", is_chat() ? message_of(whole) : text(whole.text));
    add_ends(choice, parts_[i]);
    choices.push_back(Json(std::move(choice)));
  }
  Json::Object object = head(is_chat() ? "chat.completion" : "text_completion");
  object.emplace_back("choices", Json(std::move(choices)));
  object.emplace_back("usage", usage());
  return Json(std::move(object)).to_string();
}
