// Process groups by name.
#pragma once

#include <csrc/distributed/c10d/ProcessGroup.h>

namespace c10d {

/// With isolation each thread has names of its own: for ranks that are threads.
TORCH_API void set_thread_isolation_mode(bool enable);
TORCH_API bool get_thread_isolation_mode();
/// The group is not kept alive. Throws if the name is taken.
TORCH_API void register_process_group(
    const std::string& group_name, const c10::intrusive_ptr<c10d::ProcessGroup>& group);
/// Throws if there is none, or no more.
TORCH_API c10::intrusive_ptr<c10d::ProcessGroup> resolve_process_group(const std::string& group_name);
TORCH_API bool is_process_group_registered(const std::string& group_name);
TORCH_API void unregister_process_group(const std::string& group_name);
TORCH_API void unregister_all_process_groups();

} // namespace c10d
