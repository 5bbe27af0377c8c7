#pragma once

#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/GeneratorImpl.h>
#include <c10/util/Exception.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace at {

class Tensor;

/// A handle to a stream of random numbers; copies share the stream. Drawing from it needs its mutex(). A
/// default-constructed one has no stream: operators take it for the default generator, and what asks it for its stream
/// throws c10::Error.
struct TORCH_API Generator {
  Generator() = default;
  explicit Generator(c10::intrusive_ptr<c10::GeneratorImpl> impl) : impl_(std::move(impl)) {
    TORCH_CHECK(impl_.get() != nullptr, "GeneratorImpl with nullptr is not supported");
  }

  bool operator==(const Generator& rhs) const {
    return impl_ == rhs.impl_;
  }
  bool operator!=(const Generator& rhs) const {
    return !(*this == rhs);
  }
  bool defined() const {
    return static_cast<bool>(impl_);
  }
  c10::GeneratorImpl* unsafeGetGeneratorImpl() const {
    return impl_.get();
  }
  c10::GeneratorImpl* unsafeReleaseGeneratorImpl() {
    return impl_.release();
  }
  const c10::intrusive_ptr<c10::GeneratorImpl>& getIntrusivePtr() const {
    return impl_;
  }
  void set_current_seed(uint64_t seed) {
    implementation().set_current_seed(seed);
  }
  void set_offset(uint64_t offset) {
    implementation().set_offset(offset);
  }
  uint64_t get_offset() const {
    return implementation().get_offset();
  }
  uint64_t current_seed() const {
    return implementation().current_seed();
  }
  uint64_t seed() {
    return implementation().seed();
  }
  /// The whole state as a byte tensor, and back. Defined with the operators.
  void set_state(const Tensor& new_state);
  Tensor get_state() const;
  void graphsafe_set_state(const Generator& new_state);
  Generator graphsafe_get_state() const;
  std::mutex& mutex() {
    return implementation().mutex_;
  }
  c10::DispatchKeySet key_set() const {
    return implementation().key_set();
  }
  c10::Device device() const {
    return implementation().device();
  }
  template <class T>
  T* get() const {
    return static_cast<T*>(impl_.get());
  }
  /// A generator of the same state that shares nothing.
  Generator clone() const {
    return Generator(implementation().clone());
  }

 private:
  c10::GeneratorImpl& implementation() const {
    if (C10_UNLIKELY(!impl_)) {
      report_undefined();
    }
    return *impl_;
  }
  [[noreturn]] static void report_undefined();

  c10::intrusive_ptr<c10::GeneratorImpl> impl_;
};

template <class Impl, class... Args>
Generator make_generator(Args&&... args) {
  return Generator(c10::make_intrusive<Impl>(std::forward<Args>(args)...));
}

/// The implementation behind an optional generator. Throws if there is none or it is for another device.
template <class T>
T* check_generator(std::optional<Generator> gen) {
  TORCH_CHECK(gen.has_value() && gen->defined(), "Expected Generator but received nullopt");
  TORCH_CHECK(
      T::device_type() == gen->device().type(), "Expected a '", c10::DeviceTypeName(T::device_type(), true),
      "' device type for generator but found '", c10::DeviceTypeName(gen->device().type(), true), "'");
  return gen->get<T>();
}

/// The given generator, or the default one.
template <class T>
T* get_generator_or_default(const std::optional<Generator>& gen, const Generator& default_gen) {
  return gen.has_value() && gen->defined() ? check_generator<T>(gen) : check_generator<T>(default_gen);
}

namespace detail {
/// For implementations: a state must be a contiguous byte tensor on the CPU.
TORCH_API void check_rng_state(const c10::TensorImpl& new_state);
} // namespace detail

} // namespace at
