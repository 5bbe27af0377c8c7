// A backend over an engine that moves bytes: lists of tensors as dense ones, and averages as sums.
#include <csrc/distributed/backends/QueueBackend.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/backends/queue_state.h>
#include <csrc/distributed/c10d/tensor_checks.h>
#include <csrc/distributed/engine/reduce.h>

#include <algorithm>

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
using detail::check_single;
using detail::check_tensor;
using detail::Dense;
using detail::QueueWork;
using detail::Reduction;
using detail::timeout_or;
using WorkPtr = c10::intrusive_ptr<Work>;
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;
using Call = Carrier::Call;

namespace {

// Collectives run in the queue's thread, whose state is its own.
template <class F>
auto without_gradient(F f) {
  return [f = std::move(f)](Carrier& carrier, const Call& call) {
    const c10::NoGradGuard no_grad;
    f(carrier, call);
  };
}

// The sum that an average begins with, and its end.
struct Averaging {
  explicit Averaging(const ReduceOp& op, int size)
      : reduction(op), kind(reduction.op == ReduceOp::AVG ? ReduceOp::SUM : reduction.op), size(size) {}
  void end(const at::Tensor& result) const {
    if (reduction.op == ReduceOp::AVG) {
      c10::isIntegralType(result.scalar_type(), true) ? result.floor_divide_(size) : result.div_(size);
    }
  }
  Reduction reduction;
  ReduceOp::RedOpType kind;
  int size;
};

at::Tensor flat(const Tensors& tensors) {
  Tensors parts;
  for (const auto& tensor : tensors) {
    parts.push_back(tensor.reshape({-1}));
  }
  return at::cat(parts);
}

void unflatten(const at::Tensor& from, const Tensors& tensors) {
  int64_t at = 0;
  for (const auto& tensor : tensors) {
    tensor.copy_(from.narrow(0, at, tensor.numel()).view(tensor.sizes()));
    at += tensor.numel();
  }
}

// A row for each rank.
at::Tensor rows_like(const at::Tensor& one, int size) {
  return at::empty({size, one.numel()}, one.options());
}

class Launcher {
 public:
  Launcher(
      const std::shared_ptr<detail::QueueState>& state,
      OpType type,
      const char* title,
      std::chrono::milliseconds timeout)
      : state_(state), type_(type), title_(title), timeout_(timeout) {}

  template <class Body>
  WorkPtr operator()(Tensors inputs, Tensors outputs, Body body) const {
    TORCH_CHECK(state_ != nullptr, "the process group has been shut down");
    auto work = c10::make_intrusive<QueueWork>(
        state_, type_, title_, std::move(inputs), std::move(outputs), timeout_, without_gradient(std::move(body)));
    state_->enqueue(work);
    return work;
  }

 private:
  const std::shared_ptr<detail::QueueState>& state_;
  OpType type_;
  const char* title_;
  std::chrono::milliseconds timeout_;
};

// A message, which moves while somebody waits for it or asks.
class MessageInQueue : public QueueWork {
 public:
  MessageInQueue(
      const std::shared_ptr<detail::QueueState>& state,
      OpType type,
      const char* title,
      Tensors tensors,
      std::chrono::milliseconds timeout)
      : QueueWork(state, type, title, tensors, tensors, timeout), dense_(tensors[0]) {}
  const at::Tensor& data() const {
    return dense_.tensor();
  }
  void set_message(std::unique_ptr<Carrier::Message> message, int peer) {
    message_ = std::move(message);
    peer_ = peer;
  }
  bool isCompleted() override {
    if (!ended_) {
      progress();
    }
    return QueueWork::isCompleted();
  }
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override {
    const auto limit = timeout == kNoTimeout ? timeout_ : timeout;
    const auto deadline = detail::deadline_after(limit);
    while (!ended_) {
      if (aborted_.exchange(false)) {
        return false;
      }
      progress();
      if (!ended_ && std::chrono::steady_clock::now() >= deadline) {
        fail(c10::str("timed out after ", limit.count(), " ms, waiting for rank ", peer_));
      }
    }
    return QueueWork::wait(timeout);
  }
  /// Ends the wait of who waits, or of the next one, which returns false; the message may be waited for again.
  void abort() override {
    aborted_ = true;
  }
  int sourceRank() const override {
    return retrieveOpType() == OpType::SEND ? QueueWork::sourceRank() : source_;
  }

