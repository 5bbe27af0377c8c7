#include <c10/util/UniqueVoidPtr.h>

namespace c10::detail {

void deleteNothing(void*) {}

std::unique_ptr<void, DeleterFnPtr> UniqueVoidPtr::move_context() {
  return std::unique_ptr<void, DeleterFnPtr>(release_context(), deleter_);
}

} // namespace c10::detail
