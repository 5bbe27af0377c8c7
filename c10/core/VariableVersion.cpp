#include <c10/core/VariableVersion.h>

#include <c10/util/Exception.h>

#include <limits>

namespace c10 {

uintptr_t VariableVersion::share() const {
  uintptr_t word = word_.load(std::memory_order_acquire);
  while ((word & 1) != 0) {
    auto fresh = c10::make_intrusive<VersionCounter>(version_in(word));
    const auto promoted = reinterpret_cast<uintptr_t>(fresh.get());
    if (word_.compare_exchange_strong(word, promoted, std::memory_order_acq_rel, std::memory_order_acquire)) {
      (void)fresh.release();
      word = promoted;
    }
  }
  if (word != 0) {
    raw::intrusive_ptr::incref(counter(word));
  }
  return word;
}

bool VariableVersion::unique() const {
  const uintptr_t word = word_.load(std::memory_order_acquire);
  if (!is_shared(word)) {
    return true;
  }
  return c10::intrusive_ptr<VersionCounter>::reclaim_copy(counter(word)).use_count() == 2;
}

void VariableVersion::bump_slow(uintptr_t word) {
  while ((word & 1) != 0) {
    if (word_.compare_exchange_weak(
            word, in_place(version_in(word) + 1), std::memory_order_acq_rel, std::memory_order_acquire)) {
      return;
    }
  }
  if (word != 0) {
    counter(word)->version_.fetch_add(1, std::memory_order_acq_rel);
    return;
  }
  TORCH_CHECK(
      InferenceMode::is_enabled(),
      "Inplace update to inference tensor outside InferenceMode is not allowed. "
      "You can make a clone to get a normal tensor before doing inplace update. "
      "See https://github.com/pytorch/rfcs/pull/17 for more details.");
}

void VariableVersion::set_version(int64_t version) {
  TORCH_CHECK(
      enabled(),
      "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have a version counter. "
      "Was it created in inference mode?");
  TORCH_CHECK(
      version >= 0 && version <= std::numeric_limits<uint32_t>::max(),
      "Cannot set a version_counter to a value below 0 or above 2^32 - 1: ", version);
  const auto value = static_cast<uint32_t>(version);
  uintptr_t word = word_.load(std::memory_order_acquire);
  while ((word & 1) != 0) {
    if (word_.compare_exchange_weak(word, in_place(value), std::memory_order_acq_rel, std::memory_order_acquire)) {
      return;
    }
  }
  counter(word)->version_.store(value, std::memory_order_release);
}

uint32_t VariableVersion::current_version_slow(uintptr_t word) const {
  TORCH_CHECK(word != 0, "Inference tensors do not track version counter.");
  return counter(word)->version_.load(std::memory_order_acquire);
}

} // namespace c10
