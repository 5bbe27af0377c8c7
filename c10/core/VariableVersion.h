#pragma once

#include <c10/core/InferenceMode.h>
#include <c10/core/SmallPool.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>
#include <c10/util/intrusive_ptr.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace c10 {

// Note [Version counters]
// Every in-place operation bumps a tensor's version, and a saved tensor compares the version at backward time with
// the one it saw. Views and detached tensors share the counter of their base. Most tensors are never shared, so the
// count lives in the tensor itself until the counter is copied for the first time; then it moves to the heap. Copying
// is a read for the user, who may do it from several threads at once, hence the compare-and-swap.

/// Counts the changes of a tensor's data; copies share the count. Disabled for inference tensors.
struct C10_API VariableVersion {
 public:
  enum Disabled { DISABLED };

  VariableVersion(Disabled = DISABLED) noexcept : word_(0) {}
  explicit VariableVersion(uint32_t version) noexcept : word_(in_place(version)) {}
  /// Version 0, or disabled.
  static VariableVersion new_or_disabled(bool enabled) noexcept {
    VariableVersion version;
    version.word_.store(enabled ? in_place(0) : 0, std::memory_order_relaxed);
    return version;
  }
  VariableVersion(const VariableVersion& other) : word_(other.share()) {}
  VariableVersion(VariableVersion&& other) noexcept : word_(other.word_.load(std::memory_order_relaxed)) {
    other.word_.store(0, std::memory_order_relaxed);
  }
  VariableVersion& operator=(const VariableVersion& other) {
    return *this = VariableVersion(other);
  }
  VariableVersion& operator=(VariableVersion&& other) noexcept {
    if (this != &other) {
      const VariableVersion old(std::move(*this));
      word_.store(other.word_.load(std::memory_order_relaxed), std::memory_order_relaxed);
      other.word_.store(0, std::memory_order_relaxed);
    }
    return *this;
  }
  ~VariableVersion() {
    const uintptr_t word = word_.load(std::memory_order_acquire);
    if (C10_UNLIKELY(is_shared(word))) {
      raw::intrusive_ptr::decref(counter(word));
    }
  }

  /// Version 0, shared with nobody.
  void restart() noexcept {
    const uintptr_t word = word_.load(std::memory_order_acquire);
    word_.store(in_place(0), std::memory_order_relaxed);
    if (C10_UNLIKELY(is_shared(word))) {
      raw::intrusive_ptr::decref(counter(word));
    }
  }
  /// The same where the count lives in the tensor; else false, and nothing has happened.
  bool restart_in_place() noexcept {
    if (C10_UNLIKELY((word_.load(std::memory_order_acquire) & 1) == 0)) {
      return false;
    }
    word_.store(in_place(0), std::memory_order_relaxed);
    return true;
  }
  /// False if another VariableVersion shares the count.
  bool unique() const;
  bool enabled() const {
    return word_.load(std::memory_order_relaxed) != 0;
  }
  /// Throws for an inference tensor outside InferenceMode.
  void bump() {
    uintptr_t word = word_.load(std::memory_order_acquire);
    if (C10_LIKELY((word & 1) != 0 && detail::single_threaded())) {
      word_.store(in_place(version_in(word) + 1), std::memory_order_relaxed);
      return;
    }
    bump_slow(word);
  }
  /// Throws if disabled or negative.
  void set_version(int64_t version);
  /// Throws if disabled.
  uint32_t current_version() const {
    const uintptr_t word = word_.load(std::memory_order_acquire);
    if (C10_LIKELY((word & 1) != 0)) {
      return version_in(word);
    }
    return current_version_slow(word);
  }

 private:
  struct VersionCounter final : public intrusive_ptr_target, public PoolAllocated {
    explicit VersionCounter(uint32_t version) : version_(version) {}
    std::atomic<uint32_t> version_;
  };

  static constexpr uintptr_t in_place(uint32_t version) {
    return (static_cast<uintptr_t>(version) << 1) | 1;
  }
  static constexpr uint32_t version_in(uintptr_t word) {
    return static_cast<uint32_t>(word >> 1);
  }
  static constexpr bool is_shared(uintptr_t word) {
    return word != 0 && (word & 1) == 0;
  }
  static VersionCounter* counter(uintptr_t word) {
    return reinterpret_cast<VersionCounter*>(word);
  }
  // A word for one more owner of the count.
  uintptr_t share() const;
  void bump_slow(uintptr_t word);
  uint32_t current_version_slow(uintptr_t word) const;

  // Zero: disabled. Odd: the version, shifted. Even: a VersionCounter.
  mutable std::atomic<uintptr_t> word_;
};

} // namespace c10
