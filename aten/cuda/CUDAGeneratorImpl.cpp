#include <aten/cuda/CUDAGeneratorImpl.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/cuda/CUDAGraph.h>
#include <aten/cuda/default_generators.h>
#include <c10/cuda/CUDAFunctions.h>

#include <array>
#include <cstring>
#include <mutex>
#include <optional>

namespace at {
namespace {

// The byte layout that PyTorch saves.
struct SavedState {
  uint64_t seed;
  int64_t offset;
};

c10::DeviceIndex device_or_current(c10::DeviceIndex device) {
  return device == -1 ? c10::cuda::current_device() : device;
}

} // namespace

CUDAGeneratorImpl::CUDAGeneratorImpl(DeviceIndex device_index)
    : c10::GeneratorImpl(
          Device(DeviceType::CUDA, device_or_current(device_index)), c10::DispatchKeySet(c10::DispatchKey::CUDA)),
      state_(c10::make_intrusive<CUDAGeneratorState>(c10::default_rng_seed_val, 0)) {}

void CUDAGeneratorImpl::set_current_seed(uint64_t seed) {
  c10::cuda::assert_not_capturing("Cannot call CUDAGeneratorImpl::set_current_seed");
  state_->seed = seed;
  state_->offset = 0;
}

void CUDAGeneratorImpl::set_offset(uint64_t offset) {
  set_philox_offset_per_thread(offset);
}

uint64_t CUDAGeneratorImpl::seed() {
  const uint64_t random = c10::detail::getNonDeterministicRandom(true);
  set_current_seed(random);
  return random;
}

void CUDAGeneratorImpl::set_philox_offset_per_thread(uint64_t offset) {
  c10::cuda::assert_not_capturing("Cannot call CUDAGeneratorImpl::set_philox_offset_per_thread");
  TORCH_CHECK(offset % 4 == 0, "offset must be a multiple of 4, got ", offset);
  state_->offset = offset;
}

std::pair<uint64_t, uint64_t> CUDAGeneratorImpl::philox_engine_inputs(uint64_t increment) {
  c10::cuda::assert_not_capturing("Cannot call CUDAGeneratorImpl::philox_engine_inputs");
  return {state_->seed, state_->take(increment)};
}

PhiloxCudaState CUDAGeneratorImpl::philox_cuda_state(uint64_t increment) {
  if (cuda::CUDAGraph* graph = cuda::CUDAGraph::get_currently_capturing_graph(); C10_UNLIKELY(graph != nullptr)) {
    return graph->draw(state_, increment);
  }
  return {state_->seed, state_->take(increment)};
}

void CUDAGeneratorImpl::set_state(const c10::TensorImpl& new_state) {
  c10::cuda::assert_not_capturing("Cannot call CUDAGeneratorImpl::set_state");
  at::detail::check_rng_state(new_state);
  const int64_t bytes = new_state.numel();
  TORCH_CHECK(
      bytes == sizeof(SavedState) || bytes == sizeof(uint64_t), "RNG state is wrong size: expected ",
      sizeof(SavedState), " bytes (seed and offset) or ", sizeof(uint64_t), " (the seed alone), got ", bytes);
  SavedState state{};
  std::memcpy(&state, new_state.data(), static_cast<size_t>(bytes));
  TORCH_CHECK(
      state.offset >= 0 && state.offset % 4 == 0, "RNG state is invalid: its offset must be a multiple of 4, got ",
      state.offset);
  state_->seed = state.seed;
  state_->offset = static_cast<uint64_t>(state.offset);
}

c10::intrusive_ptr<c10::TensorImpl> CUDAGeneratorImpl::get_state() const {
  const SavedState saved{state_->seed, static_cast<int64_t>(state_->offset.load())};
  Tensor state = empty_contiguous({static_cast<int64_t>(sizeof(saved))}, kByte, kCPU);
  std::memcpy(state.mutable_data_ptr(), &saved, sizeof(saved));
  return state.getIntrusivePtr();
}

CUDAGeneratorImpl* CUDAGeneratorImpl::clone_impl() const {
  auto* copy = new CUDAGeneratorImpl(device().index());
  copy->state_->seed = state_->seed.load();
  copy->state_->offset = state_->offset.load();
  return copy;
}

void CUDAGeneratorImpl::graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& new_state) {
  TORCH_CHECK(
      new_state && new_state->device().is_cuda(),
      "graphsafe_set_state: expected a CUDA generator to share the state of");
  state_ = static_cast<const CUDAGeneratorImpl&>(*new_state).state_;
}

c10::intrusive_ptr<c10::GeneratorImpl> CUDAGeneratorImpl::graphsafe_get_state() const {
  auto sharing = c10::make_intrusive<CUDAGeneratorImpl>(device().index());
  sharing->state_ = state_;
  return sharing;
}

namespace cuda::detail {
namespace {

/// The default generators, made when first asked for; so a program can seed them all before it has used a device.
struct DefaultGenerators {
  std::mutex mutex;
  std::array<Generator, C10_COMPILE_TIME_MAX_GPUS> generators;
  std::optional<uint64_t> seed_of_new_ones;
};

/// Never destroyed.
DefaultGenerators& defaults() {
  static auto* const all = new DefaultGenerators();
  return *all;
}

void seed_generator(Generator generator, uint64_t seed) {
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}

} // namespace

const Generator& getDefaultCUDAGenerator(DeviceIndex device_index) {
  const DeviceIndex device = device_or_current(device_index);
  TORCH_CHECK(
      device >= 0 && device < c10::cuda::device_count(), "CUDA device ", static_cast<int>(device),
      " has no default generator: there are ", static_cast<int>(c10::cuda::device_count()), " devices");
  DefaultGenerators& all = defaults();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Generator& generator = all.generators[static_cast<size_t>(device)];
  if (!generator.defined()) {
    generator = createCUDAGenerator(device);
    if (all.seed_of_new_ones) {
      generator.set_current_seed(*all.seed_of_new_ones);
    } else {
      generator.seed();
    }
  }
  return generator;
}

Generator createCUDAGenerator(DeviceIndex device_index) {
  const DeviceIndex device = device_or_current(device_index);
  TORCH_CHECK(
      device >= 0 && device < c10::cuda::device_count(), "device_index is invalid: ", static_cast<int>(device), " of ",
      static_cast<int>(c10::cuda::device_count()), " devices");
  return make_generator<CUDAGeneratorImpl>(device);
}

void seed_all_default_generators(uint64_t seed) {
  DefaultGenerators& all = defaults();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.seed_of_new_ones = seed;
  for (const Generator& generator : all.generators) {
    if (generator.defined()) {
      seed_generator(generator, seed);
    }
  }
}

} // namespace cuda::detail
} // namespace at
