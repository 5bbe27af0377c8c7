#include <c10/cuda/impl/RecentOperators.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace c10::cuda::impl {
namespace {

struct Ring {
  static constexpr std::size_t kNames = 8;
  std::array<const char*, kNames> names{};
  std::size_t count = 0;
};

thread_local constinit Ring ring;

} // namespace

void note_operator(const char* name) {
  Ring& own = ring;
  own.names[own.count++ % Ring::kNames] = name;
}

std::string recent_operators() {
  std::string text;
  for (std::size_t i = 0; i < std::min(ring.count, Ring::kNames); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(ring.names[(ring.count - 1 - i) % Ring::kNames]);
  }
  return text;
}

} // namespace c10::cuda::impl
