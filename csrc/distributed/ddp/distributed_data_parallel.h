// DistributedDataParallel: a module whose gradients are averaged over ranks.
#pragma once

#include <csrc/arg.h>
#include <csrc/distributed/ddp/comm_hooks.h>
#include <csrc/distributed/ddp/gradient_reducer.h>
#include <csrc/distributed/ddp/join.h>
#include <csrc/distributed/ddp/mixed_precision.h>
#include <csrc/distributed/session/init.h>
#include <csrc/nn/Module.h>

#include <functional>
#include <memory>
#include <utility>

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
  /// Parameters and buffers become those of rank 0 at the beginning.
  TORCH_ARG(bool, init_sync) = true;
  /// Not needed for parameters that a rank does not use. With it, those that no rank uses keep no gradient.
  TORCH_ARG(bool, find_unused_parameters) = false;
  /// Kept for programs: gradients are always views of buckets.
  TORCH_ARG(bool, gradient_as_bucket_view) = true;
  /// All passes reach each parameter as often as the first one did. Needed for overlap where re-entrant checkpoints
  /// are, and for hooks that run backward passes.
  TORCH_ARG(bool, static_graph) = false;
  /// Computes in another dtype than that of the parameters.
  TORCH_ARG(torch::distributed::MixedPrecision, mixed_precision);
};

/// When the hook for buffers runs.
enum class BufferCommHookLocation { PRE_FORWARD, POST_FORWARD };

/// What does not depend on the module's type.
class TORCH_API DistributedDataParallelBase : public Module, public torch::distributed::Joinable {
 public:
  using Hook = torch::distributed::CommHook;
  /// Makes the buffers of all ranks agree, in its own way.
  using BufferHook = std::function<void(const std::vector<std::pair<std::string, at::Tensor>>& buffers)>;

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
  /// torch::distributed::Join of this module alone: ranks may have different numbers of inputs while it lives.
  [[nodiscard]] torch::distributed::Join join(
      bool divide_by_initial_world_size = true, bool throw_on_early_termination = false) {
    return torch::distributed::Join({this}, divide_by_initial_world_size, throw_on_early_termination);
  }
  /// Reduces buckets in another way; see c10d::CommHookInterface. At most once.
  void register_comm_hook(Hook hook);
  void register_comm_hook(std::unique_ptr<c10d::CommHookInterface> hook) {
    register_comm_hook(torch::distributed::comm_hook(std::move(hook)));
  }
  /// In place of the broadcast of buffers; in training only, as that.
  void register_buffer_comm_hook(
      BufferHook hook, BufferCommHookLocation location = BufferCommHookLocation::POST_FORWARD);
  const torch::distributed::GradientReducer& reducer() const {
    return *reducer_;
  }

  torch::distributed::GroupPtr join_group() const override;
  void follow(const torch::distributed::JoinStep& step) override;
  void after_join(const torch::distributed::JoinStep& last) override;

 protected:
  DistributedDataParallelBase(std::shared_ptr<Module> module, DistributedDataParallelOptions options);
  void before_forward();
  void after_forward();
  /// An argument of forward in the dtype of mixed precision.
  template <class Arg>
  void convert(Arg& argument) const {
    if constexpr (std::is_same_v<Arg, at::Tensor>) {
      convert_tensor(argument);
    } else if constexpr (std::is_same_v<Arg, std::vector<at::Tensor>>) {
      for (at::Tensor& tensor : argument) {
        convert_tensor(tensor);
      }
    }
  }

 private:
  void convert_tensor(at::Tensor& tensor) const;
  bool syncs_now() const;
  void broadcast_buffers(int from);
  void call_buffer_hook() const;

  DistributedDataParallelOptions options_;
  std::shared_ptr<torch::distributed::GradientReducer> reducer_;
  std::unique_ptr<torch::distributed::ConvertedParameters> converted_;
  bool has_hook_ = false;
  BufferHook buffer_hook_;
  BufferCommHookLocation buffer_hook_location_ = BufferCommHookLocation::POST_FORWARD;
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

  /// The module's forward, between its hooks.
  template <class... Args>
  auto forward(Args&&... args) {
    return run<Args...>(std::forward<Args>(args)...);
  }
  template <class... Args>
  auto operator()(Args&&... args) {
    return run<Args...>(std::forward<Args>(args)...);
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

  // Arguments are copied, so that they can be converted, and passed on as what they came as.
  template <class... Args>
  auto run(std::decay_t<Args>... args) {
    before_forward();
    (convert(args), ...);
    auto& module = detail::module_of(module_);
    const auto call = [&]() -> decltype(auto) {
      return detail::call_forward(
          module,
          static_cast<std::conditional_t<std::is_lvalue_reference_v<Args>, std::decay_t<Args>&, std::decay_t<Args>&&>>(
              args)...);
    };
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      after_forward();
    } else {
      auto result = call();
      after_forward();
      return result;
    }
  }

  ModuleType module_;
};

} // namespace torch::nn::parallel
