// Files of named tensors, as training on mobile devices writes them.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Device.h>

#include <iosfwd>
#include <map>
#include <optional>
#include <string>

namespace torch::jit {

/// Writes the tensors as the archive of a Dict[str, Tensor]. Throws c10::Error with `use_flatbuffer`: that format is
/// not written.
TORCH_API void _save_parameters(
    const std::map<std::string, at::Tensor>& map, std::ostream& out, bool use_flatbuffer = false);
TORCH_API void _save_parameters(
    const std::map<std::string, at::Tensor>& map, const std::string& filename, bool use_flatbuffer = false);

/// The tensors of such an archive, on `device` or where they were saved from. Throws c10::Error if the file is none.
TORCH_API std::map<std::string, at::Tensor> _load_parameters(
    std::istream& in, std::optional<at::Device> device = std::nullopt);
TORCH_API std::map<std::string, at::Tensor> _load_parameters(
    const std::string& filename, std::optional<at::Device> device = std::nullopt);

} // namespace torch::jit
