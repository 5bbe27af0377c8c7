// ProcessGroupShm: tensors as bytes, and the checks of what is passed.
#include <csrc/distributed/c10d/ProcessGroupShm.h>

#include <aten/Functions.h>
#include <aten/core/from_blob.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/c10d/ShmGroup.h>
#include <csrc/distributed/c10d/ShmMessageWork.h>
#include <csrc/distributed/c10d/tensor_checks.h>
#include <csrc/distributed/engine/reduce.h>

#include <numeric>

namespace c10d {

using detail::check_exchange;
using detail::check_like;
using detail::check_list;
using detail::check_list_each;
using detail::check_list_of_root;
using detail::check_lists;
using detail::check_message;
using detail::check_pairs;
using detail::check_root;
using detail::check_same_width;
using detail::check_single;
using detail::check_tensor;
using detail::Collective;
using detail::Dense;
using detail::Reduction;
using detail::ShmEngine;
using detail::ShmGroup;
using detail::ShmMessageWork;
using detail::ShmWork;
using detail::split_bytes;
using detail::timeout_or;
using WorkPtr = c10::intrusive_ptr<Work>;
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;

namespace {

constexpr size_t kPromptBytes = 64 << 10;

std::vector<Dense> dense(const Tensors& tensors, bool read = true) {
  std::vector<Dense> all;
  for (const auto& tensor : tensors) {
    all.emplace_back(tensor, read);
  }
  return all;
}

std::vector<const char*> read_pointers(const std::vector<Dense>& all) {
  std::vector<const char*> pointers;
  for (const auto& one : all) {
    pointers.push_back(one.data());
  }
  return pointers;
}

std::vector<char*> write_pointers(const std::vector<Dense>& all) {
  std::vector<char*> pointers;
  for (const auto& one : all) {
    pointers.push_back(one.data());
  }
  return pointers;
}

void write_back(const std::vector<Dense>& all) {
  for (const auto& one : all) {
    one.write_back();
  }
}

// Parts of one tensor, rank after rank.
template <class P>
std::vector<P> parts(P begin, size_t bytes, int size) {
  std::vector<P> all;
  for (int rank = 0; rank < size; ++rank) {
    all.push_back(begin + rank * bytes);
  }
  return all;
}

Collective about(const Collective& call, const at::Tensor& tensor, int64_t numel) {
  Collective full = call;
  full.dtype = tensor.scalar_type();
  full.numel = numel;
  return full;
}

size_t bytes_of(const Tensors& tensors) {
  size_t bytes = 0;
  for (const auto& tensor : tensors) {
    bytes += tensor.defined() ? tensor.nbytes() : 0;
  }
  return bytes;
}

// Puts a collective into the group's queue.
class Launch {
 public:
  Launch(const std::shared_ptr<ShmGroup>& group, OpType type, const char* title, std::chrono::milliseconds timeout)
      : group_(group), type_(type), title_(title), timeout_(timeout) {}

  WorkPtr operator()(Tensors inputs, Tensors outputs, ShmWork::Body body) const {
    TORCH_CHECK(group_ != nullptr, "ProcessGroupShm has been shut down");
    const bool prompt = bytes_of(inputs) + bytes_of(outputs) > kPromptBytes;
    auto work = c10::make_intrusive<ShmWork>(
        group_, type_, title_, std::move(inputs), std::move(outputs), timeout_, std::move(body));
    group_->queue().enqueue(work, prompt);
    return work;
  }

 private:
  const std::shared_ptr<ShmGroup>& group_;
  OpType type_;
  const char* title_;
  std::chrono::milliseconds timeout_;
};

} // namespace

ProcessGroupShm::ProcessGroupShm(
    const c10::intrusive_ptr<Store>& store, int rank, int size, c10::intrusive_ptr<Options> options)
    : Backend(rank, size), options_(std::move(options)), store_(store) {
  TORCH_CHECK_VALUE(store && options_, "ProcessGroupShm: the store and the options must not be null");
  group_ = std::make_shared<ShmGroup>(*store, rank, size, *options_);
}

ProcessGroupShm::~ProcessGroupShm() {
  shutdown();
}

const std::string ProcessGroupShm::getBackendName() const {
  return options_->backend;
}

c10::intrusive_ptr<Backend::Options> ProcessGroupShm::getBackendOptions() {
  return options_;
}

c10::intrusive_ptr<Backend> ProcessGroupShm::split(
    const c10::intrusive_ptr<Store>& store,
    const std::vector<int>& ranks,
    const c10::intrusive_ptr<Backend::Options>& opts) {
  const auto place = std::find(ranks.begin(), ranks.end(), rank_);
  TORCH_CHECK_VALUE(place != ranks.end(), "ProcessGroupShm::split: rank ", rank_, " is not among the ranks");
  return merge(store, opts, static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()));
}

