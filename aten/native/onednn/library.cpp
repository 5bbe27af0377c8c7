#include <aten/native/onednn/library.h>

#include <c10/util/Exception.h>

#include <dnnl_version.h>

#include <dlfcn.h>

#include <string>

namespace at::native::onednn {

namespace {

/// The library of the version whose headers were compiled against, where the system looks for libraries or where it was
/// when libtensor was built.
struct Library {
  void* handle = nullptr;
  std::string error;

  Library() {
    const std::string soname = "libdnnl.so." + std::to_string(DNNL_VERSION_MAJOR);
    for (const std::string& name : {soname, std::string(TENSOR_ONEDNN_FOLDER "/") + soname}) {
      handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle != nullptr) {
        return;
      }
      error += std::string(error.empty() ? "" : "; ") + ::dlerror();
    }
  }
};

} // namespace

void* find_function(const char* name) {
  // Never closed: primitives live until the process ends.
  static const Library& library = *new Library;
  TORCH_CHECK(
      library.handle != nullptr, "products and convolutions need oneDNN ", DNNL_VERSION_MAJOR,
      ", and its library cannot be opened (", library.error, "). On Debian 12: apt-get install libdnnl2");
  void* function = ::dlsym(library.handle, name);
  TORCH_CHECK(
      function != nullptr, "oneDNN on this machine lacks the function ", name, "; libtensor was built with oneDNN ",
      DNNL_VERSION_MAJOR, ".", DNNL_VERSION_MINOR, " and needs that or a later one of version ", DNNL_VERSION_MAJOR);
  return function;
}

} // namespace at::native::onednn
