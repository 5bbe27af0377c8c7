// Tokens a second of llama.cpp for a GGUF file: a prompt of 64 tokens, then 64 one after another. Processor time with
// one thread, wall time with more; the best of some rounds. Prints "prompt decode".
//
//   g++ -O2 llamacpp.cpp -I$LLAMA/include -I$LLAMA/ggml/include -L$BUILD/bin -lllama -lggml -lggml-cpu -lggml-base
//   llamacpp FILE [THREADS] [ROUNDS]
#include <llama.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

double seconds(int threads) {
  if (threads > 1) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: llamacpp FILE [THREADS] [ROUNDS]\n");
    return 2;
  }
  constexpr int kPrompt = 64, kTokens = 64;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1, rounds = argc > 3 ? std::atoi(argv[3]) : 3;
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  llama_model* const model = llama_model_load_from_file(argv[1], llama_model_default_params());
  if (model == nullptr) {
    std::fprintf(stderr, "llamacpp: cannot load %s\n", argv[1]);
    return 1;
  }
  double prompt = 0, decode = 0;
  for (int round = 0; round < rounds; ++round) {
    llama_context_params options = llama_context_default_params();
    options.n_ctx = 256;
    options.n_batch = kPrompt;
    options.n_threads = options.n_threads_batch = threads;
    llama_context* const context = llama_init_from_model(model, options);
    std::vector<llama_token> tokens(kPrompt);
    for (int i = 0; i < kPrompt; ++i) {
      tokens[static_cast<size_t>(i)] = i * 37 % 32000;
    }
    double start = seconds(threads);
    bool good = llama_decode(context, llama_batch_get_one(tokens.data(), kPrompt)) == 0;
    llama_synchronize(context);
    prompt = std::max(prompt, kPrompt / (seconds(threads) - start));
    start = seconds(threads);
    llama_token token = 7;
    for (int i = 0; i < kTokens && good; ++i) {
      good = llama_decode(context, llama_batch_get_one(&token, 1)) == 0;
      llama_synchronize(context);
    }
    decode = std::max(decode, kTokens / (seconds(threads) - start));
    llama_free(context);
    if (!good) {
      std::fprintf(stderr, "llamacpp: a step failed\n");
      return 1;
    }
  }
  std::printf("%.1f %.1f\n", prompt, decode);
}
