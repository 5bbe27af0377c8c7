// The model behind the endpoint, and what it does with requests.
#pragma once

#include "answer.h"
#include "options.h"

#include <torch/llm.h>

#include <httplib.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

/// Answers of one model with continuous batching. Requests may come from any number of threads.
class Service {
 public:
  explicit Service(const Options& options);

  /// The handlers of the endpoint.
  void attach(httplib::Server& server);

  /// From now on requests are refused with status 503; those that run go on.
  void refuse_more() {
    is_ending_ = true;
  }
  /// Answers that run or wait.
  int64_t active() const {
    return active_;
  }
  /// Answers that may run or wait at once.
  int64_t places() const {
    return options_.engine.max_sequences + options_.queue;
  }

 private:
  class Places; // of the answers of a request, given back when it goes away
  struct Session;

  void complete(const httplib::Request& http, httplib::Response& response, Endpoint endpoint);
  Answer start(const CompletionRequest& request);
  Json model_entry() const;
  std::string health() const;

  Options options_;
  int64_t started_;
  std::shared_ptr<const torch::llm::Model> model_;
  torch::llm::Tokenizer tokenizer_;
  std::optional<torch::llm::ChatTemplate> template_;
  torch::llm::Engine engine_;
  RequestContext context_;
  std::atomic<int64_t> active_{0};
  std::atomic<bool> is_ending_{false};
};
