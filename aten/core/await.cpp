#include <aten/core/ivalue.h>
#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>

#include <ostream>

namespace c10::ivalue {

Await::Await(TypePtr type, std::function<IValue()> function)
    : element_type_(std::move(type)), type_(AwaitType::create(element_type_)), function_(std::move(function)) {}

Await::~Await() = default;

IValue Await::wait() {
  if (!completed_) {
    TORCH_CHECK(
        function_, "Await::wait: there is no function to call; give one with setFn, or the value with markCompleted");
    markCompleted(function_());
    args_.clear();
  }
  return value_;
}

IValue Await::value() const {
  TORCH_CHECK(completed_, "Await must be completed");
  return value_;
}

void Await::markCompleted(IValue value) {
  value_ = std::move(value);
  completed_ = true;
}

std::ostream& operator<<(std::ostream& out, const Await& await) {
  out << "Await[completed=" << await.completed();
  if (await.completed()) {
    out << ", value=" << await.value();
  }
  return out << ']';
}

} // namespace c10::ivalue
