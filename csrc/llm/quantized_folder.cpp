// The forms are those that GPTQModel, AutoAWQ and compressed-tensors write.
#include <csrc/llm/quantized_folder.h>

#include <csrc/llm/weight_codes.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <utility>

namespace torch::llm {

namespace {

using at::Tensor;
using Method = StoredQuantization::Method;

// Codes of words of 32 bits, (rows, columns) -> (rows, columns, codes of a word), from the lowest bits on; less half of
// their range, so that int8 holds them.
Tensor codes_of_words(const Tensor& words, int64_t bits) {
  const int64_t count = 32 / bits;
  const Tensor from = words.contiguous();
  Tensor codes = at::empty({words.size(0), words.size(1), count}, at::kChar);
  const auto* const data = reinterpret_cast<const uint32_t*>(from.const_data_ptr<int32_t>());
  int8_t* out = codes.mutable_data_ptr<int8_t>();
  const auto mask = (uint32_t{1} << bits) - 1;
  const int half = 1 << (bits - 1);
  for (int64_t i = 0; i < from.numel(); ++i) {
    for (int64_t j = 0; j < count; ++j) {
      *out++ = static_cast<int8_t>(static_cast<int>(data[i] >> (bits * j) & mask) - half);
    }
  }
  return codes;
}

// Which output of eight AWQ keeps in which four bits of a word, from the lowest on: 0, 2, 4, 6, 1, 3, 5, 7.
Tensor in_awq_order(const Tensor& codes) {
  std::vector<Tensor> columns;
  for (const int64_t place : {0, 4, 1, 5, 2, 6, 3, 7}) {
    columns.push_back(codes.select(-1, place));
  }
  return at::stack(columns, -1);
}

// What a quantized weight is kept in, by its name.
class WeightParts {
 public:
  WeightParts(Checkpoint& checkpoint, std::string stem, const StoredQuantization& quantization)
      : checkpoint_(checkpoint), stem_(std::move(stem)), quantization_(quantization) {}

  const StoredQuantization& quantization() const {
    return quantization_;
  }
  const std::string& stem() const {
    return stem_;
  }
  Tensor take_optional(const char* part) {
    return checkpoint_.remove(stem_ + "." + part);
  }
  // A matrix of a dtype.
  Tensor take(const char* part, at::ScalarType dtype) {
    Tensor tensor = take_optional(part);
    TORCH_CHECK(tensor.defined(), "the quantized weight '", stem_, "' lacks its part '", part, "'");
    check(tensor, part, dtype);
    return tensor;
  }
  Tensor take_scales(const char* part) {
    Tensor tensor = take_optional(part);
    TORCH_CHECK(
        tensor.defined() && tensor.is_floating_point() && tensor.dim() <= 2, "the part '", part,
        "' of the quantized weight '", stem_, "' must be there, a floating matrix");
    return tensor;
  }
  void check(const Tensor& tensor, const char* part, at::ScalarType dtype) const {
    TORCH_CHECK(
        tensor.dim() == 2 && tensor.scalar_type() == dtype, "the part '", part, "' of the quantized weight '", stem_,
        "' must be a matrix of ", dtype, ", found ", tensor.sizes(), " of ", tensor.scalar_type());
  }
  void check_sizes(const Tensor& tensor, const char* part, at::IntArrayRef sizes) const {
    TORCH_CHECK(
        tensor.sizes() == sizes, "the part '", part, "' of the quantized weight '", stem_, "' has shape ",
        tensor.sizes(), ": the others ask for ", sizes);
  }

