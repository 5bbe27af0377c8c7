// Backends by name.
#include <csrc/distributed/backends/backend_registry.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/backends/ProcessGroupGloo.h>
#include <csrc/distributed/c10d/FakeProcessGroup.h>
#include <csrc/distributed/c10d/ProcessGroupShm.h>

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace c10d {

namespace {

// Never destroyed: libraries are closed late.
struct Registry {
  std::recursive_mutex mutex; // a library registers while it is opened
  std::map<std::string, BackendCreator> backends;
  std::map<std::string, BackendCreator> plugins;
};

template <class Options>
c10::intrusive_ptr<Options> filled(const DistributedBackendOptions& from) {
  auto options = c10::make_intrusive<Options>(std::chrono::duration_cast<std::chrono::milliseconds>(from.timeout));
  options->group_name = from.group_id;
  options->global_ranks_in_group.assign(from.global_ranks_in_group.begin(), from.global_ranks_in_group.end());
  return options;
}

Registry& registry() {
  static Registry& all = *[] {
    auto* made = new Registry();
    made->backends["shm"] = [](const DistributedBackendOptions& options) -> c10::intrusive_ptr<Backend> {
      return c10::make_intrusive<ProcessGroupShm>(
          options.store, options.group_rank, options.group_size, filled<ProcessGroupShm::Options>(options));
    };
    made->backends["gloo"] = [](const DistributedBackendOptions& options) -> c10::intrusive_ptr<Backend> {
      return c10::make_intrusive<ProcessGroupGloo>(
          options.store, options.group_rank, options.group_size, filled<ProcessGroupGloo::Options>(options));
    };
    made->backends["fake"] = [](const DistributedBackendOptions& options) -> c10::intrusive_ptr<Backend> {
      return c10::make_intrusive<FakeProcessGroup>(options.group_rank, options.group_size);
    };
    return made;
  }();
  return all;
}

std::string library_folder() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<void*>(&registry), &info) == 0 || info.dli_fname == nullptr) {
    return ".";
  }
  const std::string path(info.dli_fname);
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// Opens the library of a backend, once; what is wrong, or nothing.
std::string open_plugin(const std::string& name) {
  Registry& all = registry();
  const bool plain =
      !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c); });
  if (!plain) {
    return "'" + name + "' is no name of a library";
  }
  const std::string path = library_folder() + "/libtensor_" + name + ".so";
  if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) { // MPI's own plugins look for its symbols
    const char* why = ::dlerror();
    return why != nullptr ? why : path + " cannot be opened";
  }
  return all.plugins.count(name) > 0 ? "" : path + " has no backend of that name";
}

} // namespace

void register_backend(const std::string& name, BackendCreator creator) {
  TORCH_CHECK_VALUE(creator != nullptr, "register_backend: the creator of '", name, "' is null");
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const bool fresh = all.backends.emplace(name, std::move(creator)).second;
  TORCH_CHECK_VALUE(fresh, "register_backend: there is a backend '", name, "' already");
}

void detail::register_plugin_backend(const std::string& name, BackendCreator creator) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.plugins[name] = std::move(creator);
}

BackendCreator detail::plugin_backend(const std::string& name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.plugins.find(name);
  if (found != all.plugins.end()) {
    return found->second;
  }
  const std::string problem = open_plugin(name);
  TORCH_CHECK_VALUE(
      problem.empty(), "the library of the backend '", name, "' cannot be used: ", problem,
      ". It is built where the development files of the engine are installed");
  return all.plugins.at(name);
}

c10::intrusive_ptr<Backend> create_backend(const std::string& name, const DistributedBackendOptions& options) {
  BackendCreator creator;
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found = all.backends.find(name);
    if (found != all.backends.end()) {
      creator = found->second;
    }
  }
  if (!creator) {
    static const std::vector<std::string> libraries = {"mpi", "nccl"};
    TORCH_CHECK_VALUE(
        std::find(libraries.begin(), libraries.end(), name) != libraries.end(), "unknown backend '", name,
        "'; there are shm, gloo (which is shm within a host), mpi, nccl and fake, and what register_backend has added");
    creator = detail::plugin_backend(name);
  }
  return creator(options);
}

bool is_backend_available(const std::string& name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.backends.count(name) > 0 || all.plugins.count(name) > 0 ||
      ((name == "mpi" || name == "nccl") && open_plugin(name).empty());
}

} // namespace c10d
