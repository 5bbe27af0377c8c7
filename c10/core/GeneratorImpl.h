#pragma once

#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/TensorImpl.h>
#include <c10/macros/Export.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <mutex>

namespace c10 {

/// Seed of a generator that nobody seeded: large, with as many ones as zeros among its bits.
constexpr uint64_t default_rng_seed_val = 67280421310721;

/// State of a random number generator on a device. Whoever draws numbers holds mutex_ meanwhile.
struct C10_API GeneratorImpl : public c10::intrusive_ptr_target {
  GeneratorImpl(Device device_in, DispatchKeySet key_set);
  GeneratorImpl(const GeneratorImpl&) = delete;
  GeneratorImpl& operator=(const GeneratorImpl&) = delete;
  ~GeneratorImpl() override;

  /// A copy with the same state.
  c10::intrusive_ptr<GeneratorImpl> clone() const;

  virtual void set_current_seed(uint64_t seed) = 0;
  /// Position in the sequence, for generators that can jump. Throw by default.
  virtual void set_offset(uint64_t offset);
  virtual uint64_t get_offset() const;
  virtual uint64_t current_seed() const = 0;
  /// Seeds from the system's entropy; returns the seed.
  virtual uint64_t seed() = 0;
  /// State as a byte tensor. set_state throws if it is not one of this kind of generator.
  virtual void set_state(const c10::TensorImpl& new_state) = 0;
  virtual c10::intrusive_ptr<c10::TensorImpl> get_state() const = 0;
  /// State shared with another generator, as graph capture needs it. Throw by default.
  virtual void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& new_state);
  virtual c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const;

  Device device() const {
    return device_;
  }
  DispatchKeySet key_set() const {
    return key_set_;
  }

  std::mutex mutex_;

 protected:
  virtual GeneratorImpl* clone_impl() const = 0;

  Device device_;
  DispatchKeySet key_set_;
};

namespace detail {
/// 64 random bits from the system. For CUDA, where a seed must survive a double, 53.
C10_API uint64_t getNonDeterministicRandom(bool is_cuda = false);
} // namespace detail

} // namespace c10
