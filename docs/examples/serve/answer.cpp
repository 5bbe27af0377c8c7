#include "answer.h"

#include <algorithm>
#include <utility>

Answer::Answer(AnswerHead head, const CompletionRequest& request, std::vector<Choice> choices)
    : head_(std::move(head)),
      endpoint_(request.endpoint),
      stream_usage_(request.stream_usage),
      prompt_tokens_(request.prompt_tokens()) {
  for (Choice& choice : choices) {
    parts_.push_back(Part{std::move(choice), {}});
  }
}

void Answer::poll(std::chrono::milliseconds wait) {
  // The engine gives all of them their tokens in the same steps: waiting for the first that runs is enough.
  for (Part& part : parts_) {
    if (!part.choice.is_finished()) {
      part.text += part.choice.poll(wait);
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

} // namespace

std::string Answer::event(Json choices, Json usage) const {
  Json::Object object = head(is_chat() ? "chat.completion.chunk" : "text_completion");
  object.emplace_back("choices", std::move(choices));
  if (stream_usage_) {
    object.emplace_back("usage", std::move(usage));
  }
  return "data: " + Json(std::move(object)).to_string() + "\n\n";
}

Json Answer::event_choice(size_t index, Json::Object delta, const Part& part) const {
  Json::Object object{{"index", Json(static_cast<int64_t>(index))}};
  if (is_chat()) {
    object.emplace_back("delta", Json(std::move(delta)));
  } else {
    object.emplace_back("text", text(part.text));
  }
  object.emplace_back("logprobs", Json());
  object.emplace_back("finish_reason", reason_of(part.choice));
  return Json(std::move(object));
}

std::string Answer::take_events() {
  std::string events;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const bool ends = part.choice.is_finished() && !part.has_ended;
    const bool begins = is_chat() && !part.has_begun;
    if (part.text.empty() && !ends && !begins) {
      continue;
    }
    Json::Object delta;
    if (begins) {
      delta.emplace_back("role", text("assistant"));
    }
    if (begins || !part.text.empty()) {
      delta.emplace_back("content", text(part.text));
    }
    events += event(Json(Json::Array{event_choice(i, std::move(delta), part)}), Json());
    part.text.clear();
    part.has_begun = true;
    part.has_ended = ends;
  }
  if (is_finished()) {
    events += stream_usage_ ? event(Json(Json::Array{}), usage()) : "";
    events += "data: [DONE]\n\n";
  }
  return events;
}

std::string Answer::to_json() const {
  Json::Array choices;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Json::Object choice{{"index", Json(static_cast<int64_t>(i))}};
    if (is_chat()) {
      choice.emplace_back(
          "message", Json(Json::Object{{"role", text("assistant")}, {"content", text(parts_[i].text)}}));
    } else {
      choice.emplace_back("text", text(parts_[i].text));
    }
    choice.emplace_back("logprobs", Json());
    choice.emplace_back("finish_reason", reason_of(parts_[i].choice));
    choices.push_back(Json(std::move(choice)));
  }
  Json::Object object = head(is_chat() ? "chat.completion" : "text_completion");
  object.emplace_back("choices", Json(std::move(choices)));
  object.emplace_back("usage", usage());
  return Json(std::move(object)).to_string();
}
