#include "options.h"

#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>

const char* const kUsage =
    R"(serve FOLDER [--option value]...      answers HTTP requests with the model of a Hugging Face folder

  --host ADDRESS, --port N   where to listen (127.0.0.1, 8080); port 0 takes a free one
  --name TEXT                of the model (the folder's)
  --weights FORM             stored (default), bf16, int8, int4: packed while they are loaded
  --activations KIND         float (default), int8: of products with int8 and int4 weights
  --dtype TYPE               f32, bf16, f16: what is computed in
  --cache-dtype TYPE         f32, bf16, f16, int8
  --sequences N              answers that are computed at once (32)
  --positions N              tokens of all of them together, for which memory is taken at the beginning (8192)
  --queue N                  answers that may wait beside those (64); more are refused with status 429
  --tokens N                 of a chat's answer where the client gives no number (1024)
  --body-limit BYTES         of a request (4194304)
  --grace SECONDS            that running answers have after SIGTERM or SIGINT (10); a second one ends them at once
)";

namespace {

template <class T>
T choose(const std::map<std::string, T>& choices, const std::string& value) {
  const auto found = choices.find(value);
  if (found != choices.end()) {
    return found->second;
  }
  std::string known;
  for (const auto& [choice, meaning] : choices) {
    known += (known.empty() ? "" : ", ") + choice;
  }
  throw std::invalid_argument("choose one of " + known);
}

int64_t whole(const std::string& value, int64_t least, int64_t most = std::numeric_limits<int32_t>::max()) {
  int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || rest != end || number < least || number > most) {
    throw std::invalid_argument("give a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

using Setter = std::function<void(Options&, const std::string&)>;

const std::map<std::string, Setter>& setters() {
  using namespace torch::llm;
  static const std::map<std::string, at::ScalarType> dtypes{
      {"f32", at::kFloat}, {"bf16", at::kBFloat16}, {"f16", at::kHalf}};
  static const std::map<std::string, at::ScalarType> cache_dtypes{
      {"f32", at::kFloat}, {"bf16", at::kBFloat16}, {"f16", at::kHalf}, {"int8", at::kChar}};
  static const std::map<std::string, WeightForm> forms{
      {"stored", WeightForm::Stored},
      {"bf16", WeightForm::BFloat16},
      {"int8", WeightForm::Int8},
      {"int4", WeightForm::Int4}};
  static const std::map<std::string, bool> activations{{"float", false}, {"int8", true}};
  static const std::map<std::string, Setter> all{
      {"--host", [](Options& o, const std::string& v) { o.host = v; }},
      {"--port", [](Options& o, const std::string& v) { o.port = static_cast<int>(whole(v, 0, 65535)); }},
      {"--name", [](Options& o, const std::string& v) { o.name = v; }},
      {"--weights", [](Options& o, const std::string& v) { o.load.quantize.form = choose(forms, v); }},
      {"--activations",
       [](Options& o, const std::string& v) { o.load.quantize.int8_activations = choose(activations, v); }},
      {"--dtype", [](Options& o, const std::string& v) { o.load.dtype = choose(dtypes, v); }},
      {"--cache-dtype", [](Options& o, const std::string& v) { o.engine.cache_dtype = choose(cache_dtypes, v); }},
      {"--sequences", [](Options& o, const std::string& v) { o.engine.max_sequences = whole(v, 1, 4096); }},
      {"--positions", [](Options& o, const std::string& v) { o.engine.positions = whole(v, 1); }},
      {"--queue", [](Options& o, const std::string& v) { o.queue = whole(v, 0, 4096); }},
      {"--tokens", [](Options& o, const std::string& v) { o.default_tokens = whole(v, 1); }},
      {"--body-limit", [](Options& o, const std::string& v) { o.body_limit = whole(v, 1); }},
      {"--grace", [](Options& o, const std::string& v) { o.grace = whole(v, 0); }},
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
    try {
      setter->second(options, argv[i + 1]);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(std::string(argv[i]) + " " + argv[i + 1] + ": " + error.what());
    }
  }
  if (options.name.empty()) {
    const auto path = std::filesystem::path(options.folder).lexically_normal();
    options.name = (path.has_filename() ? path : path.parent_path()).filename().string();
  }
  return options;
}