 private:
  void progress() {
    const std::lock_guard lock(moving_);
    if (ended_) {
      return;
    }
    try {
      if (const auto state = state_.lock(); state && !state->failure().empty()) {
        return fail(state->failure());
      }
      if (message_->progress(source_)) {
        if (retrieveOpType() != OpType::SEND) {
          const c10::NoGradGuard no_grad;
          dense_.write_back();
        }
        end(nullptr);
      }
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }
  void fail(const std::string& reason) {
    end(std::make_exception_ptr(c10::DistBackendError(
        {__func__, __FILE__, __LINE__},
        c10::str(
            "rank ", rank_, " in ", retrieveOpType() == OpType::SEND ? "send to rank " : "recv from rank ", peer_,
            " failed: ", reason))));
  }

  std::mutex moving_;
  std::atomic<bool> aborted_{false};
  Dense dense_;
  std::unique_ptr<Carrier::Message> message_;
  int peer_ = -1;
  int source_ = -1;
};

} // namespace

QueueBackend::QueueBackend(
    std::shared_ptr<Carrier> carrier,
    const c10::intrusive_ptr<Store>& store,
    int rank,
    int size,
    c10::intrusive_ptr<Options> options)
    : Backend(rank, size), options_(std::move(options)) {
  state_ = std::make_shared<detail::QueueState>(std::move(carrier), store, rank, size, *options_);
  state_->begin();
  init();
}

QueueBackend::~QueueBackend() {
  stop();
}

void QueueBackend::stop() {
  if (const auto state = std::exchange(state_, nullptr)) {
    state->stop();
  }
}

const std::string QueueBackend::getBackendName() const {
  return options_->backend;
}

c10::intrusive_ptr<Backend::Options> QueueBackend::getBackendOptions() {
  return options_;
}

void QueueBackend::setTimeout(std::chrono::milliseconds timeout) {
  options_->timeout = timeout;
}

uint64_t QueueBackend::getSequenceNumberForGroup() {
  return state_ ? state_->number() : 0;
}

ErrorType QueueBackend::getError() {
  return state_ && !state_->failure().empty() ? ErrorType::COMM_ERROR : ErrorType::SUCCESS;
}

void QueueBackend::registerAbortHook(int64_t hook_id, AbortHook hook) {
  TORCH_CHECK(state_ != nullptr, "the process group has been shut down");
  state_->record()->add_abort_hook(hook_id, std::move(hook));
}

void QueueBackend::unregisterAbortHook(int64_t hook_id) {
  if (state_) {
    state_->record()->remove_abort_hook(hook_id);
  }
}

void QueueBackend::abort() {
  if (state_) {
    state_->record()->on_failure();
    state_->fail(c10::str("rank ", rank_, " has aborted the group"));
  }
}

void QueueBackend::shutdown() {
  stop();
}

WorkPtr QueueBackend::broadcast(Tensors& tensors, const BroadcastOptions& opts) {
  check_single("broadcast", tensors);
  check_root("broadcast", opts.rootRank, size_);
  return Launcher(state_, OpType::BROADCAST, "broadcast", timeout_or(opts.timeout, options_->timeout))(
      tensors, tensors,
      [tensor = tensors[0], root = static_cast<int>(opts.rootRank)](Carrier& carrier, const Call& call) {
        const Dense data(tensor);
        carrier.broadcast(call, data.tensor(), root);
        data.write_back();
      });
}

WorkPtr QueueBackend::allreduce(Tensors& tensors, const AllreduceOptions& opts) {
  check_single("allreduce", tensors);
  const Averaging op(opts.reduceOp, size_);
  detail::check_reducible("allreduce", tensors[0].scalar_type(), op.reduction.op);
  return Launcher(state_, OpType::ALLREDUCE, "all_reduce", timeout_or(opts.timeout, options_->timeout))(
      tensors, tensors, [tensor = tensors[0], op](Carrier& carrier, const Call& call) {
        const Dense data(tensor);
        op.reduction.prepare(data.tensor());
        carrier.allreduce(call, data.tensor(), op.kind);
        op.end(data.tensor());
        data.write_back();
      });
}

WorkPtr QueueBackend::allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions& opts) {
  check_list("allreduce_coalesced", tensors);
  for (const auto& tensor : tensors) {
    check_like("allreduce_coalesced", tensors[0], tensor, tensor.numel());
  }
  const Averaging op(opts.reduceOp, size_);
  detail::check_reducible("allreduce_coalesced", tensors[0].scalar_type(), op.reduction.op);
  return Launcher(state_, OpType::ALLREDUCE_COALESCED, "all_reduce", timeout_or(opts.timeout, options_->timeout))(
      tensors, tensors, [tensors, op](Carrier& carrier, const Call& call) {
        const at::Tensor data = flat(tensors);
        op.reduction.prepare(data);
        carrier.allreduce(call, data, op.kind);
        op.end(data);
        unflatten(data, tensors);
      });
}

