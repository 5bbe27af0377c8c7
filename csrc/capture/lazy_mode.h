// Mode lazy of compile(): the function runs in each call, its operators when their values are asked for.
#pragma once

#include <csrc/capture/dispatch_mode.h>
#include <csrc/capture/lazy_graph.h>

#include <aten/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::capture {

// Note [Lazy mode]
// The function runs each time, so what it keeps between calls, prints or reads from files is as in eager code.
// Operators do not run: a call of the Meta backend tells what a result is like, and the result is a tensor whose memory
// is made later. Where something asks for values (item(), printing, data_ptr(), an operator that cannot wait) all that
// has been recorded runs, and recording goes on; so too at the end. What runs are the values that somebody still holds:
// of temporaries nothing is left but the loops that they were fused into. Autograd stands above and sees what it always
// sees, so saved tensors are among those values, and hooks, functions with derivatives of their own and backward() in
// the function need no care.
//
// A run of operators is known by the words of its key. It is interpreted when it comes for the first time and compiled
// when it comes again. While the words are those of the graph that stood here in the call before, results are known to
// be like those of that graph, and not even Meta is called.
//
// Memory from outside that a recorded operator writes to may not be accessed by a pointer either before it ran.

/// Records one call of a function on this thread.
class LazyMode final : public DispatchMode {
 public:
  /// With `fullgraph`, what needs values before the end throws.
  LazyMode(LazyGraphs& graphs, bool fullgraph);
  ~LazyMode() override;
  LazyMode(const LazyMode&) = delete;
  LazyMode& operator=(const LazyMode&) = delete;

  /// Runs what has not run. Called when the function has ended, by an exception or not.
  void finish();

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) override;
  /// The step is run as it is.
  void begin_step(size_t number) override;
  void end_step() override;

 private:
  /// A tensor by what is in it.
  struct Known {
    int64_t offset;
    c10::ScalarType dtype;
    std::vector<int64_t> sizes, strides;
    uint32_t value;
  };
  /// Memory that recorded operators take or give.
  struct Memory {
    c10::Storage storage; // a reference of our own
    bool is_deferred;
    bool is_written = false;
    int64_t number;
    std::vector<Known> known;
  };
  /// What has been recorded since operators ran last.
  struct Pending {
    LazyGraph graph;
    std::shared_ptr<LazyEntry> entry = std::make_shared<LazyEntry>();
    std::unordered_map<const c10::StorageImpl*, Memory> memory;
    std::vector<const c10::StorageImpl*> deferred; // in the order in which they came
    c10::ScalarType default_dtype;
  };

  static bool compute(const c10::StorageImpl& storage);
  void run_now(
      const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack, const std::string& why);
  void run_pending();
  void fill(Pending& pending, std::vector<at::Tensor> results);
  bool record(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack, std::string& why);
  bool add_arguments(const c10::OperatorHandle& op, const torch::jit::Stack& stack, size_t first, LazyNode& node);
  bool add_tensor(const at::Tensor& tensor, uint32_t place, int32_t item, LazyNode& node);
  bool add_constant(const c10::IValue& value);
  std::optional<uint32_t> value_of(const at::Tensor& tensor);
  LazyKind kind_of(const LazyNode& node) const;
  void note_writes(const LazyNode& node, const torch::jit::Stack& stack, size_t first);
  bool describe_results(const LazyNode& node, const torch::jit::Stack& stack, size_t first, bool gives);
  void leave_results(LazyNode& node, torch::jit::Stack* stack, size_t first, LazyKind kind);
  void remember(const at::Tensor& tensor, size_t node);
  at::Tensor make_deferred(const LazySpec& spec);
  bool is_predicted() const;
  void start();
  void put(int64_t word) {
    pending_->entry->key.push_back(word);
  }

  LazyGraphs& graphs_;
  const bool fullgraph_;
  bool is_suspended_ = false;
  std::unique_ptr<Pending> pending_;
  std::vector<std::shared_ptr<LazyEntry>> expected_, ran_;
  std::shared_ptr<LazyEntry> prediction_; // null once it was wrong
};

} // namespace torch::capture
