// ProcessGroupGloo: collectives of several tensors of each rank, and monitoredBarrier.
#include <csrc/distributed/backends/ProcessGroupGloo.h>

#include <aten/Functions.h>
#include <aten/core/jit_type.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/c10d/tensor_checks.h>
#include <csrc/distributed/engine/reduce.h>
#include <csrc/distributed/store/PrefixStore.h>

#include <functional>
#include <mutex>

namespace c10d {

using WorkPtr = c10::intrusive_ptr<Work>;
using TensorList = std::vector<at::Tensor>;

namespace {

// A work that is over when `after` has been called behind another one: once, in the thread that sees its end first.
class ContinuedWork : public Work {
 public:
  ContinuedWork(WorkPtr inner, TensorList results, std::function<void()> after)
      : Work(-1, inner->retrieveOpType()), inner_(std::move(inner)), continuation_(std::make_shared<Continuation>()) {
    continuation_->results = std::move(results);
    continuation_->after = std::move(after);
  }

  bool isCompleted() override {
    return inner_->isCompleted() && (!inner_->isSuccess() || continuation_->run());
  }
  bool isSuccess() const override {
    return inner_->isSuccess();
  }
  std::exception_ptr exception() const override {
    return inner_->exception();
  }
  bool wait(std::chrono::milliseconds timeout) override {
    return inner_->wait(timeout) && continuation_->run();
  }
  void synchronize() override {
    wait(kNoTimeout);
  }
  void abort() override {
    inner_->abort();
  }
  TensorList result() override {
    return continuation_->results;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    return inner_->getFuture()->then(
        [continuation = continuation_](c10::ivalue::Future& inner) {
          inner.value(); // throws what went wrong
          continuation->run();
          return c10::IValue(continuation->results);
        },
        c10::ListType::create(c10::TensorType::get()));
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFutureResult() override {
    return inner_->getFutureResult();
  }
  float getDuration() const override {
    return inner_->getDuration();
  }
  uint64_t getSequencenumber() const override {
    return inner_->getSequencenumber();
  }
  std::chrono::milliseconds getTimeout() const override {
    return inner_->getTimeout();
  }

 private:
  struct Continuation {
    TensorList results;
    std::function<void()> after;
    std::once_flag once;
    bool run() {
      std::call_once(once, [this] {
        const c10::NoGradGuard no_grad;
        after();
      });
      return true;
    }
  };

  WorkPtr inner_;
  std::shared_ptr<Continuation> continuation_;
};

void check_alike(const char* what, const TensorList& tensors) {
  detail::check_list(what, tensors);
  for (size_t i = 1; i < tensors.size(); ++i) {
    TORCH_CHECK_VALUE(
        tensors[i].scalar_type() == tensors[0].scalar_type(), what, ": invalid tensor type at index ", i, " (expected ",
        tensors[0].scalar_type(), ", got ", tensors[i].scalar_type(), ")");
    TORCH_CHECK_VALUE(
        tensors[i].sizes() == tensors[0].sizes(), what, ": invalid tensor size at index ", i, " (expected ",
        tensors[0].sizes(), ", got ", tensors[i].sizes(), ")");
  }
}

// Of the tensors of this rank, in their order; averages are sums until the number of ranks divides them.
at::Tensor reduced(const TensorList& tensors, ReduceOp::RedOpType op) {
  at::Tensor result = tensors[0].contiguous().clone();
  std::vector<at::Tensor> dense{result};
  for (size_t i = 1; i < tensors.size(); ++i) {
    dense.push_back(tensors[i].contiguous());
  }
  std::vector<const char*> sources;
  for (const auto& tensor : dense) {
    sources.push_back(static_cast<const char*>(tensor.data_ptr()));
  }
  detail::reduce_elements(
      result.scalar_type(), op == ReduceOp::AVG ? ReduceOp::SUM : op, sources, {static_cast<char*>(result.data_ptr())},
      static_cast<size_t>(result.numel()));
  return result;
}

void copy_to_all(const TensorList& tensors, const at::Tensor& from) {
  for (const auto& tensor : tensors) {
    if (!tensor.is_same(from)) {
      tensor.copy_(from);
    }
  }
}

} // namespace

WorkPtr ProcessGroupGloo::allreduce(TensorList& tensors, const AllreduceOptions& opts) {
  constexpr const char* what = "ProcessGroupGloo::allreduce";
  if (tensors.size() == 1) {
    const bool sparse = tensors[0].defined() && tensors[0].is_sparse();
    return sparse ? allreduce_sparse(tensors, opts) : ForwardingBackend::allreduce(tensors, opts);
  }
  check_alike(what, tensors);
  TORCH_CHECK_VALUE(
      opts.reduceOp.op_ != ReduceOp::PREMUL_SUM, what, ": PREMUL_SUM needs a single-element tensor list, but got ",
      tensors.size(), " tensors");
  detail::check_reducible(what, tensors[0].scalar_type(), opts.reduceOp.op_);
  const c10::NoGradGuard no_grad;
  TensorList mine{reduced(tensors, opts.reduceOp.op_)};
  return c10::make_intrusive<ContinuedWork>(
      inner_->allreduce(mine, opts), tensors, [tensors, sum = mine[0]] { copy_to_all(tensors, sum); });
}

WorkPtr ProcessGroupGloo::broadcast(TensorList& tensors, const BroadcastOptions& opts) {
  if (tensors.size() == 1 && opts.rootTensor == 0) {
    return ForwardingBackend::broadcast(tensors, opts);
  }
  constexpr const char* what = "ProcessGroupGloo::broadcast";
  check_alike(what, tensors);
  TORCH_CHECK_VALUE(
      opts.rootTensor >= 0 && opts.rootTensor < static_cast<int64_t>(tensors.size()), what,
      ": invalid root tensor: ", opts.rootTensor, " of ", tensors.size());
  TensorList one{tensors[static_cast<size_t>(opts.rootTensor)]};
  return c10::make_intrusive<ContinuedWork>(
      inner_->broadcast(one, opts), tensors, [tensors, from = one[0]] { copy_to_all(tensors, from); });
}

WorkPtr ProcessGroupGloo::allgather(
    std::vector<TensorList>& outputs, TensorList& inputs, const AllgatherOptions& opts) {
  if (inputs.size() == 1) {
    return ForwardingBackend::allgather(outputs, inputs, opts);
  }
  constexpr const char* what = "ProcessGroupGloo::allgather";
  check_alike(what, inputs);
  const size_t total = inputs.size() * static_cast<size_t>(size_);
  TORCH_CHECK_VALUE(
      outputs.size() == inputs.size(), what, ": requires input/output tensor lists to have the same length, but got ",
      inputs.size(), " and ", outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    TORCH_CHECK_VALUE(
        outputs[i].size() == total, what, ": invalid output tensor list at index ", i, " (expected length ", total,
        ", got ", outputs[i].size(), ")");
    for (const auto& output : outputs[i]) {
      detail::check_like(what, inputs[0], output, inputs[0].numel());
    }
  }
  const c10::NoGradGuard no_grad;
  at::Tensor mine = at::stack(inputs).contiguous();
  at::Tensor all = at::empty({static_cast<int64_t>(total), inputs[0].numel()}, mine.options());
  return c10::make_intrusive<ContinuedWork>(inner_->all_gather_single(all, mine, opts), outputs[0], [outputs, all] {
    for (const auto& list : outputs) {
      for (size_t i = 0; i < list.size(); ++i) {
        list[i].copy_(all[static_cast<int64_t>(i)].view(list[i].sizes()));
      }
    }
  });
}

// Through the store, so that a rank which does not come leaves no operation of the engine behind. A barrier's keys go
// when the next one is complete: then all have read them.
void ProcessGroupGloo::monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks) {
  const auto timeout = detail::timeout_or(opts.timeout, options_->timeout);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto left = [&] {
    const auto rest = deadline - std::chrono::steady_clock::now();
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(rest), std::chrono::milliseconds(1));
  };
  PrefixStore store("monitored_barrier", store_->_getStore());
  const uint64_t number = monitored_barriers_++;
  const auto key_of = [](uint64_t barrier, int rank) { return c10::str(barrier, "/", rank); };
  if (rank_ != 0) {
    store.set(key_of(number, rank_), "here");
    const std::string verdict = key_of(number, 0);
    store.wait({verdict}, timeout + timeout); // rank 0 may have begun later
    const std::string missing = store.get_to_str(verdict);
    if (!missing.empty()) {
      C10_THROW_ERROR(
          DistBackendError,
          c10::str("[Rank ", rank_, "]: rank ", rank_, " reached monitoredBarrier, but rank 0 reports: ", missing));
    }
    return;
  }
  std::string missing;
  for (int rank = 1; rank < size_ && (missing.empty() || wait_all_ranks); ++rank) {
    try {
      store.wait({key_of(number, rank)}, left());
    } catch (const c10::DistStoreError&) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  if (!missing.empty()) {
    missing = c10::str(
        wait_all_ranks ? "Ranks " : "Rank ", missing, " failed to pass monitoredBarrier in ", timeout.count(), " ms");
  }
  store.set(key_of(number, 0), missing);
  if (!missing.empty()) {
    C10_THROW_ERROR(DistBackendError, "[Rank 0]: " + missing);
  }
  for (int rank = 0; number > 0 && rank < size_; ++rank) {
    store.deleteKey(key_of(number - 1, rank));
  }
}

} // namespace c10d
