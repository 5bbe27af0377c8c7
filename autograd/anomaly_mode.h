#pragma once

#include <c10/macros/Export.h>

#include <atomic>
#include <memory>
#include <string>

namespace torch::autograd {

struct Node;

/// Process-wide switch: nodes remember where they were made, and the engine looks for NaN in what they return.
struct TORCH_API AnomalyMode {
  static bool is_enabled() {
    return enabled_.load(std::memory_order_relaxed);
  }
  static bool should_check_nan() {
    return check_nan_.load(std::memory_order_relaxed);
  }
  static void set_enabled(bool enabled, bool check_nan = true) {
    enabled_.store(enabled, std::memory_order_relaxed);
    check_nan_.store(check_nan, std::memory_order_relaxed);
  }

 private:
  static std::atomic<bool> enabled_;
  static std::atomic<bool> check_nan_;
};

/// Anomaly mode while the guard lives. Guards nest.
class TORCH_API DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true);
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;
  ~DetectAnomalyGuard();

 private:
  bool prev_check_nan_;
};

/// Where a node was made: the stack at that time and, for nodes made during a backward pass, the node that was running.
struct TORCH_API AnomalyMetadata {
  virtual ~AnomalyMetadata();
  virtual void store_stack();
  /// Warns with the stored stack, and those of the parents, when the node called `current_node_name` has failed.
  virtual void print_stack(const std::string& current_node_name);
  virtual void assign_parent(const std::shared_ptr<Node>& parent_node);

 private:
  std::string traceback_;
  std::shared_ptr<Node> parent_;
};

} // namespace torch::autograd
