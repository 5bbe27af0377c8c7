// Note [LAPACK is opened on first use]
// Any library with the LP64 Fortran interface will do. Debian's alternatives let `liblapack.so.3` stand for the one
// that is installed: OpenBLAS (libopenblas0-serial is what tools/setup.sh asks for) or the slower reference library.
// Linking to it would make every program load some 40 MB at its start, 3 ms, for routines that most programs never
// call.
//
// Batches run on our own threads. A library with threads of its own would fight with them, so its pool is switched off
// where it lets us; the serial build, made with locks around its buffers, has none.
#include <aten/native/lapack/library.h>

#include <c10/util/Exception.h>

#include <dlfcn.h>

#include <string>

namespace at::native::lapack {
namespace {

struct Library {
  void* handle = nullptr;
  std::string error;

  Library() {
    for (const char* name : {"liblapack.so.3", "libopenblas.so.0", "liblapack.so"}) {
      handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle != nullptr) {
        keep_to_one_thread();
        return;
      }
      error += std::string(error.empty() ? "" : "; ") + ::dlerror();
    }
  }

  void keep_to_one_thread() const {
    if (void* set = ::dlsym(handle, "openblas_set_num_threads"); set != nullptr) {
      reinterpret_cast<void (*)(int)>(set)(1);
    }
  }
};

} // namespace

void* find_routine(const char* name) {
  // Never closed: routines may run until the process ends.
  static const Library& library = *new Library;
  TORCH_CHECK(
      library.handle != nullptr, "linear algebra needs LAPACK, and no library of it can be opened (", library.error,
      "). On Debian: apt-get install libopenblas0-serial");
  void* routine = ::dlsym(library.handle, name);
  TORCH_CHECK(
      routine != nullptr, "the LAPACK library on this machine lacks the routine ", name,
      ". On Debian: apt-get install libopenblas0-serial");
  return routine;
}

} // namespace at::native::lapack
