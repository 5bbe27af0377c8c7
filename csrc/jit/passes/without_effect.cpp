#include <csrc/jit/passes/without_effect.h>

#include <atomic>

namespace torch::jit {

namespace {

std::atomic<bool> autocast_mode{true};

} // namespace

void ConvertFrozenOpsToMKLDNN(std::shared_ptr<Graph>&) {}
void BatchMM(std::shared_ptr<Graph>&) {}
void Autocast(const std::shared_ptr<Graph>&) {}
void liftClosures(const std::shared_ptr<Graph>&) {}
void inlineForkedClosures(std::shared_ptr<Graph>&) {}
void EliminateRedundantGuards(std::shared_ptr<Graph>) {}
void InsertGuards(std::shared_ptr<Graph>) {}
void CheckInplace(std::shared_ptr<Graph>&) {}
void FuseTensorExprs(std::shared_ptr<Graph>&, size_t, bool, bool) {}

bool setAutocastMode(bool value) {
  return autocast_mode.exchange(value);
}

bool autocastEnabled() {
  return autocast_mode;
}

std::function<void(std::shared_ptr<Graph>&)>& getFuseFrozenConvAddReluImpl() {
  static auto& implementation = *new std::function<void(std::shared_ptr<Graph>&)>();
  return implementation;
}

void FuseFrozenConvAddRelu(std::shared_ptr<Graph>& graph) {
  if (const auto& implementation = getFuseFrozenConvAddReluImpl()) {
    implementation(graph);
  }
}

} // namespace torch::jit
