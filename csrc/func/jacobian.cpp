#include <csrc/func/jacobian.h>

#include <aten/Functions.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::func::detail {

namespace {

c10::DimVector joined_sizes(at::IntArrayRef first, at::IntArrayRef second) {
  c10::DimVector sizes(first.begin(), first.end());
  sizes.append(second.begin(), second.end());
  return sizes;
}

} // namespace

namespace {

/// The derivatives in the directions of some unit vectors, along the last dimension.
std::vector<at::Tensor> columns_for(
    const std::vector<at::Tensor>& inputs,
    const std::vector<at::Tensor>& directions,
    int64_t count,
    const std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>& function) {
  const at::functorch::HiddenVmapLevel batch(count);
  std::vector<at::Tensor> tangents;
  for (const at::Tensor& direction : directions) {
    tangents.push_back(at::functorch::makeBatched(direction, 0, batch.level()));
  }
  const ForwardPass pass(inputs, tangents, "jacfwd");
  std::vector<at::Tensor> columns;
  for (const at::Tensor& tangent : pass.tangents(function(pass.duals()))) {
    const auto [value, bdim] = at::functorch::unwrapTensorAtLevel(tangent, batch.level()->number);
    columns.push_back(
        bdim ? value.movedim(*bdim, -1) : value.unsqueeze(-1).expand(joined_sizes(value.sizes(), {count})));
  }
  return columns;
}

} // namespace

std::vector<at::Tensor> columns_of_jacobian(
    const std::vector<at::Tensor>& inputs,
    const std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>& function,
    std::optional<int64_t> chunk_size) {
  TORCH_CHECK_VALUE(
      !chunk_size || *chunk_size > 0, "jacfwd: chunk_size should be None or greater than 0. (got ",
      chunk_size.value_or(0), ")");
  TORCH_CHECK(!inputs.empty(), "jacfwd: there is no tensor to differentiate with respect to");
  const std::vector<at::Tensor> units = unit_vectors(inputs);
  const int64_t total = units[0].size(0), step = std::max<int64_t>(chunk_size.value_or(total), 1);
  std::vector<std::vector<at::Tensor>> chunks; // by output
  for (int64_t first = 0; first == 0 || first < total; first += step) {
    const int64_t count = std::min(step, total - first);
    std::vector<at::Tensor> directions;
    for (const at::Tensor& unit : units) {
      directions.push_back(unit.narrow(0, first, count));
    }
    const std::vector<at::Tensor> columns = columns_for(inputs, directions, count, function);
    chunks.resize(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      chunks[i].push_back(columns[i]);
    }
  }
  std::vector<at::Tensor> all;
  for (const std::vector<at::Tensor>& of_output : chunks) {
    all.push_back(of_output.size() == 1 ? of_output[0] : at::cat(of_output, -1));
  }
  return all;
}

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
