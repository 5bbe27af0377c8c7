// Philox generators: host state only, so no device is needed.
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/PhiloxUtils.cuh>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cstring>

using Catch::Matchers::Contains;

namespace {

at::Generator make_generator(c10::DeviceIndex device = 0) {
  return at::make_generator<at::CUDAGeneratorImpl>(device);
}

at::CUDAGeneratorImpl& impl(const at::Generator& generator) {
  return *at::check_generator<at::CUDAGeneratorImpl>(generator);
}

} // namespace

TEST_CASE("a CUDA generator counts in fours from its seed", "[cuda][generator]") {
  at::Generator generator = make_generator(3);
  CHECK(generator.device() == at::Device(at::kCUDA, 3));
  CHECK(generator.current_seed() == c10::default_rng_seed_val);
  generator.set_current_seed(42);
  CHECK(impl(generator).philox_engine_inputs(1) == std::pair<uint64_t, uint64_t>(42, 0));
  CHECK(impl(generator).philox_engine_inputs(8) == std::pair<uint64_t, uint64_t>(42, 4));
  CHECK(at::cuda::philox::unpack(impl(generator).philox_cuda_state(5)) == std::tuple<uint64_t, uint64_t>(42, 12));
  CHECK(generator.get_offset() == 20);
  generator.set_offset(400);
  CHECK(impl(generator).philox_offset_per_thread() == 400);
  CHECK_THROWS_WITH(generator.set_offset(401), Contains("offset must be a multiple of 4"));
  generator.set_current_seed(42);
  CHECK(generator.get_offset() == 0);
  const uint64_t random = generator.seed();
  CHECK(random == generator.current_seed());
  CHECK(random != 42);
}

TEST_CASE("the state of a CUDA generator is seed and offset, as PyTorch saves it", "[cuda][generator]") {
  at::Generator generator = make_generator();
  generator.set_current_seed(0x0123456789abcdef);
  generator.set_offset(1024);
  const at::Tensor state = generator.get_state();
  CHECK(state.scalar_type() == at::kByte);
  REQUIRE(state.numel() == 16);
  uint64_t words[2];
  std::memcpy(words, state.const_data_ptr(), sizeof(words));
  CHECK(words[0] == 0x0123456789abcdef);
  CHECK(words[1] == 1024);

  at::Generator other = make_generator();
  other.set_state(state);
  CHECK(other.current_seed() == generator.current_seed());
  CHECK(other.get_offset() == 1024);
  at::Generator copy = generator.clone();
  CHECK(copy != generator);
  impl(copy).philox_engine_inputs(4);
  CHECK(copy.get_offset() == 1028);
  CHECK(generator.get_offset() == 1024);

  other.set_state(state.slice(0, 0, 8).clone()); // the seed alone
  CHECK(other.get_offset() == 0);
  CHECK_THROWS_WITH(other.set_state(state.slice(0, 0, 9).clone()), Contains("RNG state is wrong size"));
  CHECK_THROWS_AS(other.set_state(at::zeros({4})), c10::Error);
  at::Tensor odd = state.clone();
  odd[8] = 1;
  CHECK_THROWS_WITH(other.set_state(odd), Contains("multiple of 4"));
  CHECK(other.get_offset() == 0);
  CHECK_THROWS_WITH(at::check_generator<at::CUDAGeneratorImpl>(at::detail::createCPUGenerator()), Contains("'cuda'"));
}
