// Models from GGUF files (tools/peer/gguf_models) give the logits of the folders that they were made from.
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <aten/Functions.h>
#include <csrc/serialize/safetensors.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace torch::llm;

namespace {

std::string gguf_path(const std::string& name) {
  return test::model_folder("gguf/models/") + name + ".gguf";
}

at::Tensor logits_of(const std::shared_ptr<const Model>& model, const std::vector<int64_t>& prompt) {
  KVCache cache = model->make_cache();
  return model->forward(prompt, cache, LogitsOf::All);
}

struct Expected {
  std::vector<int64_t> prompt;
  at::Tensor logits;
};

Expected expected_of(const std::string& name) {
  const auto tensors =
      torch::serialize::load_safetensors(test::model_folder("gguf/models/") + name + ".safetensors").tensors;
  return {test::to_vector(tensors.at("prompt")), tensors.at("logits")};
}

} // namespace

TEST_CASE("a GGUF file gives the logits of the folder it was made from", "[llm][gguf][model]") {
  const std::string name = GENERATE(
      "llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "phi3", "phi3_short", "phi3_long", "phi", "gpt2");
  INFO(name);
  const test::RecordedModel folder = test::load_recorded(name);
  const auto model = load(gguf_path(name));
  // The format has no windows of Qwen 2: as far as one reaches, they change nothing.
  const int64_t seen = name == "qwen2" ? 8 : folder.logits.size(0);
  const at::Tensor logits = logits_of(model, folder.prompt);
  CHECK(test::distance(logits.narrow(0, 0, seen), folder.logits.narrow(0, 0, seen)) < 1e-4);
  CHECK(model->config().eos_tokens == folder.model->config().eos_tokens);
}

TEST_CASE("weights in all formats of GGUF keep their numbers", "[llm][gguf][model]") {
  const std::string name = GENERATE("formats", "formats_tied");
  INFO(name);
  const Expected expected = expected_of(name);
  const auto model = load(gguf_path(name));
  CHECK(test::distance(logits_of(model, expected.prompt), expected.logits) < 2e-4);
  // Products read codes of 4 and 8 bits with their scales, not numbers.
  const auto wide = load(gguf_path(name), [] {
    LoadOptions options;
    options.quantize.form = WeightForm::BFloat16;
    return options;
  }());
  CHECK(model->nbytes_of_products() < wide->nbytes_of_products() * 3 / 5);
  CHECK(test::distance(logits_of(wide, expected.prompt), expected.logits) < 0.2);
  CHECK(model->fingerprint() != wide->fingerprint());
}

TEST_CASE("codes of a GGUF file stand for its numbers", "[llm][gguf]") {
  const GgufFile file = GgufFile::open(test::model_folder("gguf/formats.gguf"));
  for (const char* type : {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"}) {
    INFO("type " << type);
    REQUIRE(file.is_quantized(type));
    const WeightCodes codes = file.codes(type);
    const int64_t limit = codes.bits == 4 ? 8 : 128;
    CHECK(codes.codes.min().item<int64_t>() >= -limit);
    CHECK(codes.codes.max().item<int64_t>() < limit);
    const at::Tensor numbers = codes.dequantize().to(at::kDouble);
    const at::Tensor right = file.dequantized(type).to(at::kDouble);
    const at::Tensor error = (numbers - right).abs();
    CHECK((error <= 1e-6 * right.abs().max()).all().item<bool>());
  }
  CHECK_FALSE(file.is_quantized("F16"));
  CHECK_THROWS_WITH(file.codes("F16"), Catch::Contains("stored as F16, which has no codes"));
}

TEST_CASE("a GGUF file brings its tokenizer and its chat template", "[llm][gguf]") {
  const std::string path = gguf_path("formats");
  const Tokenizer tokenizer = Tokenizer::load(path);
  CHECK(tokenizer.encode("ab é.") == std::vector<int64_t>{0, 4, 5, 45, 44, 47, 40});
  CHECK(tokenizer.decode({44, 47, 45, 4}) == "é a");
  const ChatTemplate chat = ChatTemplate::load(path);
  CHECK(chat.apply({{"u", "hi"}}) == "<s><u>hi<a>");
  CHECK_THROWS_WITH(ChatTemplate::load(gguf_path("llama")), Catch::Contains("has no chat template"));
  const auto model = load(path);
  CHECK(model->config().bos_token == 0);
  CHECK(model->config().eos_tokens == std::vector<int64_t>{1});
}

TEST_CASE("a GGUF file that no decoder fits is refused by name", "[llm][gguf]") {
  std::ostringstream stream;
  stream << std::ifstream(gguf_path("llama"), std::ios::binary).rdbuf();
  const std::string bytes = stream.str();
  // Of the same length, so that all else keeps its place.
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string changed = bytes;
    for (size_t at = changed.find(from); at != std::string::npos; at = changed.find(from, at + to.size())) {
      changed.replace(at, from.size(), to);
    }
    const std::string path =
        (std::filesystem::temp_directory_path() / ("changed" + std::to_string(::getpid()) + ".gguf")).string();
    std::ofstream(path, std::ios::binary) << changed;
    const std::string message = test::message_of([&] { load(path); });
    std::filesystem::remove(path);
    return message;
  };
  using Catch::Contains;
  CHECK_THAT(refused("none of it", "none of it"), Catch::Equals(""));
  CHECK_THAT(
      refused("llama", "mamba"), Contains("general.architecture 'mamba' is not supported; supported: llama, qwen2"));
  CHECK_THAT(refused("token_embd", "token_emXX"), Contains("has no tensor 'token_embd.weight'"));
  CHECK_THAT(refused("blk.1.attn_q.weight", "blk.1.attn_X.weight"), Contains("model.layers.1.self_attn.q_proj.weight"));
  CHECK_THAT(refused("llama.block_count", "llama.bloXX_count"), Contains("'num_hidden_layers' is missing"));
  CHECK_THAT(refused("rope_freqs", "rope_frXXX"), Contains("rope_frXXX.weight"));
  CHECK_THAT(test::message_of([] { load(test::model_folder("llama/config.json")); }), Contains("is no GGUF file"));
}
