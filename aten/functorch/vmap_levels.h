// The levels of vmap that are active on a thread.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/macros/Export.h>
#include <c10/util/intrusive_ptr.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace at::functorch {

/// What operators that draw random numbers do inside of vmap: refuse, draw once for all samples, or for each sample.
enum class RandomnessType : uint8_t { Error, Same, Different };

/// "error", "same" or "different"; throws for other words.
TORCH_API RandomnessType parse_randomness(std::string_view word);

/// One vmap while it runs. Batched tensors refer to theirs, and so know when it has ended.
struct TORCH_API VmapLevel final : c10::intrusive_ptr_target {
  VmapLevel(int64_t number, int64_t batch_size, RandomnessType randomness)
      : number(number), batch_size(batch_size), randomness(randomness) {}

  const int64_t number; ///< 1 for the outermost vmap of a thread, larger for those within
  const int64_t batch_size;
  const RandomnessType randomness;
  std::atomic<bool> is_active{true};
};
using VmapLevelPtr = c10::intrusive_ptr<VmapLevel>;

/// A vmap runs on this thread while the guard lives.
class TORCH_API VmapGuard {
 public:
  VmapGuard(int64_t batch_size, RandomnessType randomness);
  VmapGuard(const VmapGuard&) = delete;
  VmapGuard& operator=(const VmapGuard&) = delete;
  ~VmapGuard();

  const VmapLevelPtr& level() const {
    return level_;
  }

 private:
  VmapLevelPtr level_;
};

/// A level that no code runs in: for batches of tangents, which stand behind tensors that are the same for all of them.
/// It is above all levels that are entered, and ends with this object.
class TORCH_API HiddenVmapLevel {
 public:
  explicit HiddenVmapLevel(int64_t batch_size);
  HiddenVmapLevel(const HiddenVmapLevel&) = delete;
  HiddenVmapLevel& operator=(const HiddenVmapLevel&) = delete;
  ~HiddenVmapLevel();

  const VmapLevelPtr& level() const {
    return level_;
  }

 private:
  VmapLevelPtr level_;
};

/// The innermost vmap of this thread that is not hidden by a LevelsBelowGuard; null if there is none.
TORCH_API VmapLevelPtr current_vmap_level();
/// The vmap of this thread with this number; null if there is none.
TORCH_API VmapLevelPtr find_vmap_level(int64_t number);
/// How many are active.
TORCH_API int64_t vmap_depth();

/// Hides `level` and those within it: what runs for all samples of a level at once runs in the vmap around it.
class TORCH_API LevelsBelowGuard {
 public:
  explicit LevelsBelowGuard(const VmapLevel& level);
  LevelsBelowGuard(const LevelsBelowGuard&) = delete;
  LevelsBelowGuard& operator=(const LevelsBelowGuard&) = delete;
  ~LevelsBelowGuard();

 private:
  size_t visible_before_;
  bool mode_before_;
};

} // namespace at::functorch