WorkPtr QueueBackend::reduce(Tensors& tensors, const ReduceOptions& opts) {
  check_single("reduce", tensors);
  check_root("reduce", opts.rootRank, size_);
  const Averaging op(opts.reduceOp, size_);
  detail::check_reducible("reduce", tensors[0].scalar_type(), op.reduction.op);
  const bool is_root = opts.rootRank == rank_;
  return Launcher(state_, OpType::REDUCE, "reduce", timeout_or(opts.timeout, options_->timeout))(
      tensors, tensors,
      [tensor = tensors[0], op, is_root, root = static_cast<int>(opts.rootRank)](Carrier& carrier, const Call& call) {
        const at::Tensor data = tensor.clone(at::MemoryFormat::Contiguous); // others keep what they have
        op.reduction.prepare(data);
        carrier.reduce(call, data, root, op.kind);
        if (is_root) {
          op.end(data);
          tensor.copy_(data);
        }
      });
}

WorkPtr QueueBackend::allgather(Lists& outputs, Tensors& inputs, const AllgatherOptions& opts) {
  check_single("allgather", inputs);
  check_lists("allgather", inputs[0], outputs, size_);
  return Launcher(state_, OpType::ALLGATHER, "all_gather", timeout_or(opts.timeout, options_->timeout))(
      inputs, outputs[0], [outputs = outputs[0], input = inputs[0], size = size_](Carrier& carrier, const Call& call) {
        const Dense from(input);
        const at::Tensor all = rows_like(input, size);
        carrier.allgather(call, all, from.tensor());
        unflatten(all.view({-1}), outputs);
      });
}

WorkPtr QueueBackend::all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions& opts) {
  check_tensor("all_gather_single", input);
  check_like("all_gather_single", input, output, input.numel() * size_);
  return Launcher(state_, OpType::_ALLGATHER_BASE, "_all_gather_base", timeout_or(opts.timeout, options_->timeout))(
      {input}, {output}, [output, input](Carrier& carrier, const Call& call) {
        const Dense from(input);
        const Dense to(output, false);
        carrier.allgather(call, to.tensor(), from.tensor());
        to.write_back();
      });
}

WorkPtr QueueBackend::allgather_coalesced(Lists& output_lists, Tensors& inputs, const AllgatherOptions& opts) {
  const Tensors all_outputs = check_list_each("allgather_coalesced", inputs, output_lists, size_);
  return Launcher(state_, OpType::ALLGATHER_COALESCED, "all_gather", timeout_or(opts.timeout, options_->timeout))(
      inputs, all_outputs, [output_lists, inputs, size = size_](Carrier& carrier, const Call& call) {
        for (size_t i = 0; i < inputs.size(); ++i) {
          const Dense from(inputs[i]);
          const at::Tensor all = rows_like(inputs[i], size);
          carrier.allgather(call, all, from.tensor());
          for (int rank = 0; rank < size; ++rank) {
            output_lists[rank][i].copy_(all[rank].view(inputs[i].sizes()));
          }
        }
      });
}

