#include <aten/native/support/streamed.h>

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

namespace at::native {

ResultStream::~ResultStream() {
  if (used_) {
    _mm_sfence();
  }
}

void ResultStream::write(void* to_bytes, const void* from_bytes, std::int64_t bytes) {
  constexpr std::int64_t kWord = sizeof(__m128i);
  auto* to = static_cast<char*>(to_bytes);
  auto* from = static_cast<const char*>(from_bytes);
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kLine);
  const std::int64_t head = std::min(bytes, past == 0 ? 0 : kLine - past);
  if (head != 0) {
    std::memcpy(to, from, static_cast<std::size_t>(head));
  }
  std::int64_t i = head;
  for (; i + kLine <= bytes; i += kLine) {
    const auto word = [&](std::int64_t w) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + w * kWord));
    };
    const __m128i first = word(0), second = word(1), third = word(2), last = word(3);
    auto* line = reinterpret_cast<__m128i*>(to + i);
    _mm_stream_si128(line, first);
    _mm_stream_si128(line + 1, second);
    _mm_stream_si128(line + 2, third);
    _mm_stream_si128(line + 3, last);
  }
  if (i < bytes) {
    std::memcpy(to + i, from + i, static_cast<std::size_t>(bytes - i));
  }
}

} // namespace at::native
