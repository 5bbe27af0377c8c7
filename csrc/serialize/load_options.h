// How readers of files go about it.
#pragma once

#include <c10/core/Device.h>

#include <optional>

namespace torch::serialize {

struct LoadOptions {
  /// Where tensors go; without it, to the device that they were saved from (CPU for formats that do not tell).
  std::optional<c10::Device> device = std::nullopt;
  /// Leaves CPU tensors in a private mapping of the file: it is read when it is used, and writing to a tensor copies
  /// the page. Another program must not shorten or overwrite the file meanwhile (replacing it by a rename, as this
  /// library's writers do, is fine).
  bool map = true;
  /// Compares the checksums of formats that have them. Off for files that were written with
  /// torch.serialization.set_crc32_options(False), and for large ones of which only a few tensors are used.
  bool verify = true;
};

} // namespace torch::serialize