 private:
  Checkpoint& checkpoint_;
  std::string stem_;
  StoredQuantization quantization_;
};

int64_t groups_of(int64_t inputs, int64_t group_size) {
  return group_size == 0 ? 1 : (inputs + group_size - 1) / group_size;
}

// Offsets of zero points, which may be undefined; undefined when all are 0.
Tensor offsets_of(const Tensor& scales, const Tensor& zeros) {
  if (!zeros.defined() || !zeros.ne(0).any().item<bool>()) {
    return {};
  }
  return (scales * zeros.to(at::kFloat)).neg_();
}

// GPTQ and AWQ: words, zero points and scales with the inputs, or their groups, as rows.
class TransposedWeight final : public StoredWeight {
 public:
  explicit TransposedWeight(WeightParts parts)
      : stem_(parts.stem()),
        quantization_(parts.quantization()),
        words_(parts.take("qweight", at::kInt)),
        zeros_(parts.take("qzeros", at::kInt)),
        scales_(parts.take_scales("scales")),
        groups_(parts.take_optional("g_idx")) {
    const bool is_awq = quantization_.method == Method::AWQ;
    const int64_t per_word = 32 / quantization_.bits;
    inputs_ = words_.size(0) * (is_awq ? 1 : per_word);
    outputs_ = words_.size(1) * (is_awq ? per_word : 1);
    group_size_ = quantization_.group_size == 0 ? inputs_ : quantization_.group_size;
    const int64_t groups = groups_of(inputs_, quantization_.group_size);
    parts.check_sizes(scales_, "scales", {groups, outputs_});
    TORCH_CHECK(
        outputs_ % per_word == 0, "the quantized weight '", stem_, "' must have a multiple of ", per_word,
        " outputs, has ", outputs_);
    parts.check_sizes(zeros_, "qzeros", {groups, outputs_ / per_word});
    if (groups_.defined()) {
      parts.check_sizes(groups_, "g_idx", {inputs_});
      groups_ = groups_.to(at::kLong);
      TORCH_CHECK(
          inputs_ == 0 || (groups_.min().item<int64_t>() >= 0 && groups_.max().item<int64_t>() < groups),
          "g_idx of the quantized weight '", stem_, "' must name one of its ", groups, " groups");
    }
  }

  std::vector<int64_t> sizes() const override {
    return {outputs_, inputs_};
  }
  at::quantized::PackedWeight packed() const override {
    const bool fits = group_size_ % 8 == 0 || group_size_ >= inputs_;
    return fits && is_in_order() ? codes().pack() : at::quantized::PackedWeight();
  }
  Tensor tensor() const override {
    const WeightCodes all = codes();
    if (is_in_order()) {
      return all.dequantize();
    }
    Tensor numbers = all.codes.to(at::kFloat).mul_(all.scales.index_select(1, groups_));
    return all.offsets.defined() ? numbers.add_(all.offsets.index_select(1, groups_)) : numbers;
  }

 private:
  // Whether groups are adjacent inputs: with activation order (desc_act) they are not.
  bool is_in_order() const {
    return !groups_.defined() ||
        groups_.equal(at::arange(inputs_, at::TensorOptions(at::kLong)).floor_divide(group_size_));
  }
  WeightCodes codes() const {
    const bool is_awq = quantization_.method == Method::AWQ;
    const Tensor codes = codes_of_words(words_, quantization_.bits);
    Tensor zeros = codes_of_words(zeros_, quantization_.bits);
    zeros = (is_awq ? in_awq_order(zeros) : zeros).reshape({zeros_.size(0), outputs_}).t();
    const Tensor scales = scales_.t().to(at::kFloat).contiguous();
    return WeightCodes{
        is_awq ? in_awq_order(codes).reshape({inputs_, outputs_}).t().contiguous()
               : codes.permute({1, 0, 2}).reshape({outputs_, inputs_}),
        scales, offsets_of(scales, zeros.to(at::kFloat) + quantization_.zero_step), quantization_.bits, group_size_};
  }

