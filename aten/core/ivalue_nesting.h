// Walks over values inside of values.
#pragma once

#include <c10/util/Exception.h>

#include <cstddef>

namespace c10::detail {

/// Marks a container (or a pair of them) as being walked on this thread while it lives. One that holds itself is then
/// met again and the walk can end. `Walk` keeps walks of different kinds apart. Throws where containers are nested so
/// deeply that the walk could overrun the stack.
template <class Walk>
class EnteredContainer {
 public:
  explicit EnteredContainer(const void* container, const void* other = nullptr)
      : container_(container), other_(other), outer_(innermost_), level_(outer_ ? outer_->level_ + 1 : 0) {
    TORCH_CHECK(level_ < kDeepest, "the values are nested too deeply: more than ", kDeepest, " levels");
    for (const EnteredContainer* entered = outer_; entered != nullptr && !again_; entered = entered->outer_) {
      again_ = entered->container_ == container && entered->other_ == other;
    }
    innermost_ = this;
  }
  ~EnteredContainer() {
    innermost_ = outer_;
  }
  EnteredContainer(const EnteredContainer&) = delete;
  EnteredContainer& operator=(const EnteredContainer&) = delete;

  /// Whether a walk further out has not left the container yet.
  bool again() const {
    return again_;
  }

 private:
  static constexpr size_t kDeepest = 4000;
  static thread_local const EnteredContainer* innermost_;

  const void* const container_;
  const void* const other_;
  const EnteredContainer* const outer_;
  const size_t level_;
  bool again_ = false;
};

template <class Walk>
thread_local const EnteredContainer<Walk>* EnteredContainer<Walk>::innermost_ = nullptr;

} // namespace c10::detail
