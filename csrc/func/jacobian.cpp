#include <csrc/func/jacobian.h>

#include <aten/Functions.h>
#include <c10/util/DimVector.h>

namespace torch::func::detail {

namespace {

c10::DimVector joined_sizes(at::IntArrayRef first, at::IntArrayRef second) {
  c10::DimVector sizes(first.begin(), first.end());
  sizes.append(second.begin(), second.end());
  return sizes;
}

} // namespace

std::vector<at::Tensor> unit_vectors(const std::vector<at::Tensor>& like) {
  int64_t total = 0;
  for (const at::Tensor& tensor : like) {
    total += tensor.numel();
  }
  std::vector<at::Tensor> parts;
  int64_t first = 0;
  for (const at::Tensor& tensor : like) {
    const at::Tensor part = at::zeros({total, tensor.numel()}, tensor.options());
    if (tensor.numel() != 0) {
      part.diagonal(-first).fill_(1);
    }
    parts.push_back(part.view(joined_sizes({total}, tensor.sizes())));
    first += tensor.numel();
  }
  return parts;
}

std::vector<std::vector<at::Tensor>> blocks_of_rows(
    const std::vector<at::Tensor>& by_input, const std::vector<at::Tensor>& outputs) {
  std::vector<std::vector<at::Tensor>> blocks;
  int64_t first = 0;
  for (const at::Tensor& output : outputs) {
    std::vector<at::Tensor>& row = blocks.emplace_back();
    for (const at::Tensor& rows : by_input) {
      row.push_back(rows.narrow(0, first, output.numel()).reshape(joined_sizes(output.sizes(), rows.sizes().slice(1))));
    }
    first += output.numel();
  }
  return blocks;
}

std::vector<std::vector<at::Tensor>> blocks_of_columns(
    const std::vector<at::Tensor>& by_output, const std::vector<at::Tensor>& inputs) {
  std::vector<std::vector<at::Tensor>> blocks;
  for (const at::Tensor& columns : by_output) {
    std::vector<at::Tensor>& row = blocks.emplace_back();
    int64_t first = 0;
    for (const at::Tensor& input : inputs) {
      const at::IntArrayRef output_sizes = columns.sizes().slice(0, columns.sizes().size() - 1);
      row.push_back(columns.narrow(-1, first, input.numel()).reshape(joined_sizes(output_sizes, input.sizes())));
      first += input.numel();
    }
  }
  return blocks;
}

} // namespace torch::func::detail
