#include <csrc/llm/quantization_config.h>

#include <algorithm>

namespace torch::llm {

namespace {

using program::Json;
using Method = StoredQuantization::Method;

void check_bits(int64_t bits, const std::string& where) {
  TORCH_CHECK(bits == 4 || bits == 8, where, ": weights of ", bits, " bits are not supported; supported: 4 and 8");
}

// -1 and what is missing: one group.
int64_t read_group_size(const Fields& fields, const char* name) {
  const Json* const value = fields.find(name);
  return value && value->is_int() && value->as_int() == -1 ? 0 : value ? fields.size(name) : 0;
}

StoredQuantization read_gptq(const Fields& fields) {
  StoredQuantization out;
  out.method = Method::GPTQ;
  out.bits = fields.size("bits");
  out.group_size = read_group_size(fields, "group_size");
  const std::string format = fields.text("checkpoint_format", "gptq");
  TORCH_CHECK(
      format == "gptq" || format == "gptq_v2", fields.where(), ": checkpoint_format '", format,
      "' is not supported; supported: gptq, gptq_v2");
  out.zero_step = format == "gptq" ? 1 : 0;
  return out;
}

StoredQuantization read_awq(const Fields& fields) {
  StoredQuantization out;
  out.method = Method::AWQ;
  out.bits = fields.size("bits", 4);
  out.group_size = read_group_size(fields, "group_size");
  const std::string version = fields.text("version", "gemm");
  TORCH_CHECK(
      (version == "gemm" || version == "GEMM") && out.bits == 4, fields.where(), ": version '", version, "' with ",
      out.bits, " bits is not supported; supported: gemm with 4 bits");
  return out;
}

StoredQuantization read_compressed(const Fields& fields) {
  StoredQuantization out;
  out.method = Method::CompressedTensors;
  const Json* const groups = fields.find("config_groups");
  TORCH_CHECK(
      groups && groups->is_object() && groups->members().size() == 1, fields.where(),
      ": config_groups must have one group, for all products");
  const auto& [name, group] = groups->only();
  const Fields members(group, fields.where() + ", " + name);
  const Json* const weights = members.find("weights");
  TORCH_CHECK(weights, members.where(), ": 'weights' is missing");
  const Fields scheme(*weights, members.where() + ", weights");
  out.bits = scheme.size("num_bits", 8);
  out.group_size = read_group_size(scheme, "group_size");
  const std::string type = scheme.text("type", "int"), strategy = scheme.text("strategy", "tensor");
  out.is_floating = type == "float";
  TORCH_CHECK(
      type == "int" || (out.is_floating && out.bits == 8), scheme.where(), ": weights of type '", type, "' with ",
      out.bits, " bits are not supported; supported: int with 4 and 8 bits, float with 8");
  TORCH_CHECK(
      strategy == "tensor" || strategy == "channel" || strategy == "group", scheme.where(), ": strategy '", strategy,
      "' is not supported; supported: tensor, channel, group");
  TORCH_CHECK(
      (strategy == "group") == (out.group_size > 0), scheme.where(), ": group_size goes with the strategy 'group'");
  return out;
}

} // namespace

StoredQuantization read_stored_quantization(const Fields& fields) {
  const std::string method = fields.text("quant_method", "");
  StoredQuantization out;
  if (method == "gptq") {
    out = read_gptq(fields);
  } else if (method == "awq") {
    out = read_awq(fields);
  } else if (method == "compressed-tensors") {
    out = read_compressed(fields);
  } else {
    TORCH_CHECK(
        false, fields.where(), ": quant_method '", method,
        "' is not supported; supported: gptq, awq, compressed-tensors");
  }
  check_bits(out.bits, fields.where());
  return out;
}

} // namespace torch::llm
