// The answers to a request, as the JSON that its client waits for.
#pragma once

#include "api_error.h"
#include "choice.h"
#include "completion_request.h"

#include <chrono>
#include <string>
#include <vector>

/// What all parts of an answer repeat.
struct AnswerHead {
  std::string id, model;
  int64_t created; ///< seconds since 1970
};

class Answer {
 public:
  /// The tokenizer must outlive it.
  Answer(
      AnswerHead head,
      const CompletionRequest& request,
      const torch::llm::Tokenizer& tokenizer,
      std::vector<Choice> choices);

  /// Waits for text, but not longer than `wait`, and takes it in. Throws what the model has thrown.
  void poll(std::chrono::milliseconds wait);
  bool is_finished() const;

  /// Server-sent events of what came since the last call; after is_finished() also those that end the stream.
  std::string take_events();
  /// The whole answer.
  std::string to_json() const;

 private:
  struct Part {
    Choice choice;
    ChoiceDelta gained; // all of it, or what no event has given yet
    size_t calls_given = 0; // by events
    bool has_begun = false, has_ended = false; // of the stream
  };

  bool is_chat() const {
    return endpoint_ == Endpoint::Chat;
  }
  Json::Object head(const char* object) const;
  Json usage() const;
  std::string event(Json choices, Json usage) const;
  Json event_choice(size_t index, Json::Object delta, const Part& part) const;
  void add_ends(Json::Object& choice, const Part& part) const;
  Json logprobs(const std::vector<ScoredToken>& tokens) const;

  AnswerHead head_;
  const torch::llm::Tokenizer* tokenizer_;
  bool logprobs_;
  Endpoint endpoint_;
  bool stream_usage_;
  int64_t prompt_tokens_;
  std::vector<Part> parts_;
};
