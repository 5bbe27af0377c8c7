// ProcessGroupNCCL: each operation as calls of NCCL. Lists of tensors are groups of calls, so nothing is copied.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/c10d/tensor_checks.h>
#include <csrc/distributed/plugins/nccl/NcclWork.h>
#include <csrc/distributed/plugins/nccl/call.h>

#include <numeric>

namespace c10d {

using detail::check_root;
using detail::moved_elements;
using detail::NcclCommunicator;
using detail::NcclElements;
using detail::NcclLibrary;
using detail::reducible_elements;
using WorkPtr = c10::intrusive_ptr<Work>;
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;

namespace {

void check_tensor(const char* what, const at::Tensor& tensor, const at::Tensor& like, int64_t numel) {
  TORCH_CHECK_VALUE(
      tensor.defined() && tensor.is_cuda() && tensor.layout() == at::kStrided, what,
      ": Tensors must be CUDA and dense, but got ",
      tensor.defined() ? c10::str("one on ", tensor.device(), " of layout ", tensor.layout()) : "an undefined one");
  TORCH_CHECK_VALUE(
      tensor.is_contiguous(), what, ": Tensors must be contiguous, but got sizes ", tensor.sizes(), " and strides ",
      tensor.strides());
  TORCH_CHECK_VALUE(
      tensor.scalar_type() == like.scalar_type(), what, ": Tensors must have identical type, but got ",
      like.scalar_type(), " and ", tensor.scalar_type());
  TORCH_CHECK_VALUE(
      tensor.device() == like.device(), what, ": Tensors must be on one device, but got ", like.device(), " and ",
      tensor.device());
  TORCH_CHECK_VALUE(
      tensor.numel() == numel, what, ": invalid tensor size (expected ", numel, " elements, got ", tensor.numel(), ")");
}

void check_single(const char* what, const Tensors& tensors) {
  TORCH_CHECK_VALUE(tensors.size() == 1, what, ": Expecting one tensor only but got ", tensors.size());
  check_tensor(what, tensors[0], tensors[0], tensors[0].numel());
}

// At least one, of one device.
void check_tensors(const char* what, const Tensors& tensors) {
  TORCH_CHECK_VALUE(!tensors.empty(), what, ": Tensor list must be nonempty");
  for (const auto& tensor : tensors) {
    check_tensor(what, tensor, tensors[0], tensor.numel());
  }
}

void check_each_rank(const char* what, const Lists& lists, const at::Tensor& like, int size) {
  TORCH_CHECK_VALUE(
      lists.size() == 1 && lists[0].size() == static_cast<size_t>(size), what,
      ": Tensor list must have a list with a tensor for each of ", size, " ranks");
  for (const auto& tensor : lists[0]) {
    check_tensor(what, tensor, like, tensor.numel());
  }
}

void check_lengths(const char* what, const Tensors& outputs, const Tensors& inputs) {
  TORCH_CHECK_VALUE(
      outputs.size() == inputs.size(), what, ": requires input/output tensor lists to have the same length, but got ",
      inputs.size(), " and ", outputs.size());
}

// Calls of NCCL that begin together; throws what goes wrong in any.
class Grouped {
 public:
  explicit Grouped(NcclCommunicator& on) : nccl_(NcclLibrary::get()), on_(on) {
    nccl_.check(nccl_.group_start(), "ncclGroupStart");
  }
  ~Grouped() {
    if (!ended_) {
      nccl_.group_end(); // a call has thrown
    }
  }
  Grouped(const Grouped&) = delete;
  Grouped& operator=(const Grouped&) = delete;

