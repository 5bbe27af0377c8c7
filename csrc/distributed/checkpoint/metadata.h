// What a checkpoint's folder holds and where: its file `.metadata`.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace torch::distributed::checkpoint {

/// A run of bytes in a file of the folder: a ZIP archive as torch.save writes it.
struct StoredBytes {
  std::string file;
  int64_t offset = 0;
  int64_t length = 0;
};

/// A box of a tensor.
struct StoredChunk {
  std::vector<int64_t> offsets;
  std::vector<int64_t> sizes;
  StoredBytes bytes;
};

struct StoredTensor {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<int64_t> sizes;
  bool requires_grad = false;
  std::vector<StoredChunk> chunks;
};

/// Keys of dictionaries and places in lists, from the outside.
using Path = std::vector<std::variant<std::string, int64_t>>;

/// A tensor or another value.
struct StoredEntry {
  std::string name;
  Path path;
  std::variant<StoredTensor, StoredBytes> content;
};

struct TORCH_API Metadata {
  std::vector<StoredEntry> entries;
  const StoredEntry* find(const std::string& name) const;
};

/// A pickle of torch.distributed.checkpoint.metadata.Metadata.
TORCH_API std::string write_metadata(const Metadata& metadata);
/// Reads one, without running anything: classes that are not part of such a pickle are refused. Throws for what is no
/// such pickle, and for boxes that do not lie in their tensor. `where` names it in messages.
TORCH_API Metadata read_metadata(std::string_view pickle, const std::string& where);

} // namespace torch::distributed::checkpoint
