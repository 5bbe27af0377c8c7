// Sequences of several lengths: padded to one, and packed without padding.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/functorch/level_values.h>
#include <c10/core/DeferredStorage.h>

#include <algorithm>
#include <vector>

namespace at::native {
namespace {

std::vector<int64_t> numbers(const char* op, const char* name, const Tensor& t) {
  TORCH_CHECK(
      t.is_cpu(), "'", name, "' argument should be a 1D CPU int64 tensor, but got a tensor on ", t.device(), " (in ",
      op, ")");
  TORCH_CHECK(
      t.dim() == 1 && t.scalar_type() == kLong, "'", name, "' argument should be a 1D CPU int64 tensor, but got ",
      t.dim(), "D ", t.device(), " ", t.scalar_type(), " tensor (in ", op, ")");
  const Tensor dense = functorch::same_in_all_samples(t, op, name).contiguous();
  c10::compute_storage(dense.storage());
  const int64_t* at = dense.const_data_ptr<int64_t>();
  return {at, at + dense.numel()};
}

} // namespace

std::tuple<Tensor, Tensor> _pack_padded_sequence(const Tensor& input_arg, const Tensor& lengths_arg, bool batch_first) {
  TORCH_CHECK(
      input_arg.dim() >= 2, "Expected an input of at least 2 dimensions, got ", input_arg.sizes(),
      " (in _pack_padded_sequence)");
  const Tensor input = batch_first ? input_arg.transpose(0, 1) : input_arg;
  const std::vector<int64_t> lengths = numbers("_pack_padded_sequence", "lengths", lengths_arg);
  const int64_t batch = input.size(1);
  TORCH_CHECK(input.numel() > 0, "Cannot pack empty tensors.");
  TORCH_CHECK(
      static_cast<int64_t>(lengths.size()) == batch, "Expected `len(lengths)` to be equal to batch_size, but got ",
      lengths.size(), " (batch_size=", batch, ")");
  for (size_t i = 0; i < lengths.size(); ++i) {
    TORCH_CHECK(
        lengths[i] > 0,
        "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0");
    TORCH_CHECK(
        i == 0 || lengths[i] <= lengths[i - 1],
        "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
        "`enforce_sorted=False` to "
        "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX "
        "exportability.");
  }
  TORCH_CHECK(
      lengths[0] <= input.size(0), "Expected lengths of at most ", input.size(0), ", the steps of the input, but got ",
      lengths[0], " (in _pack_padded_sequence)");
  // Steps with equally many sequences are copied together.
  const Tensor batch_sizes = at::empty({lengths[0]}, lengths_arg.options());
  int64_t* sizes = batch_sizes.mutable_data_ptr<int64_t>();
  std::vector<Tensor> steps;
  DimVector rows(input.sizes().begin() + 1, input.sizes().end());
  rows[0] = -1;
  int64_t done = 0;
  for (int64_t count = batch; count > 0; --count) {
    const int64_t until = lengths[count - 1];
    if (until == done) {
      continue;
    }
    std::fill(sizes + done, sizes + until, count);
    steps.push_back(input.slice(0, done, until).slice(1, 0, count).reshape(rows));
    done = until;
  }
  return {at::cat(steps, 0), batch_sizes};
}

Tensor _pack_padded_sequence_backward(
    const Tensor& grad, IntArrayRef input_size, const Tensor& batch_sizes, bool batch_first) {
  TORCH_CHECK(
      input_size.size() >= 2, "_pack_padded_sequence_backward: input_size must have at least 2 elements, got ",
      input_size);
  DimVector sizes(input_size.begin(), input_size.end());
  if (batch_first) {
    std::swap(sizes[0], sizes[1]);
  }
  const std::vector<int64_t> counts = numbers("_pack_padded_sequence_backward", "batch_sizes", batch_sizes);
  Tensor result = grad.new_zeros(sizes, grad.options()); // a batch if the gradient is one
  int64_t offset = 0;
  for (size_t t = 0; t < counts.size(); ++t) {
    result.select(0, static_cast<int64_t>(t)).slice(0, 0, counts[t]).copy_(grad.slice(0, offset, offset + counts[t]));
    offset += counts[t];
  }
  return batch_first ? result.transpose(0, 1) : result;
}

std::tuple<Tensor, Tensor> _pad_packed_sequence(
    const Tensor& data,
    const Tensor& batch_sizes,
    bool batch_first,
    const Scalar& padding_value,
    int64_t total_length) {
  const std::vector<int64_t> counts = numbers("_pad_packed_sequence", "batch_sizes", batch_sizes);
  TORCH_CHECK(
      !counts.empty() && data.dim() >= 1, "_pad_packed_sequence: expected at least one step, got batch_sizes of ",
      batch_sizes.sizes());
  int64_t rows = 0;
  for (size_t t = 0; t < counts.size(); ++t) {
    TORCH_CHECK(
        counts[t] > 0 && (t == 0 || counts[t] <= counts[t - 1]) && counts[t] <= data.size(0),
        "_pad_packed_sequence: batch_sizes must be positive and not grow, got ", counts[t], " at step ", t);
    rows += counts[t];
  }
  TORCH_CHECK(
      rows == data.size(0), "_pad_packed_sequence: batch_sizes add up to ", rows, ", but data has sizes ",
      data.sizes());
  const int64_t longest = static_cast<int64_t>(counts.size()), steps = total_length > 0 ? total_length : longest;
  TORCH_CHECK(
      steps >= longest,
      "Expected total_length to be at least the length of the longest sequence in input, but got total_length=",
      total_length, " and max sequence length being ", longest);
  DimVector sizes{steps, counts[0]};
  for (int64_t d = 1; d < data.dim(); ++d) {
    sizes.push_back(data.size(d));
  }
  const Tensor lengths = at::empty({counts[0]}, batch_sizes.options());
  int64_t* length = lengths.mutable_data_ptr<int64_t>();
  Tensor output = data.new_full(sizes, padding_value, data.options()); // a batch if the data are one
  int64_t offset = 0;
  for (int64_t t = 0; t < longest; ++t) {
    output.select(0, t).slice(0, 0, counts[t]).copy_(data.slice(0, offset, offset + counts[t]));
    std::fill(length, length + counts[t], t + 1);
    offset += counts[t];
  }
  return {batch_first ? output.transpose(0, 1) : output, lengths};
}

} // namespace at::native
