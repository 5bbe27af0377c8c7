// How many processors the system grants this process by control groups.
#pragma once

#include <c10/macros/Macros.h>

#include <string>

namespace at::internal {

/// Whole processors that the tightest limit among the process's control groups and their parents grants, or 0 where
/// there is none. Versions 1 and 2 are read. `groups` lists the process's groups, as /proc/self/cgroup does; `mount` is
/// where they are mounted.
TORCH_API int cgroup_cpu_quota(
    const std::string& groups = "/proc/self/cgroup", const std::string& mount = "/sys/fs/cgroup");

} // namespace at::internal
