#include <csrc/jit/executor_settings.h>

#include <mutex>

namespace torch::jit {

namespace {

// libtorch's defaults.
std::atomic<bool> profiling_mode{true};
std::atomic<bool> executor_mode{true};
std::atomic<size_t> num_profiled_runs{1};
std::atomic<bool> fusion_group_inlining{true};
std::atomic<bool> tensor_expr_fuser{true};
std::atomic<bool> tensor_expr_dynamic_shapes{false};
std::atomic<bool> tensor_expr_reductions{false};
std::atomic<bool> can_fuse_on_cpu{false};
std::atomic<bool> can_fuse_on_gpu{true};
thread_local bool graph_executor_optimize = true;

std::mutex fusion_strategy_mutex;
FusionStrategy& fusion_strategy() {
  static FusionStrategy strategy{{FusionBehavior::STATIC, 2}, {FusionBehavior::DYNAMIC, 10}};
  return strategy;
}

} // namespace

std::atomic<bool>& getProfilingMode() {
  return profiling_mode;
}
std::atomic<bool>& getExecutorMode() {
  return executor_mode;
}
std::atomic<size_t>& getNumProfiledRuns() {
  return num_profiled_runs;
}

FusionStrategy getFusionStrategy() {
  const std::lock_guard<std::mutex> lock(fusion_strategy_mutex);
  return fusion_strategy();
}
FusionStrategy setFusionStrategy(FusionStrategy& strategy) {
  const std::lock_guard<std::mutex> lock(fusion_strategy_mutex);
  return std::exchange(fusion_strategy(), strategy);
}
size_t getBailoutDepth() {
  size_t depth = 0;
  for (const auto& [behavior, specializations] : getFusionStrategy()) {
    depth += specializations;
  }
  return depth;
}

void setGraphExecutorOptimize(bool optimize) {
  graph_executor_optimize = optimize;
}
bool getGraphExecutorOptimize() {
  return graph_executor_optimize;
}

void debugSetFusionGroupInlining(bool state) {
  fusion_group_inlining = state;
}
bool getFusionGroupInlining() {
  return fusion_group_inlining;
}

void setTensorExprFuserEnabled(bool val) {
  tensor_expr_fuser = val;
}
bool tensorExprFuserEnabled() {
  return tensor_expr_fuser;
}
void setTensorExprDynamicShapeFusionEnabled(bool val) {
  tensor_expr_dynamic_shapes = val;
}
bool tensorExprDynamicShapeFusionEnabled() {
  return tensor_expr_dynamic_shapes;
}
bool setTexprReductionsEnabled(bool value) {
  return tensor_expr_reductions.exchange(value);
}
bool texprReductionsEnabled() {
  return tensor_expr_reductions;
}

bool canFuseOnCPU() {
  return can_fuse_on_cpu;
}
void overrideCanFuseOnCPU(bool value) {
  can_fuse_on_cpu = value;
}
bool canFuseOnGPU() {
  return can_fuse_on_gpu;
}
void overrideCanFuseOnGPU(bool value) {
  can_fuse_on_gpu = value;
}

} // namespace torch::jit
