// FakeProcessGroup: outputs are filled from this rank's inputs.
#include <csrc/distributed/c10d/FakeProcessGroup.h>

#include <aten/Functions.h>
#include <aten/core/jit_type.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>

namespace c10d {

using FakeTensors = std::vector<at::Tensor>;
using FakeLists = std::vector<FakeTensors>;
using FakeWorkPtr = c10::intrusive_ptr<Work>;

namespace {

void copy_values(const at::Tensor& output, const at::Tensor& input) {
  const c10::NoGradGuard no_grad;
  if (output.numel() == input.numel()) {
    output.copy_(input.reshape(output.sizes()));
  }
}

// Rank after rank, all with this rank's values.
void fill_parts(const at::Tensor& output, const at::Tensor& input, int size) {
  const c10::NoGradGuard no_grad;
  if (output.is_contiguous() && output.numel() == input.numel() * size && input.numel() > 0) {
    output.view({size, -1}).copy_(input.reshape({1, -1}).expand({size, input.numel()}));
  }
}

// This rank's part of the input.
void fill_part(const at::Tensor& output, const at::Tensor& input, int rank, int size) {
  if (input.numel() == output.numel() * size && output.numel() > 0) {
    copy_values(output, input.reshape({size, -1})[rank]);
  }
}

// Repeats the input, or cuts it off; zeros where there is none.
void fill_by_tiling(const at::Tensor& output, const at::Tensor& input) {
  if (input.numel() == 0) {
    output.zero_();
    return;
  }
  for (int64_t at = 0; at < output.numel(); at += input.numel()) {
    const int64_t count = std::min(input.numel(), output.numel() - at);
    output.narrow(0, at, count).copy_(input.narrow(0, 0, count));
  }
}

// The elements of a contiguous tensor that are for one rank, or from one: rows by the splits, or all alike.
at::Tensor split_of(const at::Tensor& tensor, const std::vector<int64_t>& splits, int64_t rank, int64_t size) {
  const at::Tensor flat = tensor.view({-1});
  if (splits.empty()) {
    const int64_t count = tensor.numel() / size;
    return flat.narrow(0, rank * count, count);
  }
  const int64_t row = tensor.dim() == 0 || tensor.size(0) == 0 ? 1 : tensor.numel() / tensor.size(0);
  const int64_t before = std::accumulate(splits.begin(), splits.begin() + rank, int64_t(0));
  return flat.narrow(0, before * row, splits[rank] * row);
}

void check_splits(const at::Tensor& tensor, const std::vector<int64_t>& splits, int64_t size) {
  const int64_t rows = tensor.dim() == 0 ? 0 : tensor.size(0);
  if (splits.empty()) {
    TORCH_CHECK(
        rows % size == 0, "FakeProcessGroup::all_to_all_single: Tensor's dim 0 (", rows,
        ") does not divide equally across group size ", size);
    return;
  }
  TORCH_CHECK(
      splits.size() == static_cast<size_t>(size) && std::accumulate(splits.begin(), splits.end(), int64_t(0)) == rows,
      "FakeProcessGroup::all_to_all_single: Split sizes doesn't match total dim 0 size: there must be one for each of ",
      size, " ranks, with the sum ", rows);
}

void scale_by_factor(const at::Tensor& tensor, const ReduceOp& op) {
  TORCH_CHECK_TYPE(
      tensor.is_floating_point() || tensor.is_complex(),
      "FakeProcessGroup: PREMUL_SUM requires a floating point or complex tensor, got ", tensor.scalar_type());
  const auto factor = c10::dynamic_intrusive_pointer_cast<PreMulSumSupplement>(op.supplement_);
  TORCH_CHECK_VALUE(factor, "FakeProcessGroup: PREMUL_SUM was given without its factor; use makePreMulSum");
  if (factor->tensor_factor.defined()) {
    tensor.mul_(factor->tensor_factor.to(tensor.device()));
  } else {
    tensor.mul_(factor->double_factor);
  }
}

} // namespace

FakeWork::FakeWork(FakeTensors result, int rank, OpType type) : Work(rank, type), result_(std::move(result)) {
  finish();
}

c10::intrusive_ptr<c10::ivalue::Future> FakeWork::getFuture() {
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  future->markCompleted(c10::IValue(result_));
  return future;
}

FakeProcessGroup::FakeProcessGroup(int rank, int size, c10::intrusive_ptr<Options> options)
    : Backend(rank, size), options_(std::move(options)) {
  TORCH_CHECK_VALUE(
      size > 0 && rank >= 0 && rank < size, "FakeProcessGroup: rank ", rank, " is not in the range [0, ", size, ")");
}

FakeWorkPtr FakeProcessGroup::done(OpType type, FakeTensors results) {
  ++number_;
  return c10::make_intrusive<FakeWork>(std::move(results), rank_, type);
}

void FakeProcessGroup::check_collective(const char* what) const {
  TORCH_CHECK(
      !options_ || !options_->error_on_collective, "FakeProcessGroup: ", what,
      " was called, which error_on_collective forbids");
}

void FakeProcessGroup::reduce_uniform(const FakeTensors& tensors, const ReduceOp& op) const {
  if (!uniform()) {
    return;
  }
  const c10::NoGradGuard no_grad;
  for (const auto& tensor : tensors) {
    const bool is_bool = tensor.scalar_type() == at::kBool; // true + true and true * true are true
    if (op.op_ == ReduceOp::PREMUL_SUM) {
      scale_by_factor(tensor, op);
      tensor.mul_(size_);
    } else if (op.op_ == ReduceOp::SUM && !is_bool) {
      tensor.mul_(size_);
    } else if (op.op_ == ReduceOp::PRODUCT && !is_bool) {
      tensor.pow_(size_);
    } else if (op.op_ == ReduceOp::BXOR && size_ % 2 == 0) {
      tensor.zero_();
    }
  }
}

c10::intrusive_ptr<Backend> FakeProcessGroup::split(
    const c10::intrusive_ptr<Store>&, const std::vector<int>& ranks, const c10::intrusive_ptr<Backend::Options>& opts) {
  const auto place = std::find(ranks.begin(), ranks.end(), rank_);
  if (place == ranks.end()) {
    return nullptr;
  }
  auto options = c10::dynamic_intrusive_pointer_cast<Options>(opts);
  TORCH_CHECK_TYPE(options, "FakeProcessGroup::split: the options must be a FakeProcessGroup::Options");
  return c10::make_intrusive<FakeProcessGroup>(
      static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()), std::move(options));
}

