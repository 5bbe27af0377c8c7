// FakeProcessGroup: outputs are filled from this rank's inputs.
#include <csrc/distributed/c10d/FakeProcessGroup.h>

#include <aten/Functions.h>
#include <aten/core/jit_type.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace c10d {

using FakeTensors = std::vector<at::Tensor>;
using FakeLists = std::vector<FakeTensors>;
using FakeWorkPtr = c10::intrusive_ptr<Work>;

namespace {

class DoneWork : public Work {
 public:
  DoneWork(int rank, OpType type, FakeTensors results) : Work(rank, type), results_(std::move(results)) {
    finish();
  }
  std::vector<at::Tensor> result() override {
    return results_;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    future->markCompleted(c10::IValue(results_));
    return future;
  }

 private:
  FakeTensors results_;
};

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

} // namespace

FakeProcessGroup::FakeProcessGroup(int rank, int size, c10::intrusive_ptr<Backend::Options> options)
    : Backend(rank, size), options_(std::move(options)) {
  TORCH_CHECK_VALUE(
      size > 0 && rank >= 0 && rank < size, "FakeProcessGroup: rank ", rank, " is not in the range [0, ", size, ")");
}

FakeWorkPtr FakeProcessGroup::done(OpType type, FakeTensors results) {
  ++number_;
  return c10::make_intrusive<DoneWork>(rank_, type, std::move(results));
}

c10::intrusive_ptr<Backend> FakeProcessGroup::split(
    const c10::intrusive_ptr<Store>&, const std::vector<int>& ranks, const c10::intrusive_ptr<Backend::Options>& opts) {
  const auto place = std::find(ranks.begin(), ranks.end(), rank_);
  TORCH_CHECK_VALUE(place != ranks.end(), "FakeProcessGroup::split: rank ", rank_, " is not among the ranks");
  return c10::make_intrusive<FakeProcessGroup>(
      static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()), opts);
}

FakeWorkPtr FakeProcessGroup::broadcast(FakeTensors& tensors, const BroadcastOptions&) {
  return done(OpType::BROADCAST, tensors);
}
FakeWorkPtr FakeProcessGroup::allreduce(FakeTensors& tensors, const AllreduceOptions&) {
  return done(OpType::ALLREDUCE, tensors);
}
FakeWorkPtr FakeProcessGroup::allreduce_sparse(FakeTensors& tensors, const AllreduceOptions&) {
  return done(OpType::_ALLREDUCE_SPARSE, tensors);
}
FakeWorkPtr FakeProcessGroup::allreduce_coalesced(FakeTensors& tensors, const AllreduceCoalescedOptions&) {
  return done(OpType::ALLREDUCE_COALESCED, tensors);
}
FakeWorkPtr FakeProcessGroup::reduce(FakeTensors& tensors, const ReduceOptions&) {
  return done(OpType::REDUCE, tensors);
}

FakeWorkPtr FakeProcessGroup::allgather(FakeLists& outputs, FakeTensors& inputs, const AllgatherOptions&) {
  for (size_t i = 0; i < std::min(outputs.size(), inputs.size()); ++i) {
    for (const auto& output : outputs[i]) {
      copy_values(output, inputs[i]);
    }
  }
  return done(OpType::ALLGATHER, outputs.empty() ? FakeTensors() : outputs[0]);
}

FakeWorkPtr FakeProcessGroup::all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions&) {
  fill_parts(output, input, size_);
  return done(OpType::_ALLGATHER_BASE, {output});
}

FakeWorkPtr FakeProcessGroup::allgather_coalesced(FakeLists& lists, FakeTensors& inputs, const AllgatherOptions&) {
  for (const auto& list : lists) {
    for (size_t i = 0; i < std::min(list.size(), inputs.size()); ++i) {
      copy_values(list[i], inputs[i]);
    }
  }
  return done(OpType::ALLGATHER_COALESCED);
}

FakeWorkPtr FakeProcessGroup::all_gather_single_coalesced(
    FakeTensors& outputs, FakeTensors& inputs, const AllgatherOptions&) {
  for (size_t i = 0; i < std::min(outputs.size(), inputs.size()); ++i) {
    fill_parts(outputs[i], inputs[i], size_);
  }
  return done(OpType::ALLGATHER_INTO_TENSOR_COALESCED, outputs);
}

FakeWorkPtr FakeProcessGroup::gather(FakeLists& outputs, FakeTensors& inputs, const GatherOptions&) {
  for (const auto& list : outputs) {
    for (const auto& output : list) {
      copy_values(output, inputs.at(0));
    }
  }
  return done(OpType::GATHER);
}

FakeWorkPtr FakeProcessGroup::scatter(FakeTensors& outputs, FakeLists& inputs, const ScatterOptions&) {
  for (size_t i = 0; i < std::min(outputs.size(), inputs.size()); ++i) {
    if (inputs[i].size() == static_cast<size_t>(size_)) {
      copy_values(outputs[i], inputs[i][rank_]);
    }
  }
  return done(OpType::SCATTER, outputs);
}

FakeWorkPtr FakeProcessGroup::reduce_scatter(FakeTensors& outputs, FakeLists& inputs, const ReduceScatterOptions&) {
  scatter(outputs, inputs, ScatterOptions());
  --number_;
  return done(OpType::REDUCE_SCATTER, outputs);
}

FakeWorkPtr FakeProcessGroup::reduce_scatter_single(
    at::Tensor& output, at::Tensor& input, const ReduceScatterOptions&) {
  fill_part(output, input, rank_, size_);
  return done(OpType::_REDUCE_SCATTER_BASE, {output});
}

FakeWorkPtr FakeProcessGroup::reduce_scatter_single_coalesced(
    FakeTensors& outputs, FakeTensors& inputs, const ReduceScatterOptions&) {
  for (size_t i = 0; i < std::min(outputs.size(), inputs.size()); ++i) {
    fill_part(outputs[i], inputs[i], rank_, size_);
  }
  return done(OpType::REDUCE_SCATTER_TENSOR_COALESCED, outputs);
}

FakeWorkPtr FakeProcessGroup::all_to_all_single(
    at::Tensor& output, at::Tensor& input, std::vector<int64_t>&, std::vector<int64_t>&, const AllToAllOptions&) {
  copy_values(output, input);
  return done(OpType::ALLTOALL_BASE, {output});
}

FakeWorkPtr FakeProcessGroup::alltoall(FakeTensors& outputs, FakeTensors& inputs, const AllToAllOptions&) {
  for (size_t i = 0; i < std::min(outputs.size(), inputs.size()); ++i) {
    copy_values(outputs[i], inputs[i]);
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
  return done(OpType::BARRIER);
}
FakeWorkPtr FakeProcessGroup::endCoalescing() {
  return done(OpType::COALESCED);
}

} // namespace c10d