  void send(const at::Tensor& tensor, int to) const {
    send(tensor.data_ptr(), tensor.nbytes(), to);
  }
  void receive(const at::Tensor& tensor, int from) const {
    receive(tensor.data_ptr(), tensor.nbytes(), from);
  }
  void send(const void* data, size_t bytes, int to) const {
    if (bytes > 0) {
      nccl_.check(nccl_.send(data, bytes, ncclUint8, to, on_.get(), on_.stream()), "ncclSend", on_.get());
    }
  }
  void receive(void* data, size_t bytes, int from) const {
    if (bytes > 0) {
      nccl_.check(nccl_.recv(data, bytes, ncclUint8, from, on_.get(), on_.stream()), "ncclRecv", on_.get());
    }
  }
  void end() {
    ended_ = true;
    nccl_.check(nccl_.group_end(), "ncclGroupEnd", on_.get());
  }

 private:
  const NcclLibrary& nccl_;
  NcclCommunicator& on_;
  bool ended_ = false;
};

void all_reduce(NcclCommunicator& on, const char* what, const at::Tensor& tensor, const ReduceOp& op) {
  const NcclLibrary& nccl = NcclLibrary::get();
  const NcclElements elements = reducible_elements(what, tensor, op);
  const NcclCommunicator::Reduction reduction(on, what, op, tensor);
  nccl.check(
      nccl.all_reduce(
          tensor.data_ptr(), tensor.data_ptr(), elements.count, elements.type, reduction.get(), on.get(), on.stream()),
      "ncclAllReduce", on.get());
}

void reduce_to(NcclCommunicator& on, const char* what, const at::Tensor& from, void* to, const ReduceOp& op, int root) {
  const NcclLibrary& nccl = NcclLibrary::get();
  const NcclElements elements = reducible_elements(what, from, op);
  const NcclCommunicator::Reduction reduction(on, what, op, from);
  nccl.check(
      nccl.reduce(from.data_ptr(), to, elements.count, elements.type, reduction.get(), root, on.get(), on.stream()),
      "ncclReduce", on.get());
}

void broadcast_from(NcclCommunicator& on, const void* from, const at::Tensor& to, int root) {
  const NcclLibrary& nccl = NcclLibrary::get();
  const NcclElements elements = moved_elements(to);
  nccl.check(
      nccl.broadcast(from, to.data_ptr(), elements.count, elements.type, root, on.get(), on.stream()), "ncclBroadcast",
      on.get());
}

void gather_all(NcclCommunicator& on, const at::Tensor& output, const at::Tensor& input) {
  const NcclLibrary& nccl = NcclLibrary::get();
  const NcclElements elements = moved_elements(input);
  nccl.check(
      nccl.all_gather(input.data_ptr(), output.data_ptr(), elements.count, elements.type, on.get(), on.stream()),
      "ncclAllGather", on.get());
}

void scatter_sum(
    NcclCommunicator& on, const char* what, const at::Tensor& output, const at::Tensor& input, const ReduceOp& op) {
  const NcclLibrary& nccl = NcclLibrary::get();
  const NcclElements elements = reducible_elements(what, output, op);
  const NcclCommunicator::Reduction reduction(on, what, op, input);
  nccl.check(
      nccl.reduce_scatter(
          input.data_ptr(), output.data_ptr(), elements.count, elements.type, reduction.get(), on.get(), on.stream()),
      "ncclReduceScatter", on.get());
}

// What is refused has to be refused before anything is launched.
void check_reduction(const char* what, const Tensors& tensors, const ReduceOp& op) {
  for (const auto& tensor : tensors) {
    reducible_elements(what, tensor, op);
  }
}

} // namespace

WorkPtr ProcessGroupNCCL::broadcast(Tensors& tensors, const BroadcastOptions& opts) {
  check_single("broadcast", tensors);
  check_root("broadcast", opts.rootRank, size_);
  return launch(
      {OpType::BROADCAST, "broadcast", tensors, tensors, or_usual(opts.timeout), tensors[0].device()},
      [&](NcclCommunicator& on) {
        broadcast_from(on, tensors[0].data_ptr(), tensors[0], static_cast<int>(opts.rootRank));
      });
}

WorkPtr ProcessGroupNCCL::allreduce(Tensors& tensors, const AllreduceOptions& opts) {
  check_single("allreduce", tensors);
  check_reduction("allreduce", tensors, opts.reduceOp);
  return launch(
      {OpType::ALLREDUCE, "all_reduce", tensors, tensors, or_usual(opts.timeout), tensors[0].device()},
      [&](NcclCommunicator& on) { all_reduce(on, "allreduce", tensors[0], opts.reduceOp); });
}

WorkPtr ProcessGroupNCCL::allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions& opts) {
  check_tensors("allreduce_coalesced", tensors);
  check_reduction("allreduce_coalesced", tensors, opts.reduceOp);
  return launch(
      {OpType::ALLREDUCE_COALESCED, "all_reduce", tensors, tensors, or_usual(opts.timeout), tensors[0].device()},
      [&](NcclCommunicator& on) {
        Grouped calls(on);
        for (const auto& tensor : tensors) {
          all_reduce(on, "allreduce_coalesced", tensor, opts.reduceOp);
        }
        calls.end();
      });
}

