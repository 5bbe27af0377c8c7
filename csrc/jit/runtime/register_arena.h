// Memory for the registers of functions that run.
#pragma once

#include <aten/core/ivalue.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace torch::jit {

/// A thread's stack of registers. What was given never moves, and memory stays for the next run.
class RegisterArena {
 public:
  static RegisterArena& of_this_thread();

  /// Empty registers.
  c10::IValue* take(size_t count);
  /// Gives back the last that were taken, which may hold values still.
  void give_back(c10::IValue* registers, size_t count);

 private:
  struct Chunk {
    std::unique_ptr<c10::IValue[]> values;
    size_t capacity;
    size_t used;
  };
  std::vector<Chunk> chunks_;
  size_t current_ = 0;
};

} // namespace torch::jit
