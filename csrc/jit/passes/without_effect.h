// Passes of libtorch that have nothing to do here: for programs that call them.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace torch::jit {

/// Changes nothing: convolutions and linear layers reach oneDNN from dense tensors.
TORCH_API void ConvertFrozenOpsToMKLDNN(std::shared_ptr<Graph>& graph);
/// Changes nothing: matrix products are not batched across operators.
TORCH_API void BatchMM(std::shared_ptr<Graph>& graph);
/// Changes nothing: autocast blocks are followed when operators run.
TORCH_API void Autocast(const std::shared_ptr<Graph>& graph);
/// Kept as it is set. Returns the setting before.
TORCH_API bool setAutocastMode(bool value);
TORCH_API bool autocastEnabled();
/// Changes nothing: no kernels are fused from graphs.
TORCH_API void FuseTensorExprs(
    std::shared_ptr<Graph>& graph,
    size_t min_group_size = 2,
    bool add_composed_op = false,
    bool fuse_to_dynamic_shapes = false);
/// Changes nothing: what is forked is a graph of its own from the beginning.
TORCH_API void liftClosures(const std::shared_ptr<Graph>& graph);
TORCH_API void inlineForkedClosures(std::shared_ptr<Graph>& to_clean);
/// Changes nothing: no graph here has guards or operators of Python.
TORCH_API void EliminateRedundantGuards(std::shared_ptr<Graph> graph);
TORCH_API void InsertGuards(std::shared_ptr<Graph> graph);
TORCH_API void CheckInplace(std::shared_ptr<Graph>& graph);
/// Applies what a library has put into getFuseFrozenConvAddReluImpl(): nothing is there before.
TORCH_API void FuseFrozenConvAddRelu(std::shared_ptr<Graph>& graph);
TORCH_API std::function<void(std::shared_ptr<Graph>&)>& getFuseFrozenConvAddReluImpl();

} // namespace torch::jit