WorkPtr ProcessGroupNCCL::reduce(Tensors& tensors, const ReduceOptions& opts) {
  check_single("reduce", tensors);
  check_root("reduce", opts.rootRank, size_);
  check_reduction("reduce", tensors, opts.reduceOp);
  return launch(
      {OpType::REDUCE, "reduce", tensors, tensors, or_usual(opts.timeout), tensors[0].device()},
      [&](NcclCommunicator& on) {
        reduce_to(on, "reduce", tensors[0], tensors[0].data_ptr(), opts.reduceOp, static_cast<int>(opts.rootRank));
      });
}

// Tensors of the ranks may have different sizes, which the receivers know.
WorkPtr ProcessGroupNCCL::allgather(Lists& outputs, Tensors& inputs, const AllgatherOptions& opts) {
  check_single("allgather", inputs);
  check_each_rank("allgather", outputs, inputs[0], size_);
  check_tensor("allgather", outputs[0][rank_], inputs[0], inputs[0].numel());
  return launch(
      {OpType::ALLGATHER, "all_gather", inputs, outputs[0], or_usual(opts.timeout), inputs[0].device()},
      [&](NcclCommunicator& on) {
        Grouped calls(on);
        for (int rank = 0; rank < size_; ++rank) {
          broadcast_from(
              on, rank == rank_ ? inputs[0].data_ptr() : outputs[0][rank].data_ptr(), outputs[0][rank], rank);
        }
        calls.end();
      });
}

WorkPtr ProcessGroupNCCL::all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions& opts) {
  check_single("all_gather_single", {input});
  check_tensor("all_gather_single", output, input, input.numel() * size_);
  return launch(
      {OpType::_ALLGATHER_BASE, "_all_gather_base", {input}, {output}, or_usual(opts.timeout), input.device()},
      [&](NcclCommunicator& on) { gather_all(on, output, input); });
}

WorkPtr ProcessGroupNCCL::all_gather_single_coalesced(Tensors& outputs, Tensors& inputs, const AllgatherOptions& opts) {
  const char* what = "all_gather_single_coalesced";
  check_tensors(what, inputs);
  check_lengths(what, outputs, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_tensor(what, outputs[i], inputs[i], inputs[i].numel() * size_);
  }
  return launch(
      {OpType::ALLGATHER_INTO_TENSOR_COALESCED, "all_gather", inputs, outputs, or_usual(opts.timeout),
       inputs[0].device()},
      [&](NcclCommunicator& on) {
        Grouped calls(on);
        for (size_t i = 0; i < inputs.size(); ++i) {
          gather_all(on, outputs[i], inputs[i]);
        }
        calls.end();
      });
}