c10::intrusive_ptr<Backend> ProcessGroupShm::merge(
    const c10::intrusive_ptr<Store>& store,
    const c10::intrusive_ptr<Backend::Options>& opts,
    const int& rank,
    const int& size) {
  auto options = c10::make_intrusive<Options>(options_->backend, opts->timeout);
  options->synchronous_sends = options_->synchronous_sends;
  options->group_name = opts->group_name;
  options->group_desc = opts->group_desc;
  options->global_ranks_in_group = opts->global_ranks_in_group;
  return c10::make_intrusive<ProcessGroupShm>(store, rank, size, options);
}

void ProcessGroupShm::setTimeout(std::chrono::milliseconds timeout) {
  options_->timeout = timeout;
}

uint64_t ProcessGroupShm::getSequenceNumberForGroup() {
  return group_ ? group_->engine().number() : 0;
}

ErrorType ProcessGroupShm::getError() {
  return group_ && group_->segment().failure() ? ErrorType::COMM_ERROR : ErrorType::SUCCESS;
}

void ProcessGroupShm::registerAbortHook(int64_t hook_id, AbortHook hook) {
  TORCH_CHECK(group_ != nullptr, "ProcessGroupShm has been shut down");
  group_->record()->add_abort_hook(hook_id, std::move(hook));
}

void ProcessGroupShm::unregisterAbortHook(int64_t hook_id) {
  if (group_) {
    group_->record()->remove_abort_hook(hook_id);
  }
}

void ProcessGroupShm::abort() {
  if (group_) {
    group_->record()->on_failure();
    group_->segment().report_failure(c10::str("rank ", rank_, " has aborted the group"));
    shutdown();
  }
}

void ProcessGroupShm::shutdown() {
  if (group_) {
    group_->stop();
    group_.reset();
  }
}

at::Tensor ProcessGroupShm::allocateTensor(long size, at::TensorOptions options) {
  TORCH_CHECK_VALUE(size >= 0, "allocateTensor: size must not be negative, but got ", size);
  TORCH_CHECK_VALUE(options.device().is_cpu(), "allocateTensor: only CPU tensors, but got ", options.device());
  TORCH_CHECK(group_ != nullptr, "ProcessGroupShm has been shut down");
  const auto dtype = c10::typeMetaToScalarType(options.dtype());
  auto group = group_;
  void* memory = group->segment().heap_allocate(static_cast<size_t>(size) * c10::elementSize(dtype));
  return at::from_blob(
      memory, {size}, [group](void* data) { group->segment().heap_free(data); }, at::TensorOptions(dtype));
}

WorkPtr ProcessGroupShm::broadcast(Tensors& tensors, const BroadcastOptions& opts) {
  check_single("ProcessGroupShm::broadcast", tensors);
  check_root("ProcessGroupShm::broadcast", opts.rootRank, size_);
  const at::Tensor tensor = tensors[0];
  const int root = static_cast<int>(opts.rootRank);
  return Launch(group_, OpType::BROADCAST, "broadcast", timeout_or(opts.timeout, options_->timeout))(
      tensors, tensors, [tensor, root](ShmEngine& engine, Collective& call) {
        call = about(call, tensor, tensor.numel());
        call.root = root;
        const Dense flat(tensor);
        engine.broadcast(call, flat.data());
        flat.write_back();
      });
}

WorkPtr ProcessGroupShm::allreduce(Tensors& tensors, const AllreduceOptions& opts) {
  check_single("ProcessGroupShm::allreduce", tensors);
  AllreduceCoalescedOptions options;
  static_cast<AllreduceOptions&>(options) = opts;
  const Reduction reduction(opts.reduceOp);
  detail::check_reducible("ProcessGroupShm::allreduce", tensors[0].scalar_type(), reduction.op);
  return Launch(group_, OpType::ALLREDUCE, "all_reduce", timeout_or(opts.timeout, options_->timeout))(
      tensors, tensors, [tensor = tensors[0], reduction](ShmEngine& engine, Collective& call) {
        call = about(call, tensor, tensor.numel());
        call.reduction = reduction.op;
        reduction.prepare(tensor);
        const Dense flat(tensor);
        engine.allreduce(call, flat.data());
        flat.write_back();
      });
}

