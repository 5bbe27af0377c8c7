// Random number generators of CUDA devices.
#pragma once

#include <aten/core/Generator.h>
#include <aten/cuda/PhiloxCudaState.h>
#include <aten/cuda/impl/GraphCapture.h>
#include <c10/core/GeneratorImpl.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <utility>

namespace at {

/// Seed and position of a Philox4x32-10 sequence. The numbers are made in kernels: thread i of a launch takes those of
/// subsequence i from the offset on. A launch says how many numbers its threads take at most and moves the offset by
/// them.
struct TORCH_CUDA_CPP_API CUDAGeneratorImpl final : public c10::GeneratorImpl {
  /// Device -1 is the current one.
  explicit CUDAGeneratorImpl(DeviceIndex device_index = -1);

  void set_current_seed(uint64_t seed) override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override {
    return state_->offset;
  }
  uint64_t current_seed() const override {
    return state_->seed;
  }
  uint64_t seed() override;
  void set_state(const c10::TensorImpl& new_state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  /// Shares the state of another CUDA generator: graphs that draw from either go on in one sequence.
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& new_state) override;
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override;
  static c10::DeviceType device_type() {
    return c10::DeviceType::CUDA;
  }

  /// The offset must be a multiple of 4, since Philox makes four numbers at once.
  void set_philox_offset_per_thread(uint64_t offset);
  uint64_t philox_offset_per_thread() const {
    return state_->offset;
  }
  const c10::intrusive_ptr<CUDAGeneratorState>& state() const {
    return state_;
  }
  /// The state for a kernel whose threads take up to `increment` numbers each. Hold mutex_. See Note [Random numbers in
  /// graphs].
  PhiloxCudaState philox_cuda_state(uint64_t increment);
  /// The same as (seed, offset). Not under capture.
  std::pair<uint64_t, uint64_t> philox_engine_inputs(uint64_t increment);

 private:
  CUDAGeneratorImpl* clone_impl() const override;

  c10::intrusive_ptr<CUDAGeneratorState> state_;
};

namespace cuda::detail {

/// The generator that operators of a device use; device -1 is the current one.
TORCH_CUDA_CPP_API const Generator& getDefaultCUDAGenerator(DeviceIndex device_index = -1);
/// A generator of its own.
TORCH_CUDA_CPP_API Generator createCUDAGenerator(DeviceIndex device_index = -1);

} // namespace cuda::detail
} // namespace at
