// The CPU generator and seeding.
#pragma once

#include <aten/core/Generator.h>

#include <cstdint>

namespace at {

/// Seeds the default generators of the CPU and of every loaded device.
TORCH_API void manual_seed(uint64_t seed);

namespace detail {
/// The CPU generator that this thread draws from by default: the process-wide one, or its own under the guard below.
TORCH_API const Generator& getDefaultCPUGenerator();

/// Makes `generator` this thread's default CPU generator for the guard's life. The caller keeps it alive.
class TORCH_API DefaultCPUGeneratorGuard {
 public:
  explicit DefaultCPUGeneratorGuard(const Generator& generator);
  ~DefaultCPUGeneratorGuard();
  DefaultCPUGeneratorGuard(const DefaultCPUGeneratorGuard&) = delete;
  DefaultCPUGeneratorGuard& operator=(const DefaultCPUGeneratorGuard&) = delete;

 private:
  const Generator* previous_;
};

/// A CPU generator of its own with the given seed.
TORCH_API Generator createCPUGenerator(uint64_t seed_val = c10::default_rng_seed_val);
/// A device backend registers how its generators are seeded: called by manual_seed, and at once if that was called
/// before.
TORCH_API void register_device_seeding(void (*seed_all)(uint64_t));
} // namespace detail

} // namespace at