WorkPtr ProcessGroupShm::allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions& opts) {
  check_list("ProcessGroupShm::allreduce_coalesced", tensors);
  const Reduction reduction(opts.reduceOp);
  for (const auto& tensor : tensors) {
    detail::check_reducible("ProcessGroupShm::allreduce_coalesced", tensor.scalar_type(), reduction.op);
  }
  const auto timeout = timeout_or(opts.timeout, options_->timeout);
  return Launch(group_, OpType::ALLREDUCE_COALESCED, "all_reduce", timeout)(
      tensors, tensors, [tensors, reduction](ShmEngine& engine, Collective& call) {
        for (const auto& tensor : tensors) {
          Collective one = about(call, tensor, tensor.numel());
          one.reduction = reduction.op;
          reduction.prepare(tensor);
          const Dense flat(tensor);
          engine.allreduce(one, flat.data());
          flat.write_back();
        }
      });
}

WorkPtr ProcessGroupShm::reduce(Tensors& tensors, const ReduceOptions& opts) {
  check_single("ProcessGroupShm::reduce", tensors);
  check_root("ProcessGroupShm::reduce", opts.rootRank, size_);
  const Reduction reduction(opts.reduceOp);
  detail::check_reducible("ProcessGroupShm::reduce", tensors[0].scalar_type(), reduction.op);
  const int root = static_cast<int>(opts.rootRank);
  return Launch(group_, OpType::REDUCE, "reduce", timeout_or(opts.timeout, options_->timeout))(
      tensors, tensors, [tensor = tensors[0], reduction, root, me = rank_](ShmEngine& engine, Collective& call) {
        call = about(call, tensor, tensor.numel());
        call.reduction = reduction.op;
        call.root = root;
        const Dense flat(reduction.factor.defined() && me != root ? reduction.prepared(tensor) : tensor);
        if (me == root) {
          reduction.prepare(tensor);
        }
        engine.reduce(call, flat.data());
        if (me == root) {
          flat.write_back();
        }
      });
}

WorkPtr ProcessGroupShm::allgather(Lists& outputs, Tensors& inputs, const AllgatherOptions& opts) {
  check_single("ProcessGroupShm::allgather", inputs);
  check_lists("ProcessGroupShm::allgather", inputs[0], outputs, size_);
  const Dense input(inputs[0]);
  return Launch(group_, OpType::ALLGATHER, "all_gather", timeout_or(opts.timeout, options_->timeout))(
      inputs, outputs[0], [tensor = inputs[0], input, list = outputs[0]](ShmEngine& engine, Collective& call) {
        call = about(call, tensor, tensor.numel());
        const auto all = dense(list, false);
        engine.allgather(call, input.data(), write_pointers(all));
        write_back(all);
      });
}

WorkPtr ProcessGroupShm::all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions& opts) {
  Tensors outputs{output};
  Tensors inputs{input};
  return all_gather_single_coalesced(outputs, inputs, opts);
}

WorkPtr ProcessGroupShm::all_gather_single_coalesced(Tensors& outputs, Tensors& inputs, const AllgatherOptions& opts) {
  check_pairs("ProcessGroupShm::all_gather_single", inputs, outputs, size_);
  return Launch(group_, OpType::_ALLGATHER_BASE, "all_gather", timeout_or(opts.timeout, options_->timeout))(
      inputs, outputs, [inputs, outputs, size = size_](ShmEngine& engine, Collective& call) {
        for (size_t i = 0; i < inputs.size(); ++i) {
          const Dense from(inputs[i]);
          const Dense to(outputs[i], false);
          engine.allgather(
              about(call, inputs[i], inputs[i].numel()), from.data(), parts(to.data(), inputs[i].nbytes(), size));
          to.write_back();
        }
      });
}

WorkPtr ProcessGroupShm::allgather_coalesced(Lists& output_lists, Tensors& inputs, const AllgatherOptions& opts) {
  const Tensors all_outputs = check_list_each("ProcessGroupShm::allgather_coalesced", inputs, output_lists, size_);
  const auto timeout = timeout_or(opts.timeout, options_->timeout);
  return Launch(group_, OpType::ALLGATHER_COALESCED, "all_gather", timeout)(
      inputs, all_outputs, [inputs, output_lists](ShmEngine& engine, Collective& call) {
        for (size_t i = 0; i < inputs.size(); ++i) {
          Tensors list;
          for (const auto& lists : output_lists) {
            list.push_back(lists[i]);
          }
          const auto all = dense(list, false);
          const Dense from(inputs[i]);
          engine.allgather(about(call, inputs[i], inputs[i].numel()), from.data(), write_pointers(all));
          write_back(all);
        }
      });
}

