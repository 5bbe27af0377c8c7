// A CPU allocator that watches its callers: every block has exactly the size asked for, between guard bytes, filled
// with a pattern before use and another after. It refuses what is too big, and any allocation a test chooses.
#pragma once

#include <c10/core/Allocator.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace test {

class StrictAllocator final : public c10::Allocator {
 public:
  /// The allocator, which from now on serves all CPU tensors of the process. Blocks made before stay valid.
  static StrictAllocator& install();
  /// Makes the default allocator serve again. Blocks given out stay valid.
  static void uninstall();

  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;

  /// Larger blocks are refused, and whatever would bring the sum over `total`.
  void set_limits(size_t block, size_t total);
  /// New memory is filled with this byte.
  void set_fill(uint8_t fill);

  /// The `k`-th allocation from now on fails (once); 0 for none.
  void fail_at(int64_t k);
  /// Allocations since the last fail_at, refused ones included.
  int64_t allocations() const;
  /// Whether one was refused since the last fail_at.
  bool refused() const;

  size_t live_blocks() const;
  size_t live_bytes() const;

  /// Empty, or what happened to the guards of a block that lives or was released since the last question.
  std::string find_damage();

 private:
  StrictAllocator() = default;
};

} // namespace test
