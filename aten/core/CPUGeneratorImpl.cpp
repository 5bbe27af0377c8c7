#include <aten/core/CPUGeneratorImpl.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/cpu/random.h>
#include <aten/native/support/cpu_isa.h>

#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace at {

void mt19937::init(uint64_t seed) {
  seed_ = seed;
  state_[0] = static_cast<uint32_t>(seed);
  for (int j = 1; j < kStateSize; ++j) {
    state_[j] = 1812433253U * (state_[j - 1] ^ (state_[j - 1] >> 30)) + static_cast<uint32_t>(j);
  }
  left_ = 1;
  next_ = 0;
}

void mt19937::refill() {
  constexpr void (*kTable[])(uint32_t*) = {native::v2::twist_state, native::v3::twist_state, native::v4::twist_state};
  kTable[native::cpu_isa_level()](state_.data());
  left_ = kStateSize;
  next_ = 0;
}

void mt19937::set_data(const Data& data) {
  TORCH_CHECK(
      data.left >= 1 && data.left <= kStateSize && data.next >= 0 && data.next <= kStateSize &&
          data.next + data.left <= kStateSize + 1,
      "Invalid mt19937 state: left ", data.left, ", next ", data.next);
  seed_ = data.seed;
  left_ = data.left;
  next_ = data.next;
  state_ = data.state;
}

namespace {

// The byte layout that PyTorch saves: a legacy header, the twister, and the cached normal samples.
struct SavedState {
  uint64_t seed;
  int32_t left;
  int32_t seeded;
  uint64_t next;
  uint64_t state[mt19937::kStateSize];
  double normal_x;
  double normal_y;
  double normal_rho;
  int32_t normal_is_valid;
  int32_t padding;
  float next_float_normal_sample;
  uint8_t is_next_float_normal_sample_valid; // a bool, but any byte may come
};

} // namespace

CPUGeneratorImpl::CPUGeneratorImpl(uint64_t seed_in)
    : c10::GeneratorImpl(c10::Device(c10::DeviceType::CPU), c10::DispatchKeySet(c10::DispatchKey::CPU)),
      engine_(seed_in) {}

void CPUGeneratorImpl::set_current_seed(uint64_t seed) {
  next_normal_.reset();
  set_next_float_normal_sample(std::nullopt);
  engine_ = mt19937(seed);
}

void CPUGeneratorImpl::set_offset(uint64_t /*offset*/) {
  TORCH_CHECK(false, "CPU Generator does not use offset");
}

uint64_t CPUGeneratorImpl::get_offset() const {
  TORCH_CHECK(false, "CPU Generator does not use offset");
}

uint64_t CPUGeneratorImpl::seed() {
  const uint64_t random = c10::detail::getNonDeterministicRandom();
  set_current_seed(random);
  return random;
}

void CPUGeneratorImpl::set_state(const c10::TensorImpl& new_state) {
  TORCH_CHECK(
      new_state.numel() == sizeof(SavedState) && new_state.dtype() == caffe2::TypeMeta::Make<uint8_t>() &&
          new_state.is_contiguous() && new_state.device_type() == c10::DeviceType::CPU,
      "RNG state is wrong size: expected a contiguous CPU ByteTensor of ", sizeof(SavedState), " elements, got ",
      new_state.numel());
  SavedState saved;
  std::memcpy(&saved, new_state.data(), sizeof(saved));
  mt19937::Data data{saved.seed, saved.left, static_cast<int>(saved.next), {}};
  for (int i = 0; i < mt19937::kStateSize; ++i) {
    data.state[i] = static_cast<uint32_t>(saved.state[i]);
  }
  mt19937 engine;
  engine.set_data(data);
  engine_ = engine;
  next_normal_.reset();
  if (saved.normal_is_valid != 0) {
    next_normal_ = saved.normal_y;
  }
  has_next_float_normal_ = saved.is_next_float_normal_sample_valid != 0;
  next_float_normal_ = has_next_float_normal_ ? saved.next_float_normal_sample : 0;
}

c10::intrusive_ptr<c10::TensorImpl> CPUGeneratorImpl::get_state() const {
  SavedState saved;
  std::memset(&saved, 0, sizeof(saved));
  const mt19937::Data data = engine_.data();
  saved.seed = data.seed;
  saved.left = data.left;
  saved.seeded = 1;
  saved.next = static_cast<uint64_t>(data.next);
  for (int i = 0; i < mt19937::kStateSize; ++i) {
    saved.state[i] = data.state[i];
  }
  saved.normal_is_valid = next_normal_ ? 1 : 0;
  saved.normal_y = next_normal_.value_or(0);
  saved.is_next_float_normal_sample_valid = has_next_float_normal_ ? 1 : 0;
  saved.next_float_normal_sample = next_float_normal_;
  Tensor state = empty_contiguous({static_cast<int64_t>(sizeof(saved))}, kByte, kCPU);
  std::memcpy(state.mutable_data_ptr(), &saved, sizeof(saved));
  return state.getIntrusivePtr();
}

std::optional<float> CPUGeneratorImpl::next_float_normal_sample() const {
  return has_next_float_normal_ ? std::optional<float>(next_float_normal_) : std::nullopt;
}

void CPUGeneratorImpl::set_next_float_normal_sample(std::optional<float> value) {
  has_next_float_normal_ = value.has_value();
  next_float_normal_ = value.value_or(0);
}

CPUGeneratorImpl* CPUGeneratorImpl::clone_impl() const {
  auto* copy = new CPUGeneratorImpl();
  copy->engine_ = engine_;
  copy->next_normal_ = next_normal_;
  copy->has_next_float_normal_ = has_next_float_normal_;
  copy->next_float_normal_ = next_float_normal_;
  return copy;
}

namespace detail {

namespace {

thread_local const Generator* generator_of_thread = nullptr;

} // namespace

DefaultCPUGeneratorGuard::DefaultCPUGeneratorGuard(const Generator& generator)
    : previous_(std::exchange(generator_of_thread, &generator)) {}

DefaultCPUGeneratorGuard::~DefaultCPUGeneratorGuard() {
  generator_of_thread = previous_;
}

const Generator& getDefaultCPUGenerator() {
  if (generator_of_thread != nullptr) {
    return *generator_of_thread;
  }
  static const Generator generator = createCPUGenerator(c10::detail::getNonDeterministicRandom());
  return generator;
}

Generator createCPUGenerator(uint64_t seed_val) {
  return Generator(c10::make_intrusive<CPUGeneratorImpl>(seed_val));
}

namespace {

struct DeviceSeeding {
  std::mutex mutex;
  std::vector<void (*)(uint64_t)> callbacks;
  std::optional<uint64_t> last_seed;
};

DeviceSeeding& device_seeding() {
  static DeviceSeeding seeding;
  return seeding;
}

} // namespace

void register_device_seeding(void (*seed_all)(uint64_t)) {
  DeviceSeeding& seeding = device_seeding();
  const std::lock_guard<std::mutex> lock(seeding.mutex);
  seeding.callbacks.push_back(seed_all);
  // A backend that comes after manual_seed begins as if it had been there.
  if (seeding.last_seed) {
    seed_all(*seeding.last_seed);
  }
}

} // namespace detail

void manual_seed(uint64_t seed) {
  Generator generator = detail::getDefaultCPUGenerator();
  {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(seed);
  }
  detail::DeviceSeeding& seeding = detail::device_seeding();
  const std::lock_guard<std::mutex> lock(seeding.mutex);
  seeding.last_seed = seed;
  for (auto* seed_all : seeding.callbacks) {
    seed_all(seed);
  }
}

} // namespace at