FakeWorkPtr FakeProcessGroup::broadcast(FakeTensors& tensors, const BroadcastOptions&) {
  check_collective("broadcast");
  return done(OpType::BROADCAST, tensors);
}
FakeWorkPtr FakeProcessGroup::allreduce(FakeTensors& tensors, const AllreduceOptions& opts) {
  check_collective("allreduce");
  reduce_uniform(tensors, opts.reduceOp);
  return done(OpType::ALLREDUCE, tensors);
}
FakeWorkPtr FakeProcessGroup::allreduce_sparse(FakeTensors& tensors, const AllreduceOptions& opts) {
  check_collective("allreduce_sparse");
  reduce_uniform(tensors, opts.reduceOp);
  return done(OpType::_ALLREDUCE_SPARSE, tensors);
}
FakeWorkPtr FakeProcessGroup::allreduce_coalesced(FakeTensors& tensors, const AllreduceCoalescedOptions& opts) {
  check_collective("allreduce_coalesced");
  reduce_uniform(tensors, opts.reduceOp);
  return done(OpType::ALLREDUCE_COALESCED, tensors);
}
FakeWorkPtr FakeProcessGroup::reduce(FakeTensors& tensors, const ReduceOptions& opts) {
  check_collective("reduce");
  if (rank_ == opts.rootRank) {
    reduce_uniform(tensors, opts.reduceOp);
  }
  return done(OpType::REDUCE, tensors);
}

FakeWorkPtr FakeProcessGroup::allgather(FakeLists& outputs, FakeTensors& inputs, const AllgatherOptions&) {
  check_collective("allgather");
  for (size_t i = 0; i < std::min(outputs.size(), inputs.size()); ++i) {
    for (const auto& output : outputs[i]) {
      copy_values(output, inputs[i]);
    }
  }
  return done(OpType::ALLGATHER, outputs.empty() ? FakeTensors() : outputs[0]);
}

FakeWorkPtr FakeProcessGroup::all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions&) {
  check_collective("all_gather_single");
  fill_parts(output, input, size_);
  return done(OpType::_ALLGATHER_BASE, {output});
}

FakeWorkPtr FakeProcessGroup::allgather_coalesced(FakeLists& lists, FakeTensors& inputs, const AllgatherOptions&) {
  check_collective("allgather_coalesced");
  for (const auto& list : lists) {
    for (size_t i = 0; i < std::min(list.size(), inputs.size()); ++i) {
      copy_values(list[i], inputs[i]);
    }
  }
  return done(OpType::ALLGATHER_COALESCED);
}

