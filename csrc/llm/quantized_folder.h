// Folders whose weights are quantized already.
#pragma once

#include <csrc/llm/checkpoint.h>
#include <csrc/llm/config.h>
#include <c10/macros/Export.h>

namespace torch::llm {

/// Puts weights in the place of the tensors that quantized ones are kept in: "q_proj.weight" for "q_proj.qweight",
/// "q_proj.qzeros" and so on. Throws when shapes and dtypes of these do not fit each other.
TORCH_API void join_quantized_weights(Checkpoint& checkpoint, const StoredQuantization& quantization);

} // namespace torch::llm
