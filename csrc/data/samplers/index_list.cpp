#include <csrc/data/samplers/index_list.h>

#include <c10/util/Exception.h>

#include <new>
#include <stdexcept>

namespace torch::data::samplers {

std::vector<size_t> make_index_list(const char* sampler, size_t count) {
  std::vector<size_t> indices;
  bool fits = count <= indices.max_size();
  if (fits) {
    try {
      indices.resize(count);
    } catch (const std::bad_alloc&) {
      fits = false;
    }
  }
  TORCH_CHECK_WITH(OutOfMemoryError, fits, sampler, ": there is no memory for a list of ", count, " indices");
  return indices;
}

} // namespace torch::data::samplers
