#pragma once

namespace c10::impl {

/// Place for the object of another language that wraps a tensor. The library only keeps the pointer.
struct PyObjectSlot {
  void* object = nullptr;
};

} // namespace c10::impl
