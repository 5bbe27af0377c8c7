// config.json as transformers writes it.
#include <catch2/catch.hpp>

#include <csrc/llm/config.h>
#include <c10/util/Exception.h>

using namespace torch::llm;

namespace {

std::string llama_with(const std::string& more) {
  return R"({"model_type": "llama", "vocab_size": 96, "hidden_size": 32, "intermediate_size": 48,
    "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2)" +
      more + "}";
}

} // namespace

TEST_CASE("a config of Llama gives sizes and rotary parameters, old names and new", "[llm][config]") {
  const std::string text = GENERATE(
      llama_with(R"(, "rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3", "factor": 8.0,
        "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})"),
      llama_with(R"(, "rope_parameters": {"rope_theta": 500000, "rope_type": "llama3", "factor": 8,
        "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192})"));
  const ModelConfig config = parse_config(text);
  CHECK(config.head_dim == 8);
  CHECK(config.num_layers() == 2);
  CHECK_FALSE(config.tied_embeddings);
  CHECK(config.ropes.at(0).theta == 500000);
  CHECK(config.ropes.at(0).dim == 8);
  CHECK(config.ropes.at(0).scaling == RopeScaling::Llama3);
  CHECK(config.ropes.at(0).original_max_position == 8192);
}

TEST_CASE("the decoder of a model that sees pictures has a config of its own", "[llm][config]") {
  const ModelConfig config = parse_config(R"({"model_type": "gemma3", "eos_token_id": [1, 106], "vision_config": {},
    "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
      "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024}})");
  CHECK(config.vocab_size == 262208);
  CHECK(config.num_heads == 8);
  CHECK(config.num_kv_heads == 4);
  CHECK(config.head_dim == 256);
  CHECK(config.eos_tokens == std::vector<int64_t>{1, 106});
  CHECK(config.layers.at(4).window == 1024);
  CHECK(config.layers.at(5).window == 0);
  const RopeConfig all = config.ropes.at(config.layers.at(5).rope), local = config.ropes.at(config.layers.at(4).rope);
  CHECK(all.theta == 1e6);
  CHECK(all.scaling == RopeScaling::Linear);
  CHECK(all.factor == 8);
  CHECK(local.theta == 1e4);
  CHECK(local.scaling == RopeScaling::None);
}

TEST_CASE("stop tokens are one or a list", "[llm][config]") {
  CHECK(parse_config(llama_with(R"(, "eos_token_id": 2)")).eos_tokens == std::vector<int64_t>{2});
  CHECK(parse_config(llama_with(R"(, "eos_token_id": [3, 5])")).eos_tokens == std::vector<int64_t>{3, 5});
  CHECK(parse_config(llama_with(R"(, "eos_token_id": null)")).eos_tokens.empty());
}

TEST_CASE("a config that makes no sense is refused by name", "[llm][config]") {
  const auto message = [](const std::string& text) {
    try {
      parse_config(text);
    } catch (const c10::Error& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  };
  using Catch::Contains;
  CHECK_THAT(message("{"), Contains("config.json"));
  CHECK_THAT(message("[]"), Contains("expected an object"));
  CHECK_THAT(message(R"({"model_type": "mamba"})"), Contains("'mamba' is not supported; supported: llama"));
  CHECK_THAT(message(R"({"model_type": "llama"})"), Contains("'vocab_size' is missing"));
  CHECK_THAT(message(llama_with(R"(, "head_dim": -1)")), Contains("'head_dim' is -1"));
  CHECK_THAT(message(llama_with(R"(, "head_dim": "x")")), Contains("'head_dim' must be an integer"));
  CHECK_THAT(message(llama_with(R"(, "head_dim": 7)")), Contains("must be even"));
  CHECK_THAT(message(llama_with(R"(, "hidden_act": "mish")")), Contains("'mish' is not supported"));
  CHECK_THAT(message(llama_with(R"(, "rope_scaling": {"type": "dynamic"})")), Contains("'dynamic' is not supported"));
  CHECK_THAT(
      message(llama_with(R"(, "rope_scaling": {"type": "longrope"})")), Contains("short_factor must be a list of"));
  CHECK_THAT(
      message(llama_with(R"(, "rope_scaling": {"type": "longrope", "short_factor": [1, 2]})")),
      Contains("short_factor has 2 numbers"));
  CHECK_THAT(message(llama_with(R"(, "eos_token_id": "x")")), Contains("must be a token"));
  const std::string experts = R"(, "num_experts_per_tok": 3, "num_local_experts": )";
  const auto mixtral = [&](const std::string& members) {
    std::string text = llama_with(members);
    return message(text.replace(text.find("llama"), 5, "mixtral"));
  };
  CHECK_THAT(mixtral(""), Contains("'num_local_experts' is missing"));
  CHECK_THAT(mixtral(experts + "2"), Contains("num_experts_per_tok 3 must be at most num_local_experts 2"));
  CHECK_THAT(mixtral(experts + "100000"), Contains("there may be at most 65536"));
  const auto quantized = [&](const std::string& members) {
    return message(llama_with(", \"quantization_config\": {" + members + "}"));
  };
  CHECK_THAT(quantized(R"("bits": 4)"), Contains("quant_method '' is not supported; supported: gptq, awq"));
  CHECK_THAT(quantized(R"("quant_method": "gptq", "bits": 3)"), Contains("3 bits are not supported"));
  CHECK_THAT(quantized(R"("quant_method": "gptq")"), Contains("'bits' is missing"));
  CHECK_THAT(
      quantized(R"("quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin")"), Contains("checkpoint_format"));
  CHECK_THAT(quantized(R"("quant_method": "awq", "version": "gemv")"), Contains("version 'gemv'"));
  CHECK_THAT(quantized(R"("quant_method": "compressed-tensors")"), Contains("config_groups must have one group"));
  CHECK_THAT(
      quantized(R"("quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"strategy": "block"}}})"),
      Contains("strategy 'block'"));
}
