// How far a language model moves when its weights or its cache lose bits: on a text, for each way to quantize, the
// divergence of the distributions from those of bfloat16 weights, and how often the likeliest token stays. Ways with
// a mean divergence of at most kBound are marked as near; what is not asked to quantize stays as it is stored.
//
//   llm_drift FOLDER TEXT [WINDOW [OTHER...]]
//
// FOLDER as torch::llm::load takes it; WINDOW tokens at a time (512). OTHER are folders of the same model that hold
// quantized weights already (tools/peer/trained_model makes some), which are measured as they are.
//
// Without a tokenizer in the folder, bytes of the text stand for tokens.
#include <torch/llm.h>
#include <torch/quantization.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace llm = torch::llm;

constexpr double kBound = 0.01; // nats

struct Way {
  const char* name;
  llm::QuantizeOptions options;
  std::optional<at::ScalarType> cache_dtype = std::nullopt;
};

std::vector<Way> ways() {
  using llm::WeightForm;
  const auto options = [](WeightForm form, bool int8_activations, int64_t group_size = 64) {
    llm::QuantizeOptions result;
    result.form = form;
    result.int8_activations = int8_activations;
    result.group_size = group_size;
    return result;
  };
  const llm::QuantizeOptions stored, bfloat16 = options(WeightForm::BFloat16, false);
  return {
      {"as stored", stored},
      {"int8", options(WeightForm::Int8, false)},
      {"int8, 8-bit activations", options(WeightForm::Int8, true)},
      {"int4, groups of 32", options(WeightForm::Int4, false, 32)},
      {"int4, groups of 64", options(WeightForm::Int4, false)},
      {"int4, groups of 128", options(WeightForm::Int4, false, 128)},
      {"int4, 8-bit activations", options(WeightForm::Int4, true)},
      {"bfloat16, int8 cache", bfloat16, at::kChar},
      {"bfloat16, float8 cache", bfloat16, at::ScalarType::Float8_e4m3fn},
  };
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<int64_t> tokens_of(const std::string& folder, const std::string& text, int64_t vocabulary) {
  for (const char* name : {"/tokenizer.json", "/tokenizer.model", ""}) {
    if (std::ifstream(folder + name).peek() != std::ifstream::traits_type::eof()) {
      return llm::Tokenizer::load(folder).encode(text);
    }
  }
  std::vector<int64_t> tokens;
  for (const char c : text) {
    tokens.push_back(static_cast<unsigned char>(c) % vocabulary);
  }
  return tokens;
}

/// Logits of all positions, window by window.
std::vector<at::Tensor> logits_of(
    const llm::Model& model,
    const std::vector<int64_t>& tokens,
    size_t window,
    std::optional<at::ScalarType> cache_dtype = std::nullopt) {
  std::vector<at::Tensor> result;
  for (size_t begin = 0; begin + 1 < tokens.size(); begin += window) {
    const size_t count = std::min(window, tokens.size() - begin);
    llm::CacheOptions options;
    options.dtype = cache_dtype;
    llm::KVCache cache = model.make_cache(options);
    result.push_back(model.forward({tokens.data() + begin, count}, cache, llm::LogitsOf::All));
  }
  return result;
}

/// exp of the mean of -log p of the token that follows.
double perplexity(const std::vector<at::Tensor>& logits, const std::vector<int64_t>& tokens) {
  double sum = 0;
  int64_t count = 0;
  size_t begin = 0;
  for (const at::Tensor& part : logits) {
    const int64_t rows = part.size(0) - 1;
    if (rows > 0) {
      const at::Tensor next = torch::tensor(std::vector<int64_t>(
          tokens.begin() + static_cast<int64_t>(begin) + 1, tokens.begin() + static_cast<int64_t>(begin) + 1 + rows));
      sum += torch::nn::functional::cross_entropy(
                 part.narrow(0, 0, rows), next, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum))
                 .item<double>();
      count += rows;
    }
    begin += static_cast<size_t>(part.size(0));
  }
  return std::exp(sum / static_cast<double>(std::max<int64_t>(1, count)));
}

/// That of all windows.
torch::Drift drift_of(const std::vector<at::Tensor>& reference, const std::vector<at::Tensor>& logits) {
  torch::Drift total;
  double divergence = 0, same = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const torch::Drift part = torch::measure_drift(reference[i], logits[i]);
    const auto rows = static_cast<double>(part.rows);
    divergence += part.mean_kl * rows;
    same += part.top1_agreement * rows;
    total.max_kl = std::max(total.max_kl, part.max_kl);
    total.rows += part.rows;
  }
  total.mean_kl = divergence / static_cast<double>(total.rows);
  total.top1_agreement = same / static_cast<double>(total.rows);
  return total;
}

void run(const std::string& folder, const std::string& text, size_t window, const std::vector<std::string>& others) {
  const torch::NoGradGuard no_grad;
  llm::LoadOptions bfloat16;
  bfloat16.quantize.form = llm::WeightForm::BFloat16;
  const auto model = llm::load(folder, bfloat16);
  const std::vector<int64_t> tokens = tokens_of(folder, read(text), model->config().vocab_size);
  if (tokens.size() < 2) {
    throw std::runtime_error("the text has less than two tokens");
  }
  const std::vector<at::Tensor> reference = logits_of(*model, tokens, window);
  std::printf(
      "%zu tokens; near: a mean divergence of at most %.2f\n%-26s %10s %10s %10s %12s %9s\n", tokens.size(), kBound,
      "weights", "mean KL", "max KL", "top-1, %", "perplexity", "MB");
  const auto print = [&](const char* name, const torch::Drift& drift, double perplexity, const llm::Model& of) {
    std::printf(
        "%-26s %10.5f %10.4f %10.2f %12.3f %9.2f%s\n", name, drift.mean_kl, drift.max_kl, 100 * drift.top1_agreement,
        perplexity, static_cast<double>(of.nbytes()) / 1e6, drift.mean_kl <= kBound ? "  near" : "");
    std::fflush(stdout);
  };
  print("bfloat16", drift_of(reference, reference), perplexity(reference, tokens), *model);
  const auto measure = [&](const std::string& from, const Way& way) {
    llm::LoadOptions load;
    load.quantize = way.options;
    try {
      const auto quantized = llm::load(from, load);
      const std::vector<at::Tensor> logits = logits_of(*quantized, tokens, window, way.cache_dtype);
      print(way.name, drift_of(reference, logits), perplexity(logits, tokens), *quantized);
    } catch (const c10::Error& error) {
      std::printf("%-26s %s\n", way.name, error.what_without_backtrace());
    }
  };
  for (const Way& way : ways()) {
    measure(folder, way);
  }
  for (const std::string& other : others) {
    const std::string name = other.substr(other.find_last_of('/') + 1);
    measure(other, {name.c_str(), {}});
  }
}

} // namespace

int main(int argc, char** argv) {
  const int window = argc > 3 ? std::atoi(argv[3]) : 512;
  if (argc < 3 || window < 2) {
    std::fprintf(stderr, "usage: llm_drift FOLDER TEXT [WINDOW [OTHER...]]\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], static_cast<size_t>(window), {argv + std::min(argc, 4), argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "llm_drift: %s\n", error.what());
  }
  return 1;
}
