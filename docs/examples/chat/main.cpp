// Talks with a language model: loads the folder, quantizes it if wanted, and streams what it answers.
#include "options.h"

#include <torch/llm.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>
#include <stdexcept>

namespace llm = torch::llm;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

volatile std::sig_atomic_t interrupted = 0;

// A model and its tokenizer, and the conversation so far.
class Conversation {
 public:
  explicit Conversation(const Options& options)
      : options_(options), model_(load(options.folder)), tokenizer_(llm::Tokenizer::load(options.folder)) {
    if (!options_.draft.empty()) {
      options_.generate.draft = load(options_.draft);
    }
    if (options_.prompt.empty()) {
      load_template();
    }
    cache_.emplace(model_->make_cache(options_.cache));
  }

  // Streams the answer to a line of the conversation, or what follows it where there is no template.
  void answer(const std::string& line) {
    std::vector<int64_t> whole;
    if (template_) {
      messages_.push_back({"user", line});
      whole = tokenizer_.encode(template_->apply(messages_), false);
    } else {
      const std::vector<int64_t> more = tokenizer_.encode(line, tokens_.empty());
      whole = tokens_;
      whole.insert(whole.end(), more.begin(), more.end());
    }
    if (whole.empty()) {
      return;
    }
    const std::string text = generate(whole);
    if (template_) {
      messages_.push_back({"assistant", text});
    }
  }

 private:
  std::shared_ptr<const llm::Model> load(const std::string& folder) const {
    llm::LoadOptions load = options_.load;
    load.progress = [&](double share) { std::fprintf(stderr, "\r%s: %3.0f %%", folder.c_str(), 100 * share); };
    const auto start = Clock::now();
    auto model = llm::load(folder, load);
    std::fprintf(
        stderr, "\r%s: %.1f MB of weights in %.1f s\n", folder.c_str(), static_cast<double>(model->nbytes()) / 1e6,
        seconds_since(start));
    return model;
  }

  void load_template() {
    try {
      template_ = llm::ChatTemplate::load(options_.folder);
    } catch (const c10::Error& error) {
      std::fprintf(stderr, "Lines are continued, not answered: %s\n", error.what_without_backtrace());
    }
  }

  // Tokens of the prompt that are not in the cache yet. A template may have changed what came before: what differs is
  // computed again.
  std::vector<int64_t> unfed(const std::vector<int64_t>& prompt) {
    const auto known = std::min({tokens_.size(), prompt.size() - 1, static_cast<size_t>(cache_->length())});
    const auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(known);
    auto common = static_cast<int64_t>(std::mismatch(tokens_.begin(), end, prompt.begin()).first - tokens_.begin());
    try {
      cache_->truncate(common);
    } catch (const c10::Error&) { // a ring that has gone on too far
      common = 0;
      cache_->truncate(0);
    }
    return std::vector<int64_t>(prompt.begin() + common, prompt.end());
  }

  std::string generate(const std::vector<int64_t>& prompt) {
    const std::vector<int64_t> fed = unfed(prompt);
    tokens_ = prompt;
    const auto start = Clock::now();
    llm::Generation generation = llm::generate(model_, fed, options_.generate, &*cache_);
    llm::DecodeStream stream(tokenizer_);
    std::string text;
    const auto show = [&](const std::string& part) {
      text += part;
      std::cout << part << std::flush;
    };
    double first = 0;
    interrupted = 0;
    for (const int64_t token : generation) {
      first = tokens_.size() == prompt.size() ? seconds_since(start) : first;
      tokens_.push_back(token);
      show(stream.step(token));
      if (interrupted) {
        generation.cancel();
      }
    }
    show(stream.finish());
    std::cout << '\n';
    report(
        static_cast<int64_t>(fed.size()), first, static_cast<int64_t>(tokens_.size() - prompt.size()),
        seconds_since(start) - first, generation);
    return text;
  }

  void report(int64_t prompt, double first, int64_t count, double rest, const llm::Generation& generation) const {
    const double rate = count > 1 ? static_cast<double>(count - 1) / rest : 0;
    std::fprintf(
        stderr, "[prompt %lld tokens, %.1f/s; answer %lld tokens, %.1f/s, %.1f GB/s of weights; cache %.1f MB",
        static_cast<long long>(prompt), first > 0 ? static_cast<double>(prompt) / first : 0,
        static_cast<long long>(count), rate, rate * static_cast<double>(model_->nbytes_of_products()) / 1e9,
        static_cast<double>(cache_->bytes()) / 1e6);
    if (generation.proposed() > 0) {
      std::fprintf(
          stderr, "; %lld of %lld drafts accepted", static_cast<long long>(generation.accepted()),
          static_cast<long long>(generation.proposed()));
    }
    std::fprintf(stderr, "]\n");
  }

  Options options_;
  std::shared_ptr<const llm::Model> model_;
  llm::Tokenizer tokenizer_;
  std::optional<llm::ChatTemplate> template_;
  std::vector<llm::ChatMessage> messages_;
  std::optional<llm::KVCache> cache_;
  std::vector<int64_t> tokens_; // the last prompt and its answer; the cache holds all but the last few
};

int run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Conversation conversation(options);
  std::signal(SIGINT, [](int) { interrupted = 1; });
  if (!options.prompt.empty()) {
    conversation.answer(options.prompt);
    return 0;
  }
  for (std::string line; std::cout << "> " << std::flush && std::getline(std::cin, line);) {
    conversation.answer(line);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what() << "\n\n" << kUsage;
  } catch (const c10::Error& error) {
    std::cerr << error.what_without_backtrace() << '\n';
  }
  return 1;
}
