// What the emulator finds in kernels that a device would run wrongly.
#include "test/cuda/emulated/emulator.h"

#include <catch2/catch.hpp>

#include <array>
#include <vector>

using emulator::Shared;

namespace {

constexpr unsigned kThreads = 96;

// What each thread sees of its neighbours, all of which write first.
std::vector<int> neighbours(bool with_barrier) {
  std::vector<int> seen(kThreads);
  emulator::launch_grid(1, kThreads, [&] {
    static Shared<int[kThreads]> words_shared;
    auto& words = words_shared.enter();
    const unsigned i = threadIdx.x;
    words[i] = static_cast<int>(i);
    if (with_barrier) {
      __syncthreads();
    }
    seen[i] = words[(i + 1) % kThreads] + words[(i + kThreads - 1) % kThreads];
  });
  return seen;
}

} // namespace

TEST_CASE("emulator: a kernel without its barrier is wrong in every order", "[cuda][emulator]") {
  std::vector<int> right(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) {
    right[i] = static_cast<int>((i + 1) % kThreads + (i + kThreads - 1) % kThreads);
  }
  for (int launch = 0; launch < 3; ++launch) { // one of each order
    CHECK(neighbours(true) == right);
    CHECK(neighbours(false) != right);
  }
}

TEST_CASE("emulator: a launch copies its arguments, as many threads as a device takes", "[cuda][emulator]") {
  int sum = 0;
  const auto add = [](int* to, const std::array<int, 2>& terms) { *to += terms[0] + terms[1]; };
  emulator::launch(2, 3, nullptr, add, &sum, std::array<int, 2>{4, 5});
  CHECK(sum == 6 * 9);
  CHECK_THROWS_WITH(
      emulator::launch(1, 1025, nullptr, add, &sum, std::array<int, 2>{}), Catch::Contains("refuse this launch"));
  CHECK_THROWS_WITH(
      emulator::launch(0, 1, nullptr, add, &sum, std::array<int, 2>{}), Catch::Contains("refuse this launch"));
}

TEST_CASE("emulator: shared memory of a block holds nothing of the block before", "[cuda][emulator]") {
  std::array<int, 4> found{};
  emulator::launch_grid(4, 1, [&] {
    static Shared<int[1]> word_shared;
    auto& word = word_shared.enter();
    found[blockIdx.x] = word[0];
    word[0] = 5;
  });
  CHECK(found == std::array<int, 4>{-1, -1, -1, -1});
}

TEST_CASE("emulator: what a device would not do is an error", "[cuda][emulator]") {
  const auto refuses = [](const std::function<void()>& thread, const char* why) {
    CHECK_THROWS_WITH(emulator::launch_grid(1, 64, thread), Catch::Contains(why));
  };
  refuses(
      [] {
        if (threadIdx.x % 32 < 16) {
          __shfl_xor_sync(0xffffffffu, 1u, 1);
        }
      },
      "one that has left");
  refuses(
      [] { threadIdx.x == 3 ? __syncthreads() : static_cast<void>(__shfl_up_sync(0xffffffffu, 1u, 1)); },
      "waits for the whole block");
  refuses(
      [] {
        static Shared<char[10]> bytes_shared;
        auto& bytes = bytes_shared.enter();
        (&bytes[0])[threadIdx.x] = 1;
      },
      "beside an array of shared memory of 10 bytes");
  refuses(
      [] {
        alignas(16) static char to[16], from[16];
        emulator::copy_16_bytes(to, from, true);
      },
      "before its copies");
  // Lanes of different warps need not be at the same place, and warps may leave before a barrier.
  int sum = 0;
  emulator::launch_grid(1, 96, [&] {
    if (threadIdx.x < 32) {
      sum += static_cast<int>(__shfl_xor_sync(0xffffffffu, threadIdx.x, 16));
    } else if (threadIdx.x < 64) {
      __syncthreads();
    }
  });
  CHECK(sum == 31 * 16);
}