  std::string stem_;
  StoredQuantization quantization_;
  Tensor words_, zeros_, scales_, groups_;
  int64_t inputs_ = 0, outputs_ = 0, group_size_ = 0;
};

// compressed-tensors: rows are outputs.
class CompressedWeight final : public StoredWeight {
 public:
  explicit CompressedWeight(WeightParts parts) : stem_(parts.stem()), quantization_(parts.quantization()) {
    words_ = parts.take_optional("weight_packed");
    is_packed_ = words_.defined();
    if (is_packed_) {
      parts.check(words_, "weight_packed", at::kInt);
    } else {
      words_ = parts.take("weight", quantization_.is_floating ? at::kFloat8_e4m3fn : at::kChar);
    }
    outputs_ = words_.size(0);
    const Tensor shape = parts.take_optional("weight_shape");
    inputs_ = is_packed_ ? words_.size(1) * (32 / quantization_.bits) : words_.size(1);
    if (is_packed_ && shape.defined()) {
      parts.check_sizes(shape, "weight_shape", {2});
      const int64_t inputs = shape[1].item<int64_t>();
      TORCH_CHECK(
          shape[0].item<int64_t>() == outputs_ && inputs <= inputs_ && inputs > inputs_ - 32 / quantization_.bits,
          "weight_shape of the quantized weight '", stem_, "' does not fit its words");
      inputs_ = inputs;
    }
    groups_ = groups_of(inputs_, quantization_.group_size);
    scales_ = parts.take_scales("weight_scale").to(at::kFloat);
    scales_ = scales_.numel() == 1 ? scales_.reshape({1, 1}).expand({outputs_, groups_}).contiguous() : scales_;
    parts.check_sizes(scales_, "weight_scale", {outputs_, groups_});
    zeros_ = parts.take_optional("weight_zero_point");
    read_zeros(parts);
    // Of activations, which stay as they are.
    parts.take_optional("input_scale");
    parts.take_optional("input_zero_point");
    const Tensor order = parts.take_optional("weight_g_idx");
    TORCH_CHECK(
        !order.defined() || order.lt(0).all().item<bool>(), "the quantized weight '", stem_,
        "' has groups of inputs that are not adjacent (weight_g_idx), which is not supported");
  }

  std::vector<int64_t> sizes() const override {
    return {outputs_, inputs_};
  }
  at::quantized::PackedWeight packed() const override {
    const bool fits = groups_ == 1 || quantization_.group_size % 8 == 0;
    return fits && !quantization_.is_floating ? codes().pack() : at::quantized::PackedWeight();
  }
  Tensor tensor() const override {
    if (!quantization_.is_floating) {
      return codes().dequantize();
    }
    return words_.to(at::kFloat)
        .mul_(scales_.index_select(1, at::arange(inputs_, at::TensorOptions(at::kLong)).floor_divide(group_size())));
  }

 private:
  int64_t group_size() const {
    return quantization_.group_size == 0 ? std::max<int64_t>(inputs_, 1) : quantization_.group_size;
  }
  // Packed codes have packed zero points too, outputs side by side in a word.
  void read_zeros(const WeightParts& parts) {
    if (!zeros_.defined()) {
      return;
    }
    if (zeros_.scalar_type() == at::kInt && is_packed_) {
      const int64_t per_word = 32 / quantization_.bits;
      parts.check_sizes(zeros_, "weight_zero_point", {groups_of(outputs_, per_word), groups_});
      zeros_ =
          codes_of_words(zeros_, quantization_.bits).permute({0, 2, 1}).reshape({-1, groups_}).narrow(0, 0, outputs_);
      return;
    }
    zeros_ = zeros_.numel() == 1 ? zeros_.reshape({1, 1}).expand({outputs_, groups_}) : zeros_;
    parts.check_sizes(zeros_, "weight_zero_point", {outputs_, groups_});
  }
  WeightCodes codes() const {
    const Tensor all =
        is_packed_ ? codes_of_words(words_, quantization_.bits).flatten(1).narrow(1, 0, inputs_).contiguous() : words_;
    return WeightCodes{all, scales_, offsets_of(scales_, zeros_), is_packed_ ? quantization_.bits : 8, group_size()};
  }

  std::string stem_;
  StoredQuantization quantization_;
  bool is_packed_ = false;
  Tensor words_, scales_, zeros_;
  int64_t inputs_ = 0, outputs_ = 0, groups_ = 1;
};

} // namespace

void join_quantized_weights(Checkpoint& checkpoint, const StoredQuantization& quantization) {
  const bool is_compressed = quantization.method == Method::CompressedTensors;
  const std::string end = is_compressed ? ".weight_scale" : ".qweight";
  for (const std::string& name : checkpoint.names_with_end(end)) {
    const std::string stem = name.substr(0, name.size() - end.size());
    WeightParts parts(checkpoint, stem, quantization);
    std::shared_ptr<const StoredWeight> weight;
    if (is_compressed) {
      weight = std::make_shared<CompressedWeight>(parts);
    } else {
      weight = std::make_shared<TransposedWeight>(parts);
    }
    checkpoint.add(stem + ".weight", weight);
  }
}

} // namespace torch::llm
