// Levels of forward mode: which are entered, and which of them this thread's operators look at.
#pragma once

#include <c10/macros/Export.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace torch::autograd::forward_ad {

namespace detail {
extern TORCH_API std::atomic<int64_t> live_levels;
} // namespace detail

/// Whether any thread is inside a level, so that there may be dual tensors.
inline bool any_level() {
  return detail::live_levels.load(std::memory_order_relaxed) != 0;
}

/// The level that this thread entered last and has not left; none outside of all.
TORCH_API std::optional<uint64_t> current_level();

/// From now on all operators that this thread calls look for tangents, until it leaves its levels: a tensor has got one
/// by a change in place of memory that others share, and views of it do not know yet.
TORCH_API void watch_all_tensors();
/// Whether they do.
TORCH_API bool watches_all_tensors();

/// While it lives, operators that this thread calls take no notice of tangents at `level`: a formula for tangents
/// computes with the values at that level, and with the tangents of the levels outside of it.
class TORCH_API HiddenLevel {
 public:
  explicit HiddenLevel(uint64_t level);
  HiddenLevel(const HiddenLevel&) = delete;
  HiddenLevel& operator=(const HiddenLevel&) = delete;
  ~HiddenLevel();

  static bool contains(uint64_t level);

  /// Those that live on this thread, and another thread's in their place for nodes of a backward pass that it waits
  /// for.
  static const HiddenLevel* innermost();
  static const HiddenLevel* exchange(const HiddenLevel* innermost);

 private:
  const uint64_t level_;
  const HiddenLevel* const outer_;
};

/// While it lives, an operator on dual tensors runs on this thread: whoever saves its results for backward must see the
/// tangents that they will get, and custom functions without a rule of their own are differentiated with the operator.
class TORCH_API DualCall {
 public:
  explicit DualCall(bool runs);
  DualCall(const DualCall&) = delete;
  DualCall& operator=(const DualCall&) = delete;
  ~DualCall();

  static bool is_running();

 private:
  const bool previous_;
};

} // namespace torch::autograd::forward_ad
