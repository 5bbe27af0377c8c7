// Which backends of this process have been given up.
#include <csrc/distributed/hooks/HealthCheck.h>

#include <csrc/distributed/c10d/ProcessGroup.h>

namespace c10d {

HealthCheck* HealthCheck::get() {
  static HealthCheck& all = *new HealthCheck(); // backends may be given up after all else has ended
  return &all;
}

void HealthCheck::setUnhealthy(std::string backend) {
  const std::lock_guard lock(mutex_);
  unhealthy_backends_.insert(std::move(backend));
}

std::vector<std::string> HealthCheck::unhealthyBackends() const {
  const std::lock_guard lock(mutex_);
  return {unhealthy_backends_.begin(), unhealthy_backends_.end()};
}

void HealthCheckHook::attach(const c10::intrusive_ptr<ProcessGroup>& pg) {
  TORCH_CHECK_VALUE(pg, "HealthCheckHook::attach: the group is null");
  if (!pg->supportsAbortHooks()) {
    return;
  }
  static std::atomic<int64_t> next_id{int64_t(1) << 62}; // programs count from 0
  pg->registerAbortHook(next_id++, [name = pg->getBackendName()] { HealthCheck::get()->setUnhealthy(name); });
}

} // namespace c10d
