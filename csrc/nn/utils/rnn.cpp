#include <csrc/nn/utils/rnn.h>

#include <aten/Functions.h>
#include <aten/core/tensor_literal.h>
#include <c10/util/Exception.h>

namespace torch::nn::utils::rnn {

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) {
    return Tensor();
  }
  Tensor inverse = at::empty_like(permutation, at::MemoryFormat::Contiguous);
  return inverse.scatter_(0, permutation, at::arange(permutation.numel(), permutation.options()));
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices, Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(
          unsorted_indices.defined() ? std::move(unsorted_indices) : invert_permutation(sorted_indices_)) {
  TORCH_CHECK(
      batch_sizes_.device().type() == kCPU,
      "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They should "
      "be "
      "instantiated by functions like pack_sequence and pack_padded_sequences in nn::utils::rnn.");
}

PackedSequence PackedSequence::pin_memory() const {
  const auto pinned = [](const Tensor& tensor) { return tensor.defined() ? tensor.pin_memory() : tensor; };
  return PackedSequence(data_.pin_memory(), batch_sizes_, pinned(sorted_indices_), pinned(unsorted_indices_));
}

PackedSequence PackedSequence::to(TensorOptions options) const {
  Tensor data = data_.to(options);
  if (data.is_same(data_)) {
    return *this;
  }
  const auto moved = [&](const Tensor& tensor) { return tensor.defined() ? tensor.to(data.device()) : tensor; };
  return PackedSequence(data, batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first, bool enforce_sorted) {
  lengths = lengths.to(kLong);
  Tensor sorted_indices;
  if (!enforce_sorted) {
    std::tie(lengths, sorted_indices) = at::sort(lengths, /*dim=*/-1, /*descending=*/true);
    sorted_indices = sorted_indices.to(input.device());
    input = input.index_select(batch_first ? 0 : 1, sorted_indices);
  }
  auto [data, batch_sizes] = at::_pack_padded_sequence(input, lengths, batch_first);
  return PackedSequence(std::move(data), std::move(batch_sizes), std::move(sorted_indices));
}

std::tuple<Tensor, Tensor> pad_packed_sequence(
    const PackedSequence& sequence, bool batch_first, double padding_value, std::optional<int64_t> total_length) {
  const int64_t longest = sequence.batch_sizes().size(0);
  TORCH_CHECK(
      !total_length || *total_length >= longest,
      "Expected total_length to be at least the length of the longest sequence in input, but got total_length=",
      total_length.value_or(longest), " and max sequence length being ", longest);
  auto [padded, lengths] = at::_pad_packed_sequence(
      sequence.data(), sequence.batch_sizes(), batch_first, padding_value, total_length.value_or(longest));
  const Tensor& order = sequence.unsorted_indices();
  if (!order.defined()) {
    return {padded, lengths};
  }
  return {padded.index_select(batch_first ? 0 : 1, order), lengths.index_select(0, order.cpu())};
}

Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first, double padding_value, std::string_view padding_side) {
  return at::pad_sequence(sequences, batch_first, padding_value, padding_side);
}

std::vector<Tensor> unpad_sequence(const Tensor& padded, const Tensor& lengths, bool batch_first) {
  const Tensor batch = batch_first ? padded : padded.transpose(0, 1);
  TORCH_CHECK(
      lengths.dim() == 1 && lengths.size(0) == batch.size(0), "unpad_sequence: lengths has sizes ", lengths.sizes(),
      ", but must have one element for each of the ", batch.size(0), " sequences");
  std::vector<Tensor> sequences;
  for (int64_t i = 0; i < batch.size(0); ++i) {
    sequences.push_back(batch.select(0, i).narrow(0, 0, lengths.select(0, i).item<int64_t>()));
  }
  return sequences;
}

PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted) {
  std::vector<int64_t> lengths;
  for (const Tensor& sequence : sequences) {
    lengths.push_back(sequence.size(0));
  }
  return pack_padded_sequence(at::pad_sequence(sequences), at::tensor(lengths), /*batch_first=*/false, enforce_sorted);
}

std::vector<Tensor> unpack_sequence(const PackedSequence& sequence) {
  const auto [padded, lengths] = pad_packed_sequence(sequence, /*batch_first=*/true);
  return unpad_sequence(padded, lengths, /*batch_first=*/true);
}

} // namespace torch::nn::utils::rnn