WorkPtr ProcessGroupShm::gather(Lists& outputs, Tensors& inputs, const GatherOptions& opts) {
  check_single("ProcessGroupShm::gather", inputs);
  check_root("ProcessGroupShm::gather", opts.rootRank, size_);
  const int root = static_cast<int>(opts.rootRank);
  const Tensors list = check_list_of_root("ProcessGroupShm::gather", inputs[0], outputs, size_, rank_ == root);
  return Launch(group_, OpType::GATHER, "gather", timeout_or(opts.timeout, options_->timeout))(
      inputs, list, [input = inputs[0], list, root](ShmEngine& engine, Collective& call) {
        call = about(call, input, input.numel());
        call.root = root;
        const auto all = dense(list, false);
        engine.gather(call, Dense(input).data(), write_pointers(all));
        write_back(all);
      });
}

WorkPtr ProcessGroupShm::gather_single(at::Tensor& output, at::Tensor& input, const GatherOptions& opts) {
  check_tensor("ProcessGroupShm::gather_single", input);
  check_root("ProcessGroupShm::gather_single", opts.rootRank, size_);
  const int root = static_cast<int>(opts.rootRank);
  Tensors outputs;
  if (rank_ == root) {
    check_like("ProcessGroupShm::gather_single", input, output, input.numel() * size_);
    outputs.push_back(output);
  }
  return Launch(group_, OpType::GATHER, "gather", timeout_or(opts.timeout, options_->timeout))(
      {input}, outputs, [input, outputs, root, size = size_](ShmEngine& engine, Collective& call) {
        call = about(call, input, input.numel());
        call.root = root;
        const auto all = dense(outputs, false);
        const Dense from(input);
        engine.gather(
            call, from.data(), all.empty() ? std::vector<char*>() : parts(all[0].data(), input.nbytes(), size));
        write_back(all);
      });
}

WorkPtr ProcessGroupShm::scatter(Tensors& outputs, Lists& inputs, const ScatterOptions& opts) {
  check_single("ProcessGroupShm::scatter", outputs);
  check_root("ProcessGroupShm::scatter", opts.rootRank, size_);
  const int root = static_cast<int>(opts.rootRank);
  const Tensors list = check_list_of_root("ProcessGroupShm::scatter", outputs[0], inputs, size_, rank_ == root);
  return Launch(group_, OpType::SCATTER, "scatter", timeout_or(opts.timeout, options_->timeout))(
      list, outputs, [output = outputs[0], list, root](ShmEngine& engine, Collective& call) {
        call = about(call, output, output.numel());
        call.root = root;
        const auto all = dense(list);
        const Dense to(output, false);
        engine.scatter(call, read_pointers(all), to.data());
        to.write_back();
      });
}

WorkPtr ProcessGroupShm::reduce_scatter(Tensors& outputs, Lists& inputs, const ReduceScatterOptions& opts) {
  check_single("ProcessGroupShm::reduce_scatter", outputs);
  check_lists("ProcessGroupShm::reduce_scatter", outputs[0], inputs, size_);
  const Reduction reduction(opts.reduceOp);
  detail::check_reducible("ProcessGroupShm::reduce_scatter", outputs[0].scalar_type(), reduction.op);
  return Launch(group_, OpType::REDUCE_SCATTER, "reduce_scatter", timeout_or(opts.timeout, options_->timeout))(
      inputs[0], outputs, [output = outputs[0], list = inputs[0], reduction](ShmEngine& engine, Collective& call) {
        call = about(call, output, output.numel());
        call.reduction = reduction.op;
        std::vector<Dense> all;
        for (const auto& input : list) {
          all.emplace_back(reduction.prepared(input));
        }
        const Dense to(output, false);
        engine.reduce_scatter(call, read_pointers(all), to.data());
        to.write_back();
      });
}

WorkPtr ProcessGroupShm::reduce_scatter_single(
    at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts) {
  Tensors outputs{output};
  Tensors inputs{input};
  return reduce_scatter_single_coalesced(outputs, inputs, opts);
}

WorkPtr ProcessGroupShm::reduce_scatter_single_coalesced(
    Tensors& outputs, Tensors& inputs, const ReduceScatterOptions& opts) {
  check_pairs("ProcessGroupShm::reduce_scatter_single", outputs, inputs, size_);
  const Reduction reduction(opts.reduceOp);
  for (size_t i = 0; i < inputs.size(); ++i) {
    detail::check_reducible("ProcessGroupShm::reduce_scatter_single", outputs[i].scalar_type(), reduction.op);
  }
  const auto timeout = timeout_or(opts.timeout, options_->timeout);
  return Launch(group_, OpType::_REDUCE_SCATTER_BASE, "reduce_scatter", timeout)(
      inputs, outputs, [inputs, outputs, reduction, size = size_](ShmEngine& engine, Collective& call) {
        for (size_t i = 0; i < inputs.size(); ++i) {
          Collective one = about(call, outputs[i], outputs[i].numel());
          one.reduction = reduction.op;
          const Dense from(reduction.prepared(inputs[i]));
          const Dense to(outputs[i], false);
          engine.reduce_scatter(
              one, parts(static_cast<const char*>(from.data()), outputs[i].nbytes(), size), to.data());
          to.write_back();
        }
      });
}

