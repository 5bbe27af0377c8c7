// Talks with a language model: loads the folder, quantizes it if wanted, and streams what it answers.
#include "options.h"

#include <torch/llm.h>
#include <torch/torch.h>

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
    cache_.emplace(model_->make_cache(options_.cache));
  }

  // Streams what follows `text`.
  void answer(const std::string& text) {
    std::vector<int64_t> tokens = tokenizer_.encode(text, cache_->length() == 0);
    tokens.insert(tokens.begin(), unfed_.begin(), unfed_.end());
    if (tokens.empty()) {
      return;
    }
    const int64_t before = cache_->length();
    const auto prompt = static_cast<int64_t>(tokens.size());
    const auto start = Clock::now();
    llm::Generation generation = llm::generate(model_, tokens, options_.generate, &*cache_);
    llm::DecodeStream stream(tokenizer_);
    int64_t count = 0;
    double first = 0;
    interrupted = 0;
    for (const int64_t token : generation) {
      first = count == 0 ? seconds_since(start) : first;
      ++count;
      std::cout << stream.step(token) << std::flush;
      tokens.push_back(token);
      if (interrupted) {
        generation.cancel();
      }
    }
    std::cout << stream.finish() << '\n';
    // The last token may not have been fed yet: it begins what comes next.
    unfed_.assign(tokens.begin() + (cache_->length() - before), tokens.end());
    report(prompt, first, count, seconds_since(start) - first, generation);
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
  std::optional<llm::KVCache> cache_;
  std::vector<int64_t> unfed_;
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
