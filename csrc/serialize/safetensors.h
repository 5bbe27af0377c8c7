// Files in the safetensors format: named tensors and a few strings, without any code.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/serialize/load_options.h>

#include <string>

namespace torch::serialize {

struct Safetensors {
  /// In the order of their place in the file.
  c10::Dict<std::string, at::Tensor> tensors;
  c10::Dict<std::string, std::string> metadata;
};

/// Reads the file. Names, dtypes and offsets are checked as the format demands: every tensor inside the file, no
/// overlaps, no holes, no name twice.
TORCH_API Safetensors load_safetensors(const std::string& filename, const LoadOptions& options = {});
/// Reads a file's bytes from memory; tensors are copies.
TORCH_API Safetensors load_safetensors(const void* data, size_t size, const LoadOptions& options = {});

/// Writes dense tensors, each contiguous and whole: views of one storage do not share it any more. The file is replaced
/// at once when all is on disk. `metadata` {"format": "pt"} is what Python's libraries expect of PyTorch's files.
TORCH_API void save_safetensors(
    const c10::Dict<std::string, at::Tensor>& tensors,
    const std::string& filename,
    const c10::Dict<std::string, std::string>& metadata = {});

} // namespace torch::serialize
