#include <c10/util/ThreadLocalDebugInfo.h>

#include <c10/util/Exception.h>

namespace c10 {

namespace {
thread_local std::shared_ptr<ThreadLocalDebugInfo> current_info __attribute__((tls_model("initial-exec")));
}

ThreadLocalDebugInfo::ThreadLocalDebugInfo(
    std::shared_ptr<DebugInfoBase> info, DebugInfoKind kind, std::shared_ptr<ThreadLocalDebugInfo> parent)
    : info_(std::move(info)), kind_(kind), parent_info_(std::move(parent)) {}

DebugInfoBase* ThreadLocalDebugInfo::get(DebugInfoKind kind) {
  for (const ThreadLocalDebugInfo* entry = current_info.get(); entry != nullptr; entry = entry->parent_info_.get()) {
    if (entry->kind_ == kind) {
      return entry->info_.get();
    }
  }
  return nullptr;
}

std::shared_ptr<ThreadLocalDebugInfo> ThreadLocalDebugInfo::current() {
  return current_info;
}

void ThreadLocalDebugInfo::_forceCurrentDebugInfo(std::shared_ptr<ThreadLocalDebugInfo> info) {
  current_info = std::move(info);
}

void ThreadLocalDebugInfo::_push(DebugInfoKind kind, std::shared_ptr<DebugInfoBase> info) {
  current_info = std::make_shared<ThreadLocalDebugInfo>(std::move(info), kind, std::move(current_info));
}

std::shared_ptr<DebugInfoBase> ThreadLocalDebugInfo::_pop(DebugInfoKind kind) {
  TORCH_CHECK(
      current_info != nullptr && current_info->kind_ == kind, "Expected debug info of type ", static_cast<int>(kind),
      " on top of this thread's stack");
  const auto top = std::move(current_info);
  current_info = top->parent_info_.shared();
  return top->info_.shared();
}

std::shared_ptr<DebugInfoBase> ThreadLocalDebugInfo::_peek(DebugInfoKind kind) {
  TORCH_CHECK(
      current_info != nullptr && current_info->kind_ == kind, "Expected debug info of type ", static_cast<int>(kind),
      " on top of this thread's stack");
  return current_info->info_.shared();
}

DebugInfoGuard::DebugInfoGuard(DebugInfoKind kind, std::shared_ptr<DebugInfoBase> info) {
  if (info != nullptr) {
    active_ = true;
    previous_ = current_info;
    ThreadLocalDebugInfo::_push(kind, std::move(info));
  }
}

DebugInfoGuard::DebugInfoGuard(std::shared_ptr<ThreadLocalDebugInfo> info) {
  if (info != nullptr) {
    active_ = true;
    previous_ = std::move(current_info);
    current_info = std::move(info);
  }
}

DebugInfoGuard::~DebugInfoGuard() {
  if (active_) {
    current_info = previous_.shared();
  }
}

} // namespace c10
