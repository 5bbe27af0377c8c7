#include <c10/util/intrusive_ptr.h>

#include <cstdio>
#include <cstdlib>

namespace c10 {

namespace detail {

void intrusive_count_failed(const char* message) {
  // Destructors and noexcept functions get here: there is nobody to throw to.
  std::fprintf(stderr, "%s\n", message);
  std::abort();
}

} // namespace detail

void intrusive_ptr_target::destroy_unique(intrusive_ptr_target* self) noexcept {
  // The destructor sees zero strong references, as it would by the other road.
  self->combined_refcount_.store(0, std::memory_order_relaxed);
  delete self;
}

void intrusive_ptr_target::release_last(intrusive_ptr_target* self, uint64_t now) noexcept {
  // All strong references together hold one weak count, which keeps the memory while resources go.
  if (detail::weakcount(now) != 1) {
    self->release_resources();
    if (detail::weakcount(detail::count_sub(self->combined_refcount_, detail::kWeakOne)) != 0) {
      return;
    }
  }
  delete self;
}

} // namespace c10
