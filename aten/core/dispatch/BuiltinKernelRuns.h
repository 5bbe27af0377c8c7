#pragma once

#include <c10/util/Indirect.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace c10::impl {

struct BuiltinKernelRow;

/// Rows for one operator that stand together in one table.
struct BuiltinKernelRun {
  const BuiltinKernelRow* rows = nullptr;
  size_t count = 0;
};

/// The runs of one operator, oldest first. Few operators have more than four: those are inside of the object, since
/// thousands are made when the library is loaded.
class BuiltinKernelRuns {
 public:
  size_t size() const;
  BuiltinKernelRun operator[](size_t i) const;
  /// `run` is not empty.
  void add(BuiltinKernelRun run);

 private:
  static constexpr size_t kInside = 4;
  size_t inside() const;

  std::array<const BuiltinKernelRow*, kInside> rows_{};
  std::array<uint16_t, kInside> counts_{}; // 0: no run
  Indirect<std::vector<BuiltinKernelRun>> more_;
};

} // namespace c10::impl
