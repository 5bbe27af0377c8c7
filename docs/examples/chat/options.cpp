#include "options.h"

#include <functional>
#include <map>
#include <stdexcept>

const char* const kUsage =
    R"(chat FOLDER [--option value]...      answers lines with the model of a Hugging Face folder

  --prompt TEXT         continues this text and ends
  --weights FORM        stored (default), bf16, int8, int4: packed while they are loaded
  --activations KIND    float (default), int8: of products with int8 and int4 weights
  --dtype TYPE          f32, bf16, f16: what is computed in
  --cache KIND          dense (default), ring
  --cache-dtype TYPE    f32, bf16, f16, int8
  --tokens N            at most so many in an answer (256)
  --temperature X       0 (default) always takes the likeliest token
  --top-k N, --top-p X, --min-p X, --repetition-penalty X, --seed N
  --draft FOLDER        a small model of the same vocabulary that proposes tokens
)";

namespace {

template <class T>
T choose(const std::map<std::string, T>& choices, const std::string& name, const std::string& value) {
  const auto found = choices.find(value);
  if (found != choices.end()) {
    return found->second;
  }
  std::string known;
  for (const auto& [choice, meaning] : choices) {
    known += (known.empty() ? "" : ", ") + choice;
  }
  throw std::invalid_argument(name + " " + value + ": choose one of " + known);
}

double number(const std::string& name, const std::string& value) {
  size_t end = 0;
  double parsed = 0;
  try {
    parsed = std::stod(value, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || end != value.size()) {
    throw std::invalid_argument(name + " " + value + ": give a number");
  }
  return parsed;
}

int64_t whole(const std::string& name, const std::string& value) {
  return static_cast<int64_t>(number(name, value));
}

using Setter = std::function<void(Options&, const std::string&)>;

const std::map<std::string, Setter>& setters() {
  using namespace torch::llm;
  static const std::map<std::string, at::ScalarType> dtypes{
      {"f32", torch::kFloat}, {"bf16", torch::kBFloat16}, {"f16", torch::kHalf}};
  static const std::map<std::string, at::ScalarType> cache_dtypes{
      {"f32", torch::kFloat}, {"bf16", torch::kBFloat16}, {"f16", torch::kHalf}, {"int8", torch::kChar}};
  static const std::map<std::string, WeightForm> forms{
      {"stored", WeightForm::Stored},
      {"bf16", WeightForm::BFloat16},
      {"int8", WeightForm::Int8},
      {"int4", WeightForm::Int4}};
  static const std::map<std::string, CacheKind> kinds{{"dense", CacheKind::Dense}, {"ring", CacheKind::Ring}};
  static const std::map<std::string, bool> activations{{"float", false}, {"int8", true}};
  static const std::map<std::string, Setter> all{
      {"--prompt", [](Options& o, const std::string& v) { o.prompt = v; }},
      {"--draft", [](Options& o, const std::string& v) { o.draft = v; }},
      {"--weights", [](Options& o, const std::string& v) { o.load.quantize.form = choose(forms, "--weights", v); }},
      {"--activations",
       [](Options& o, const std::string& v) {
         o.load.quantize.int8_activations = choose(activations, "--activations", v);
       }},
      {"--dtype", [](Options& o, const std::string& v) { o.load.dtype = choose(dtypes, "--dtype", v); }},
      {"--cache", [](Options& o, const std::string& v) { o.cache.kind = choose(kinds, "--cache", v); }},
      {"--cache-dtype",
       [](Options& o, const std::string& v) { o.cache.dtype = choose(cache_dtypes, "--cache-dtype", v); }},
      {"--tokens", [](Options& o, const std::string& v) { o.generate.max_new_tokens = whole("--tokens", v); }},
      {"--temperature",
       [](Options& o, const std::string& v) { o.generate.sampler.temperature = number("--temperature", v); }},
      {"--top-k", [](Options& o, const std::string& v) { o.generate.sampler.top_k = whole("--top-k", v); }},
      {"--top-p", [](Options& o, const std::string& v) { o.generate.sampler.top_p = number("--top-p", v); }},
      {"--min-p", [](Options& o, const std::string& v) { o.generate.sampler.min_p = number("--min-p", v); }},
      {"--repetition-penalty",
       [](Options& o, const std::string& v) {
         o.generate.sampler.repetition_penalty = number("--repetition-penalty", v);
       }},
      {"--seed",
       [](Options& o, const std::string& v) { o.generate.sampler.seed = static_cast<uint64_t>(whole("--seed", v)); }},
  };
  return all;
}

} // namespace

Options parse_options(int argc, char** argv) {
  if (argc < 2) {
    throw std::invalid_argument("which folder?");
  }
  Options options;
  options.folder = argv[1];
  for (int i = 2; i < argc; i += 2) {
    const auto setter = setters().find(argv[i]);
    if (setter == setters().end()) {
      throw std::invalid_argument(std::string(argv[i]) + " is no option");
    }
    if (i + 1 == argc) {
      throw std::invalid_argument(std::string(argv[i]) + " needs a value");
    }
    setter->second(options, argv[i + 1]);
  }
  return options;
}
