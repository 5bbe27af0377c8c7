// Models from GGUF files: the config and the weights under the names of Hugging Face's folders.
#pragma once

#include <csrc/llm/checkpoint.h>
#include <csrc/llm/config.h>
#include <csrc/llm/gguf/gguf_file.h>
#include <c10/macros/Export.h>

#include <memory>

namespace torch::llm {

/// The config that the metadata tells. Throws c10::Error for architectures that are not known (it lists those that
/// are), for values that are missing or make no sense, and for features without an implementation.
TORCH_API ModelConfig gguf_config(const GgufFile& file);

/// The tensors of the file. Plain ones lie in its pages, quantized ones are taken apart when they are used.
TORCH_API Checkpoint gguf_checkpoint(const std::shared_ptr<const GgufFile>& file);

} // namespace torch::llm
