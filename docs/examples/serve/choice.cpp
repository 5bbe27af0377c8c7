#include "choice.h"

#include <algorithm>
#include <utility>

using torch::llm::FinishReason;
using torch::llm::ToolFormat;

namespace {

int64_t characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; });
}

} // namespace

// Formats of calls use special tokens, which are left out of other answers.
Choice::Choice(
    std::shared_ptr<torch::llm::Request> request, const torch::llm::Tokenizer& tokenizer, const ChoiceOptions& options)
    : request_(std::move(request)),
      stream_(tokenizer, options.tools == ToolFormat::None),
      stop_(options.stop),
      calls_(options.tools),
      logprobs_(options.logprobs),
      parallel_calls_(options.parallel_calls) {}

Choice::~Choice() {
  if (request_) {
    request_->cancel();
  }
}

ChoiceDelta Choice::poll(std::chrono::milliseconds wait) {
  ChoiceDelta delta;
  delta.text = calls_.push(take_text(wait));
  if (is_finished()) {
    delta.text += calls_.finish();
  }
  delta.tokens = take_tokens();
  delta.calls = take_calls();
  if (finish_reason_ == "stop" && !calls_.calls().empty()) {
    finish_reason_ = "tool_calls";
  }
  return delta;
}

std::string Choice::take_text(std::chrono::milliseconds wait) {
  std::string text;
  while (!is_finished() && request_->wait_for(wait)) {
    wait = std::chrono::milliseconds(0);
    const std::optional<int64_t> token = request_->next();
    text += stop_.push(decode(token));
    if (const std::optional<std::string>& found = stop_.found()) {
      finish_reason_ = "stop";
      stop_reason_ = Json(*found);
      waiting_.erase(
          std::find_if(
              waiting_.begin(), waiting_.end(),
              [end = given_ + characters(text)](const ScoredToken& one) { return one.offset >= end; }),
          waiting_.end());
      request_->cancel();
    } else if (!token) {
      text += stop_.finish();
      finish();
    }
  }
  given_ += characters(text);
  return text;
}

std::string Choice::decode(std::optional<int64_t> token) {
  if (token && logprobs_) {
    waiting_.push_back({*token, decoded_, request_->logprobs()});
  }
  tokens_ += token ? 1 : 0;
  std::string text = token ? stream_.step(*token) : stream_.finish();
  decoded_ += characters(text);
  return text;
}

void Choice::finish() {
  finish_reason_ = request_->finish_reason() == FinishReason::Stop ? "stop" : "length";
  if (const std::optional<int64_t> token = request_->stop_token()) {
    stop_reason_ = Json(*token);
  }
}

std::vector<ScoredToken> Choice::take_tokens() {
  std::vector<ScoredToken> taken;
  while (!waiting_.empty() && (is_finished() || waiting_.front().offset < given_)) {
    taken.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return taken;
}

std::vector<torch::llm::ToolCall> Choice::take_calls() {
  const std::vector<torch::llm::ToolCall>& all = calls_.calls();
  const size_t end = parallel_calls_ ? all.size() : std::min<size_t>(all.size(), 1);
  std::vector<torch::llm::ToolCall> taken(
      all.begin() + static_cast<std::ptrdiff_t>(calls_given_), all.begin() + static_cast<std::ptrdiff_t>(end));
  calls_given_ = end;
  return taken;
}
