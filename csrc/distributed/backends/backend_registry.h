// Backends by name, and those that lie in libraries of their own.
#pragma once

#include <csrc/distributed/c10d/ProcessGroup.h>

#include <functional>
#include <string>
#include <vector>

namespace c10d {

/// Makes a backend for a group; all ranks of the group do so at the same time.
using BackendCreator = std::function<c10::intrusive_ptr<Backend>(const DistributedBackendOptions& options)>;

/// Lets init_process_group and new_group make backends of this name. Throws if there is one already.
TORCH_API void register_backend(const std::string& name, BackendCreator creator);
/// A backend by its name: shm, gloo, fake, one that was registered, or one whose library lies beside libtensor
/// (libtensor_mpi.so for "mpi"), which is opened now. Throws for others, and says what there is.
TORCH_API c10::intrusive_ptr<Backend> create_backend(const std::string& name, const DistributedBackendOptions& options);
/// Whether create_backend knows the name; for a library: whether it can be opened.
TORCH_API bool is_backend_available(const std::string& name);

namespace detail {
/// "gloo" -> the creator that libtensor_gloo.so registers; throws, and says why, where it cannot be opened.
TORCH_API BackendCreator plugin_backend(const std::string& name);
/// For plugins.
TORCH_API void register_plugin_backend(const std::string& name, BackendCreator creator);
} // namespace detail

} // namespace c10d
