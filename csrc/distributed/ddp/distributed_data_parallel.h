// DistributedDataParallel: a module whose gradients are averaged over ranks.
#pragma once

#include <csrc/arg.h>
#include <csrc/distributed/session/init.h>
#include <csrc/distributed/ddp/gradient_reducer.h>
#include <csrc/nn/Module.h>

namespace torch::nn::parallel {

/// Arguments of DistributedDataParallel.
struct DistributedDataParallelOptions {
  /// By default that of all processes.
  TORCH_ARG(c10::intrusive_ptr<c10d::ProcessGroup>, process_group);
  /// How much is reduced at once, in MiB; less for the first.
  TORCH_ARG(double, bucket_cap_mb) = 25;
  TORCH_ARG(double, first_bucket_cap_mb) = 1;
  /// Buffers become those of rank 0 before each forward in training.
  TORCH_ARG(bool, broadcast_buffers) = true;
  /// Not needed for parameters that a rank does not use. With it, those that no rank uses keep no gradient.
  TORCH_ARG(bool, find_unused_parameters) = false;
  /// Kept for programs: gradients are always views of buckets, and graphs may always change.
  TORCH_ARG(bool, gradient_as_bucket_view) = true;
  TORCH_ARG(bool, static_graph) = false;
};

/// What does not depend on the module's type.
class TORCH_API DistributedDataParallelBase : public Module {
 public:
  using Hook = torch::distributed::GradientReducer::Hook;

  /// While it lives, backward passes leave gradients to this rank; they add up until the next one that does not.
  class NoSync {
   public:
    explicit NoSync(torch::distributed::GradientReducer& reducer) : reducer_(reducer), before_(reducer.sync()) {
      reducer_.set_sync(false);
    }
    ~NoSync() {
      reducer_.set_sync(before_);
    }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    torch::distributed::GradientReducer& reducer_;
    bool before_;
  };
  [[nodiscard]] NoSync no_sync() {
    return NoSync(*reducer_);
  }
  /// Reduces buckets in another way; see c10d::CommHookInterface.
  void register_comm_hook(Hook hook) {
    reducer_->set_hook(std::move(hook));
  }
  void register_comm_hook(std::unique_ptr<c10d::CommHookInterface> hook);
  const torch::distributed::GradientReducer& reducer() const {
    return *reducer_;
  }

 protected:
  DistributedDataParallelBase(std::shared_ptr<Module> module, DistributedDataParallelOptions options);
  void before_forward();

 private:
  DistributedDataParallelOptions options_;
  std::shared_ptr<torch::distributed::GradientReducer> reducer_;
};

/// Wraps a module, which each rank holds and feeds with its part of a batch: parameters become those of rank 0, and
/// after each backward() gradients are the average over ranks. Names of parameters begin with "module.".
///
///   nn::parallel::DistributedDataParallel<Net> ddp(net);
///   loss(ddp(x), y).backward();
template <class ModuleType>
class DistributedDataParallel : public DistributedDataParallelBase {
 public:
  explicit DistributedDataParallel(ModuleType module, DistributedDataParallelOptions options = {})
      : DistributedDataParallelBase(shared(module), std::move(options)), module_(std::move(module)) {}

  template <class... Args>
  auto forward(Args&&... args) {
    before_forward();
    return module_->forward(std::forward<Args>(args)...);
  }
  template <class... Args>
  auto operator()(Args&&... args) {
    return forward(std::forward<Args>(args)...);
  }
  ModuleType& module() {
    return module_;
  }

 private:
  static std::shared_ptr<Module> shared(ModuleType& module) {
    if constexpr (std::is_convertible_v<ModuleType&, std::shared_ptr<Module>>) {
      return module;
    } else {
      return module.ptr();
    }
  }

  ModuleType module_;
};

} // namespace torch::nn::parallel
