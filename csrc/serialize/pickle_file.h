// PyTorch's .pt files: what Python's torch.save writes and torch.load reads.
//
// Read are dicts (state_dicts), lists, tuples, numbers, strings, None, torch.Size (a tuple), dtypes and layouts (an
// int, see IValue::toScalarType), devices, and tensors and parameters of all dtypes: dense ones with views of one
// storage, sparse ones, and those of the meta device. A list or dict whose elements are all of one simple type gets
// that type: [1, 2] is a List[int]. Anything else is refused with its name: nothing in a file is ever run.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/serialize/load_options.h>

#include <string>

namespace torch::serialize {

/// The value in a .pt file. Throws c10::Error with the file, the entry, what was found and what must hold.
TORCH_API c10::IValue load_pickle(const std::string& filename, const LoadOptions& options = {});

/// Writes a .pt file that Python's torch.load(weights_only=True) reads. The file is replaced at once when all is on
/// disk.
TORCH_API void save_pickle(const c10::IValue& value, const std::string& filename);

} // namespace torch::serialize