WorkPtr ProcessGroupNCCL::gather(Lists& outputs, Tensors& inputs, const GatherOptions& opts) {
  check_single("gather", inputs);
  check_root("gather", opts.rootRank, size_);
  const int root = static_cast<int>(opts.rootRank);
  if (rank_ == root) {
    check_each_rank("gather", outputs, inputs[0], size_);
  } else {
    TORCH_CHECK_VALUE(outputs.empty(), "gather: requires empty output on non-root");
  }
  const Tensors list = rank_ == root ? outputs[0] : Tensors();
  return launch(
      {OpType::GATHER, "gather", inputs, list, or_usual(opts.timeout), inputs[0].device()}, [&](NcclCommunicator& on) {
        Grouped calls(on);
        calls.send(inputs[0], root);
        for (size_t rank = 0; rank < list.size(); ++rank) {
          calls.receive(list[rank], static_cast<int>(rank));
        }
        calls.end();
      });
}

WorkPtr ProcessGroupNCCL::scatter(Tensors& outputs, Lists& inputs, const ScatterOptions& opts) {
  check_single("scatter", outputs);
  check_root("scatter", opts.rootRank, size_);
  const int root = static_cast<int>(opts.rootRank);
  if (rank_ == root) {
    check_each_rank("scatter", inputs, outputs[0], size_);
  } else {
    TORCH_CHECK_VALUE(inputs.empty(), "scatter: requires empty input on non-root");
  }
  const Tensors list = rank_ == root ? inputs[0] : Tensors();
  return launch(
      {OpType::SCATTER, "scatter", list, outputs, or_usual(opts.timeout), outputs[0].device()},
      [&](NcclCommunicator& on) {
        Grouped calls(on);
        for (size_t rank = 0; rank < list.size(); ++rank) {
          calls.send(list[rank], static_cast<int>(rank));
        }
        calls.receive(outputs[0], root);
        calls.end();
      });
}

WorkPtr ProcessGroupNCCL::reduce_scatter(Tensors& outputs, Lists& inputs, const ReduceScatterOptions& opts) {
  check_single("reduce_scatter", outputs);
  check_each_rank("reduce_scatter", inputs, outputs[0], size_);
  check_tensor("reduce_scatter", inputs[0][rank_], outputs[0], outputs[0].numel());
  check_reduction("reduce_scatter", inputs[0], opts.reduceOp);
  return launch(
      {OpType::REDUCE_SCATTER, "reduce_scatter", inputs[0], outputs, or_usual(opts.timeout), outputs[0].device()},
      [&](NcclCommunicator& on) {
        Grouped calls(on);
        for (int rank = 0; rank < size_; ++rank) {
          void* to = rank == rank_ ? outputs[0].data_ptr() : inputs[0][rank].data_ptr(); // written on the root alone
          reduce_to(on, "reduce_scatter", inputs[0][rank], to, opts.reduceOp, rank);
        }
        calls.end();
      });
}

WorkPtr ProcessGroupNCCL::reduce_scatter_single(
    at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts) {
  check_single("reduce_scatter_single", {output});
  check_tensor("reduce_scatter_single", input, output, output.numel() * size_);
  check_reduction("reduce_scatter_single", {input}, opts.reduceOp);
  return launch(
      {OpType::_REDUCE_SCATTER_BASE,
       "_reduce_scatter_base",
       {input},
       {output},
       or_usual(opts.timeout),
       output.device()},
      [&](NcclCommunicator& on) { scatter_sum(on, "reduce_scatter_single", output, input, opts.reduceOp); });
}

WorkPtr ProcessGroupNCCL::reduce_scatter_single_coalesced(
    Tensors& outputs, Tensors& inputs, const ReduceScatterOptions& opts) {
  const char* what = "reduce_scatter_single_coalesced";
  check_tensors(what, outputs);
  check_lengths(what, outputs, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_tensor(what, inputs[i], outputs[i], outputs[i].numel() * size_);
  }
  check_reduction(what, inputs, opts.reduceOp);
  return launch(
      {OpType::REDUCE_SCATTER_TENSOR_COALESCED, "reduce_scatter", inputs, outputs, or_usual(opts.timeout),
       outputs[0].device()},
      [&](NcclCommunicator& on) {
        Grouped calls(on);
        for (size_t i = 0; i < inputs.size(); ++i) {
          scatter_sum(on, what, outputs[i], inputs[i], opts.reduceOp);
        }
        calls.end();
      });
}

