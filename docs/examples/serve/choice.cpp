#include "choice.h"

using torch::llm::FinishReason;

Choice::~Choice() {
  if (request_) {
    request_->cancel();
  }
}

std::string Choice::poll(std::chrono::milliseconds wait) {
  std::string text;
  while (!is_finished() && request_->wait_for(wait)) {
    wait = std::chrono::milliseconds(0);
    const std::optional<int64_t> token = request_->next();
    tokens_ += token ? 1 : 0;
    text += stop_.push(token ? stream_.step(*token) : stream_.finish());
    if (stop_.found()) {
      finish_reason_ = "stop";
      request_->cancel();
    } else if (!token) {
      text += stop_.finish();
      finish_reason_ = request_->finish_reason() == FinishReason::Stop ? "stop" : "length";
    }
  }
  return text;
}
