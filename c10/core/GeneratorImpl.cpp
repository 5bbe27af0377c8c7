#include <c10/core/GeneratorImpl.h>

#include <c10/util/Exception.h>

#include <random>

namespace c10 {

GeneratorImpl::GeneratorImpl(Device device_in, DispatchKeySet key_set) : device_(device_in), key_set_(key_set) {}

GeneratorImpl::~GeneratorImpl() = default;

c10::intrusive_ptr<GeneratorImpl> GeneratorImpl::clone() const {
  return c10::intrusive_ptr<GeneratorImpl>::unsafe_steal_from_new(clone_impl());
}

void GeneratorImpl::set_offset(uint64_t) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "set_offset is not supported in this Generator");
}

uint64_t GeneratorImpl::get_offset() const {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "get_offset is not supported in this Generator");
}

void GeneratorImpl::graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>&) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "graphsafe_set_state is not supported in this Generator");
}

c10::intrusive_ptr<c10::GeneratorImpl> GeneratorImpl::graphsafe_get_state() const {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "graphsafe_get_state is not supported in this Generator");
}

namespace detail {

uint64_t getNonDeterministicRandom(bool is_cuda) {
  std::random_device source;
  const uint64_t bits = (static_cast<uint64_t>(source()) << 32) | source();
  return is_cuda ? bits & ((uint64_t{1} << 53) - 1) : bits;
}

} // namespace detail

} // namespace c10