WorkPtr ProcessGroupNCCL::all_to_all_single(
    at::Tensor& output,
    at::Tensor& input,
    std::vector<int64_t>& output_split_sizes,
    std::vector<int64_t>& input_split_sizes,
    const AllToAllOptions& opts) {
  check_single("all_to_all_single", {input});
  check_tensor("all_to_all_single", output, input, output.numel());
  const auto in = detail::split_bytes("input", input_split_sizes, input, size_);
  const auto out = detail::split_bytes("output", output_split_sizes, output, size_);
  return launch(
      {OpType::ALLTOALL_BASE, "all_to_all", {input}, {output}, or_usual(opts.timeout), input.device()},
      [&](NcclCommunicator& on) {
        Grouped calls(on);
        const char* from = static_cast<const char*>(input.data_ptr());
        char* to = static_cast<char*>(output.data_ptr());
        for (int rank = 0; rank < size_; ++rank) {
          calls.send(from, in[rank], rank);
          calls.receive(to, out[rank], rank);
          from += in[rank];
          to += out[rank];
        }
        calls.end();
      });
}

WorkPtr ProcessGroupNCCL::alltoall(Tensors& outputs, Tensors& inputs, const AllToAllOptions& opts) {
  check_each_rank("alltoall", {inputs}, inputs.empty() ? at::Tensor() : inputs[0], size_);
  check_each_rank("alltoall", {outputs}, inputs[0], size_);
  return launch(
      {OpType::ALLTOALL, "all_to_all", inputs, outputs, or_usual(opts.timeout), inputs[0].device()},
      [&](NcclCommunicator& on) {
        Grouped calls(on);
        for (int rank = 0; rank < size_; ++rank) {
          calls.send(inputs[rank], rank);
          calls.receive(outputs[rank], rank);
        }
        calls.end();
      });
}

WorkPtr ProcessGroupNCCL::barrier(const BarrierOptions& opts) {
  const at::Device device = device_of_barrier(opts);
  return launch({OpType::BARRIER, "barrier", {}, {}, or_usual(opts.timeout), device}, [&](NcclCommunicator& on) {
    const NcclLibrary& nccl = NcclLibrary::get();
    // A number that nobody looks at; the allocator gives its memory to others only behind this stream.
    void* number = c10::cuda::CUDACachingAllocator::raw_alloc_with_stream(sizeof(float), on.stream());
    const ncclResult_t result = nccl.all_reduce(number, number, 1, ncclFloat32, ncclSum, on.get(), on.stream());
    c10::cuda::CUDACachingAllocator::raw_delete(number);
    nccl.check(result, "ncclAllReduce", on.get());
  });
}

WorkPtr ProcessGroupNCCL::message(Tensors& tensors, int peer, bool sends) {
  const char* what = sends ? "send" : "recv";
  check_single(what, tensors);
  check_root(what, peer, size_);
  TORCH_CHECK_VALUE(peer != rank_, what, ": rank ", rank_, " cannot exchange messages with itself");
  watch_->check_usable(what);
  const at::Device device = tensors[0].device();
  // In a group of calls, as those of batch_isend_irecv, messages go by the communicator of all.
  const CommunicatorPtr on = coalescing_ ? communicator(device) : channel(device, peer, sends);
  const int place = coalescing_ ? peer : (sends ? 1 : 0);
  return launch(
      {sends ? OpType::SEND : OpType::RECV, what, tensors, tensors, options_->timeout, device, on},
      [&](NcclCommunicator& channel) {
        Grouped calls(channel);
        sends ? calls.send(tensors[0], place) : calls.receive(tensors[0], place);
        calls.end();
      });
}

WorkPtr ProcessGroupNCCL::send(Tensors& tensors, int dst_rank, int) {
  return message(tensors, dst_rank, true);
}

WorkPtr ProcessGroupNCCL::recv(Tensors& tensors, int src_rank, int) {
  return message(tensors, src_rank, false);
}

} // namespace c10d
