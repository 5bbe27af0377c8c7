#include <autograd/anomaly_mode.h>

#include <autograd/function.h>
#include <c10/util/Backtrace.h>
#include <c10/util/Exception.h>

#include <mutex>

namespace torch::autograd {

std::atomic<bool> AnomalyMode::enabled_{false};
std::atomic<bool> AnomalyMode::check_nan_{true};

namespace {

// The mode is process-wide, so guards of several threads count together: it ends when the last of them goes.
std::mutex guards_mutex;
int living_guards = 0;

} // namespace

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan) {
  const std::lock_guard<std::mutex> lock(guards_mutex);
  prev_check_nan_ = AnomalyMode::should_check_nan();
  ++living_guards;
  AnomalyMode::set_enabled(true, check_nan);
}

DetectAnomalyGuard::~DetectAnomalyGuard() {
  const std::lock_guard<std::mutex> lock(guards_mutex);
  --living_guards;
  AnomalyMode::set_enabled(living_guards > 0, prev_check_nan_);
}

AnomalyMetadata::~AnomalyMetadata() = default;

void AnomalyMetadata::store_stack() {
  traceback_ = c10::get_backtrace(/*frames_to_skip=*/1);
}

void AnomalyMetadata::print_stack(const std::string& current_node_name) {
  if (traceback_.empty()) {
    TORCH_WARN(
        "Error detected in ", current_node_name,
        ". No forward pass information available. Enable detect anomaly during "
        "forward pass for more information.");
    return;
  }
  TORCH_WARN(
      "Error detected in ", current_node_name, ". Traceback of forward call that caused the error:\n", traceback_);
  for (std::shared_ptr<Node> parent = parent_; parent;) {
    AnomalyMetadata& meta = *parent->metadata();
    TORCH_WARN(
        "\n\nPrevious calculation was induced by ", parent->name(),
        ". Traceback of forward call that induced the previous calculation:\n", meta.traceback_);
    parent = meta.parent_;
  }
}

void AnomalyMetadata::assign_parent(const std::shared_ptr<Node>& parent_node) {
  parent_ = parent_node;
}

} // namespace torch::autograd
