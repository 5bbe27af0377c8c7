// The switches of TorchScript's executor and fusers. setGraphExecutorOptimize() is followed; the others keep what a
// program sets and have no effect, as libtorch's in builds without a fuser: there are no profiling runs here, and no
// fuser.
#pragma once

#include <c10/macros/Export.h>

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace torch::jit {

// ---- the executor: for the whole process ----------------------------------------------------------------------------

/// Whether runs are profiled for the sake of specialization.
TORCH_API std::atomic<bool>& getProfilingMode();
/// Whether the profiling executor is used, not the simple one.
TORCH_API std::atomic<bool>& getExecutorMode();
/// How many runs are profiled before one is specialized.
TORCH_API std::atomic<size_t>& getNumProfiledRuns();

enum class FusionBehavior { STATIC, DYNAMIC };
/// How often a graph may be specialized again for static, then for dynamic shapes.
using FusionStrategy = std::vector<std::pair<FusionBehavior, size_t>>;
TORCH_API FusionStrategy getFusionStrategy();
/// Returns the strategy before.
TORCH_API FusionStrategy setFusionStrategy(FusionStrategy& fusion_strategy);
/// The specializations that the strategy allows, all told.
TORCH_API size_t getBailoutDepth();

// ---- optimization: for this thread ----------------------------------------------------------------------------------

/// Whether graphs are inlined and simplified before they run; they run as they were written otherwise.
TORCH_API void setGraphExecutorOptimize(bool optimize);
TORCH_API bool getGraphExecutorOptimize();

/// Sets getGraphExecutorOptimize() while it lives.
struct GraphOptimizerEnabledGuard {
  /* implicit */ GraphOptimizerEnabledGuard(bool state) : old_state_(getGraphExecutorOptimize()) {
    setGraphExecutorOptimize(state);
  }
  GraphOptimizerEnabledGuard(const GraphOptimizerEnabledGuard&) = delete;
  GraphOptimizerEnabledGuard& operator=(const GraphOptimizerEnabledGuard&) = delete;
  ~GraphOptimizerEnabledGuard() {
    setGraphExecutorOptimize(old_state_);
  }

  bool old_state_;
};

/// Turns on the profiling executor and optimization while it lives.
struct EnableProfilingGuard {
  EnableProfilingGuard() : optimize_(true), old_executor_mode_(getExecutorMode().exchange(true)) {}
  EnableProfilingGuard(const EnableProfilingGuard&) = delete;
  EnableProfilingGuard& operator=(const EnableProfilingGuard&) = delete;
  ~EnableProfilingGuard() {
    getExecutorMode() = old_executor_mode_;
  }

 private:
  GraphOptimizerEnabledGuard optimize_;
  bool old_executor_mode_;
};

// ---- fusers: for the whole process ----------------------------------------------------------------------------------

TORCH_API void debugSetFusionGroupInlining(bool state);
TORCH_API bool getFusionGroupInlining();

TORCH_API void setTensorExprFuserEnabled(bool val);
TORCH_API bool tensorExprFuserEnabled();
TORCH_API void setTensorExprDynamicShapeFusionEnabled(bool val);
TORCH_API bool tensorExprDynamicShapeFusionEnabled();
/// Returns the setting before.
TORCH_API bool setTexprReductionsEnabled(bool value);
TORCH_API bool texprReductionsEnabled();

TORCH_API bool canFuseOnCPU();
TORCH_API void overrideCanFuseOnCPU(bool value);
TORCH_API bool canFuseOnGPU();
TORCH_API void overrideCanFuseOnGPU(bool value);

} // namespace torch::jit
