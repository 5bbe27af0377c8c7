#include <csrc/llm/rope_config.h>

#include <cmath>
#include <vector>

namespace torch::llm {

namespace {

using program::Json;

void read_yarn(RopeConfig& rope, const Fields& scaling) {
  const auto scale_of = [&](double factor, double mscale) {
    return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1;
  };
  const double mscale = scaling.number("mscale", 0), all = scaling.number("mscale_all_dim", 0);
  const double usual =
      mscale != 0 && all != 0 ? scale_of(rope.factor, mscale) / scale_of(rope.factor, all) : scale_of(rope.factor, 1);
  rope.attention_factor = scaling.number("attention_factor", usual);
  rope.beta_fast = scaling.number("beta_fast", 32);
  rope.beta_slow = scaling.number("beta_slow", 1);
  rope.truncate = scaling.flag("truncate", true);
  TORCH_CHECK(rope.beta_fast > 0 && rope.beta_slow > 0, scaling.where(), ": beta_fast and beta_slow must be positive");
}

std::vector<double> read_factors(const Fields& scaling, const char* name, int64_t pairs) {
  const Json* const list = scaling.find(name);
  TORCH_CHECK(list && list->is_array(), scaling.where(), ": ", name, " must be a list of ", pairs, " numbers");
  std::vector<double> factors;
  for (const Json& factor : list->items()) {
    TORCH_CHECK(
        (factor.is_int() || factor.is_double()) && factor.as_double() > 0, scaling.where(), ": the numbers of ", name,
        " must be positive");
    factors.push_back(factor.as_double());
  }
  TORCH_CHECK(
      static_cast<int64_t>(factors.size()) == pairs, scaling.where(), ": ", name, " has ", factors.size(),
      " numbers, expected one for each of ", pairs, " pairs of a head");
  return factors;
}

// LongRoPE (arXiv 2402.13753): a factor for each frequency, one set for sequences within the context of training and
// one for longer ones.
void read_longrope(RopeConfig& rope, const Fields& scaling, int64_t max_position) {
  rope.frequency_factors = read_factors(scaling, "short_factor", rope.dim / 2);
  rope.long_factors = read_factors(scaling, "long_factor", rope.dim / 2);
  const auto original = static_cast<double>(rope.original_max_position);
  const double factor = scaling.number("factor", static_cast<double>(max_position) / original);
  const double usual = factor <= 1 || original <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
  rope.attention_factor = scaling.number("attention_factor", usual);
  rope.factor = 1; // it is in the factors
}

void read_scaling(RopeConfig& rope, const Fields& scaling, const Fields& config, int64_t max_position) {
  const std::string type = scaling.text("rope_type", scaling.text("type", "default"));
  if (type == "default") {
    return;
  }
  rope.factor = scaling.number("factor", 1);
  TORCH_CHECK(rope.factor > 0, scaling.where(), ": factor must be positive");
  rope.original_max_position =
      scaling.size("original_max_position_embeddings", config.size("original_max_position_embeddings", max_position));
  if (type == "linear") {
    rope.scaling = RopeScaling::Linear;
  } else if (type == "llama3") {
    rope.scaling = RopeScaling::Llama3;
    rope.low_freq_factor = scaling.number("low_freq_factor", 1);
    rope.high_freq_factor = scaling.number("high_freq_factor", 4);
    TORCH_CHECK(
        rope.low_freq_factor > 0 && rope.high_freq_factor > rope.low_freq_factor, scaling.where(),
        ": high_freq_factor must exceed low_freq_factor, which must be positive");
  } else if (type == "yarn") {
    rope.scaling = RopeScaling::Yarn;
    read_yarn(rope, scaling);
  } else if (type == "longrope" || type == "su") {
    rope.scaling = RopeScaling::LongRope;
    read_longrope(rope, scaling, max_position);
  } else {
    TORCH_CHECK(
        false, scaling.where(), ": rope_type '", type,
        "' is not supported; supported: default, linear, llama3, yarn, longrope");
  }
}

int64_t turning_elements(double fraction, const ModelConfig& config, const std::string& where) {
  TORCH_CHECK(fraction > 0 && fraction <= 1, where, ": partial_rotary_factor must be in (0, 1]");
  const auto dim = static_cast<int64_t>(static_cast<double>(config.head_dim) * fraction);
  TORCH_CHECK(
      dim % 2 == 0, where, ": ", dim, " elements of a head would turn, which must be even: head_dim ", config.head_dim,
      ", partial_rotary_factor ", fraction);
  return dim;
}

} // namespace

RopeConfig read_rope(
    const Fields& fields, const ModelConfig& config, double default_theta, const std::string& part, double fraction) {
  static const Json kEmpty(Json::Object{});
  const Json* scaling = fields.find("rope_parameters");
  if (const Json* const own = scaling && !part.empty() ? scaling->find(part) : nullptr) {
    scaling = own;
  }
  if (!scaling) {
    scaling = fields.find("rope_scaling");
  }
  const Fields parameters(scaling ? *scaling : kEmpty, fields.where() + ", rope parameters");
  RopeConfig rope;
  rope.theta = parameters.number("rope_theta", fields.number("rope_theta", default_theta));
  TORCH_CHECK(rope.theta > 0, fields.where(), ": rope_theta must be positive");
  fraction = parameters.number("partial_rotary_factor", fields.number("partial_rotary_factor", fraction));
  rope.dim = turning_elements(fraction, config, fields.where());
  read_scaling(rope, parameters, fields, config.max_position);
  return rope;
}

RopeConfig read_local_rope(const Fields& fields, const ModelConfig& config) {
  const Json* const parameters = fields.find("rope_parameters");
  if (parameters && parameters->find("sliding_attention")) {
    return read_rope(fields, config, 10000, "sliding_attention");
  }
  RopeConfig rope;
  rope.theta = fields.number("rope_local_base_freq", 10000);
  TORCH_CHECK(rope.theta > 0, fields.where(), ": rope_local_base_freq must be positive");
  rope.dim = turning_elements(1, config, fields.where());
  return rope;
}

} // namespace torch::llm