WorkPtr QueueBackend::all_gather_single_coalesced(Tensors& outputs, Tensors& inputs, const AllgatherOptions& opts) {
  check_pairs("all_gather_single_coalesced", inputs, outputs, size_);
  return Launcher(
      state_, OpType::ALLGATHER_INTO_TENSOR_COALESCED, "all_gather", timeout_or(opts.timeout, options_->timeout))(
      inputs, outputs, [outputs, inputs](Carrier& carrier, const Call& call) {
        for (size_t i = 0; i < inputs.size(); ++i) {
          const Dense from(inputs[i]);
          const Dense to(outputs[i], false);
          carrier.allgather(call, to.tensor(), from.tensor());
          to.write_back();
        }
      });
}

WorkPtr QueueBackend::gather(Lists& outputs, Tensors& inputs, const GatherOptions& opts) {
  check_single("gather", inputs);
  check_root("gather", opts.rootRank, size_);
  const bool is_root = opts.rootRank == rank_;
  const Tensors list = check_list_of_root("gather", inputs[0], outputs, size_, is_root);
  return Launcher(state_, OpType::GATHER, "gather", timeout_or(opts.timeout, options_->timeout))(
      inputs, list,
      [list, input = inputs[0], is_root, size = size_, root = static_cast<int>(opts.rootRank)](
          Carrier& carrier, const Call& call) {
        const Dense from(input);
        const at::Tensor all = is_root ? rows_like(input, size) : at::Tensor();
        carrier.gather(call, all, from.tensor(), root);
        if (is_root) {
          unflatten(all.view({-1}), list);
        }
      });
}

WorkPtr QueueBackend::scatter(Tensors& outputs, Lists& inputs, const ScatterOptions& opts) {
  check_single("scatter", outputs);
  check_root("scatter", opts.rootRank, size_);
  const bool is_root = opts.rootRank == rank_;
  const Tensors list = check_list_of_root("scatter", outputs[0], inputs, size_, is_root);
  return Launcher(state_, OpType::SCATTER, "scatter", timeout_or(opts.timeout, options_->timeout))(
      list, outputs,
      [output = outputs[0], list, is_root, root = static_cast<int>(opts.rootRank)](Carrier& carrier, const Call& call) {
        const at::Tensor all = is_root ? flat(list) : at::Tensor();
        const Dense to(output, false);
        carrier.scatter(call, to.tensor(), all, root);
        to.write_back();
      });
}

WorkPtr QueueBackend::reduce_scatter(Tensors& outputs, Lists& inputs, const ReduceScatterOptions& opts) {
  check_single("reduce_scatter", outputs);
  check_lists("reduce_scatter", outputs[0], inputs, size_);
  const Averaging op(opts.reduceOp, size_);
  detail::check_reducible("reduce_scatter", outputs[0].scalar_type(), op.reduction.op);
  return Launcher(state_, OpType::REDUCE_SCATTER, "reduce_scatter", timeout_or(opts.timeout, options_->timeout))(
      inputs[0], outputs, [output = outputs[0], inputs = inputs[0], op](Carrier& carrier, const Call& call) {
        const at::Tensor all = flat(inputs);
        op.reduction.prepare(all);
        const Dense to(output, false);
        carrier.reduce_scatter(call, to.tensor(), all, op.kind);
        op.end(to.tensor());
        to.write_back();
      });
}

WorkPtr QueueBackend::reduce_scatter_single(at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts) {
  Tensors outputs{output};
  Tensors inputs{input};
  return reduce_scatter_single_coalesced(outputs, inputs, opts);
}

WorkPtr QueueBackend::reduce_scatter_single_coalesced(
    Tensors& outputs, Tensors& inputs, const ReduceScatterOptions& opts) {
  check_pairs("reduce_scatter_single", outputs, inputs, size_);
  const Averaging op(opts.reduceOp, size_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    detail::check_reducible("reduce_scatter_single", outputs[i].scalar_type(), op.reduction.op);
  }
  return Launcher(
      state_, outputs.size() == 1 ? OpType::_REDUCE_SCATTER_BASE : OpType::REDUCE_SCATTER_TENSOR_COALESCED,
      "_reduce_scatter_base", timeout_or(opts.timeout, options_->timeout))(
      inputs, outputs, [outputs, inputs, op](Carrier& carrier, const Call& call) {
        for (size_t i = 0; i < inputs.size(); ++i) {
          const Dense from(op.reduction.prepared(inputs[i]));
          const Dense to(outputs[i], false);
          carrier.reduce_scatter(call, to.tensor(), from.tensor(), op.kind);
          op.end(to.tensor());
          to.write_back();
        }
      });
}