FakeWorkPtr FakeProcessGroup::all_gather_single_coalesced(
    FakeTensors& outputs, FakeTensors& inputs, const AllgatherOptions&) {
  check_collective("all_gather_single_coalesced");
  for (size_t i = 0; i < std::min(outputs.size(), inputs.size()); ++i) {
    fill_parts(outputs[i], inputs[i], size_);
  }
  return done(OpType::ALLGATHER_INTO_TENSOR_COALESCED, outputs);
}

FakeWorkPtr FakeProcessGroup::gather(FakeLists& outputs, FakeTensors& inputs, const GatherOptions&) {
  check_collective("gather");
  for (const auto& list : outputs) {
    for (const auto& output : list) {
      copy_values(output, inputs.at(0));
    }
  }
  return done(OpType::GATHER);
}

FakeWorkPtr FakeProcessGroup::scatter(FakeTensors& outputs, FakeLists& inputs, const ScatterOptions&) {
  check_collective("scatter");
  for (size_t i = 0; i < std::min(outputs.size(), inputs.size()); ++i) {
    if (inputs[i].size() == static_cast<size_t>(size_)) {
      copy_values(outputs[i], inputs[i][rank_]);
    }
  }
  return done(OpType::SCATTER, outputs);
}

FakeWorkPtr FakeProcessGroup::reduce_scatter(
    FakeTensors& outputs, FakeLists& inputs, const ReduceScatterOptions& opts) {
  check_collective("reduce_scatter");
  scatter(outputs, inputs, ScatterOptions());
  --number_;
  reduce_uniform(outputs, opts.reduceOp);
  return done(OpType::REDUCE_SCATTER, outputs);
}

FakeWorkPtr FakeProcessGroup::reduce_scatter_single(
    at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts) {
  check_collective("reduce_scatter_single");
  fill_part(output, input, rank_, size_);
  reduce_uniform({output}, opts.reduceOp);
  return done(OpType::_REDUCE_SCATTER_BASE, {output});
}

FakeWorkPtr FakeProcessGroup::reduce_scatter_single_coalesced(
    FakeTensors& outputs, FakeTensors& inputs, const ReduceScatterOptions& opts) {
  check_collective("reduce_scatter_single_coalesced");
  for (size_t i = 0; i < std::min(outputs.size(), inputs.size()); ++i) {
    fill_part(outputs[i], inputs[i], rank_, size_);
  }
  reduce_uniform(outputs, opts.reduceOp);
  return done(OpType::REDUCE_SCATTER_TENSOR_COALESCED, outputs);
}

FakeWorkPtr FakeProcessGroup::all_to_all_single(
    at::Tensor& output,
    at::Tensor& input,
    std::vector<int64_t>& output_split_sizes,
    std::vector<int64_t>& input_split_sizes,
    const AllToAllOptions&) {
  check_collective("all_to_all_single");
  if (!uniform()) {
    copy_values(output, input);
    return done(OpType::ALLTOALL_BASE, {output});
  }
  check_splits(input, input_split_sizes, size_);
  check_splits(output, output_split_sizes, size_);
  const c10::NoGradGuard no_grad;
  const at::Tensor mine = split_of(input.contiguous(), input_split_sizes, rank_, size_);
  for (int64_t rank = 0; rank < size_; ++rank) {
    fill_by_tiling(split_of(output, output_split_sizes, rank, size_), mine);
  }
  return done(OpType::ALLTOALL_BASE, {output});
}

FakeWorkPtr FakeProcessGroup::alltoall(FakeTensors& outputs, FakeTensors& inputs, const AllToAllOptions&) {
  check_collective("alltoall");
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < std::min(outputs.size(), inputs.size()); ++i) {
    if (uniform()) {
      fill_by_tiling(outputs[i].view({-1}), inputs.at(static_cast<size_t>(rank_)).reshape({-1}));
    } else {
      copy_values(outputs[i], inputs[i]);
    }
  }
  return done(OpType::ALLTOALL, outputs);
}

FakeWorkPtr FakeProcessGroup::send(FakeTensors&, int, int) {
  return done(OpType::SEND);
}
FakeWorkPtr FakeProcessGroup::recv(FakeTensors& tensors, int, int) {
  return done(OpType::RECV, tensors);
}
FakeWorkPtr FakeProcessGroup::recvAnysource(FakeTensors& tensors, int) {
  return done(OpType::RECVANYSOURCE, tensors);
}
FakeWorkPtr FakeProcessGroup::barrier(const BarrierOptions&) {
  check_collective("barrier");
  return done(OpType::BARRIER);
}
FakeWorkPtr FakeProcessGroup::endCoalescing() {
  check_collective("endCoalescing");
  return done(OpType::COALESCED);
}

} // namespace c10d
