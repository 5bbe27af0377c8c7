#pragma once

#include <aten/core/ivalue.h>
#include <aten/parallel/Parallel.h>

#include <functional>

namespace at {

/// intraop_launch, with a future that is completed (by None) after `func` has run.
inline c10::intrusive_ptr<c10::ivalue::Future> intraop_launch_future(const std::function<void()>& func) {
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::NoneType::get());
  intraop_launch([&] {
    func();
    future->markCompleted();
  });
  return future;
}

} // namespace at