namespace {
std::vector<int64_t> counts_of(const std::vector<size_t>& bytes, const at::Tensor& tensor) {
  std::vector<int64_t> counts;
  for (const size_t n : bytes) {
    counts.push_back(static_cast<int64_t>(n / tensor.element_size()));
  }
  return counts;
}
} // namespace

WorkPtr QueueBackend::all_to_all_single(
    at::Tensor& output,
    at::Tensor& input,
    std::vector<int64_t>& output_split_sizes,
    std::vector<int64_t>& input_split_sizes,
    const AllToAllOptions& opts) {
  check_tensor("all_to_all_single", input);
  detail::check_same_width("all_to_all_single", input, output);
  const auto in = counts_of(detail::split_bytes("input", input_split_sizes, input, size_), input);
  const auto out = counts_of(detail::split_bytes("output", output_split_sizes, output, size_), output);
  return Launcher(state_, OpType::ALLTOALL_BASE, "all_to_all", timeout_or(opts.timeout, options_->timeout))(
      {input}, {output}, [output, input, in, out](Carrier& carrier, const Call& call) {
        const Dense from(input);
        const Dense to(output, false);
        carrier.alltoall(call, to.tensor().view(input.scalar_type()), from.tensor(), out, in);
        to.write_back();
      });
}

WorkPtr QueueBackend::alltoall(Tensors& outputs, Tensors& inputs, const AllToAllOptions& opts) {
  check_exchange("alltoall", inputs, outputs, size_);
  std::vector<int64_t> in;
  std::vector<int64_t> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back(inputs[i].numel());
    out.push_back(outputs[i].numel());
  }
  return Launcher(state_, OpType::ALLTOALL, "all_to_all", timeout_or(opts.timeout, options_->timeout))(
      inputs, outputs, [outputs, inputs, in, out](Carrier& carrier, const Call& call) {
        const at::Tensor from = flat(inputs);
        const at::Tensor to = flat(outputs);
        carrier.alltoall(call, to, from, out, in);
        unflatten(to, outputs);
      });
}

WorkPtr QueueBackend::barrier(const BarrierOptions& opts) {
  return Launcher(state_, OpType::BARRIER, "barrier", timeout_or(opts.timeout, options_->timeout))(
      {}, {}, [](Carrier& carrier, const Call& call) { carrier.barrier(call); });
}

void QueueBackend::monitoredBarrier(const BarrierOptions& opts, bool) {
  barrier(opts)->wait();
}

WorkPtr QueueBackend::send(Tensors& tensors, int dst_rank, int tag) {
  check_message("send", tensors, dst_rank, rank_, size_, tag, false);
  TORCH_CHECK(state_ != nullptr, "the process group has been shut down");
  auto work = c10::make_intrusive<MessageInQueue>(state_, OpType::SEND, "send", tensors, options_->timeout);
  work->set_message(state_->carrier().send(work->data(), dst_rank, tag), dst_rank);
  return work;
}

WorkPtr QueueBackend::recv(Tensors& tensors, int src_rank, int tag) {
  check_message("recv", tensors, src_rank, rank_, size_, tag, true);
  TORCH_CHECK(state_ != nullptr, "the process group has been shut down");
  auto work = c10::make_intrusive<MessageInQueue>(
      state_, src_rank < 0 ? OpType::RECVANYSOURCE : OpType::RECV, src_rank < 0 ? "recvAnySource" : "recv", tensors,
      options_->timeout);
  work->set_message(state_->carrier().receive(work->data(), src_rank, tag), src_rank);
  return work;
}

WorkPtr QueueBackend::recvAnysource(Tensors& tensors, int tag) {
  return recv(tensors, -1, tag);
}

} // namespace c10d