namespace {
template <class P>
std::vector<P> consecutive(P begin, const std::vector<size_t>& sizes) {
  std::vector<P> all;
  for (const size_t size : sizes) {
    all.push_back(begin);
    begin += size;
  }
  return all;
}
} // namespace

WorkPtr ProcessGroupShm::all_to_all_single(
    at::Tensor& output,
    at::Tensor& input,
    std::vector<int64_t>& output_split_sizes,
    std::vector<int64_t>& input_split_sizes,
    const AllToAllOptions& opts) {
  check_tensor("ProcessGroupShm::all_to_all_single", input);
  check_same_width("ProcessGroupShm::all_to_all_single", input, output);
  const auto in_sizes = split_bytes("input", input_split_sizes, input, size_);
  const auto out_sizes = split_bytes("output", output_split_sizes, output, size_);
  return Launch(group_, OpType::ALLTOALL_BASE, "all_to_all", timeout_or(opts.timeout, options_->timeout))(
      {input}, {output}, [input, output, in_sizes, out_sizes](ShmEngine& engine, Collective& call) {
        call = about(call, input, -1);
        const Dense from(input);
        const Dense to(output, false);
        engine.alltoall(
            call, consecutive(static_cast<const char*>(from.data()), in_sizes), in_sizes,
            consecutive(to.data(), out_sizes), out_sizes);
        to.write_back();
      });
}

WorkPtr ProcessGroupShm::alltoall(Tensors& outputs, Tensors& inputs, const AllToAllOptions& opts) {
  check_exchange("ProcessGroupShm::alltoall", inputs, outputs, size_);
  std::vector<size_t> in_sizes;
  std::vector<size_t> out_sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in_sizes.push_back(inputs[i].nbytes());
    out_sizes.push_back(outputs[i].nbytes());
  }
  return Launch(group_, OpType::ALLTOALL, "all_to_all", timeout_or(opts.timeout, options_->timeout))(
      inputs, outputs, [inputs, outputs, in_sizes, out_sizes](ShmEngine& engine, Collective& call) {
        call = about(call, inputs[0], -1);
        const auto from = dense(inputs);
        const auto to = dense(outputs, false);
        engine.alltoall(call, read_pointers(from), in_sizes, write_pointers(to), out_sizes);
        write_back(to);
      });
}

WorkPtr ProcessGroupShm::barrier(const BarrierOptions& opts) {
  return Launch(group_, OpType::BARRIER, "barrier", timeout_or(opts.timeout, options_->timeout))(
      {}, {}, [](ShmEngine& engine, Collective& call) { engine.barrier(call); });
}

void ProcessGroupShm::monitoredBarrier(const BarrierOptions& opts, bool) {
  // A barrier that is late names all ranks that have not come.
  barrier(opts)->wait();
}

WorkPtr ProcessGroupShm::send(Tensors& tensors, int dst_rank, int tag) {
  check_message("ProcessGroupShm::send", tensors, dst_rank, rank_, size_, tag, false);
  TORCH_CHECK(group_ != nullptr, "ProcessGroupShm has been shut down");
  auto work = c10::make_intrusive<ShmMessageWork>(
      group_->record(), OpType::SEND, "send", tensors, options_->timeout, options_->synchronous_sends);
  group_->messages().send(ShmMessageWork::message_of(work, dst_rank, tag));
  return work;
}

WorkPtr ProcessGroupShm::recv(Tensors& tensors, int src_rank, int tag) {
  check_message("ProcessGroupShm::recv", tensors, src_rank, rank_, size_, tag, true);
  TORCH_CHECK(group_ != nullptr, "ProcessGroupShm has been shut down");
  const bool any = src_rank < 0;
  auto work = c10::make_intrusive<ShmMessageWork>(
      group_->record(), any ? OpType::RECVANYSOURCE : OpType::RECV, any ? "recvAnySource" : "recv", tensors,
      options_->timeout);
  group_->messages().receive(ShmMessageWork::message_of(work, src_rank, tag));
  return work;
}

WorkPtr ProcessGroupShm::recvAnysource(Tensors& tensors, int tag) {
  return recv(tensors, -1, tag);
}

} // namespace c10d
