#include <csrc/nn/modules/utils.h>

#include <c10/util/Exception.h>

namespace torch::nn::modules::utils {

std::vector<int64_t> _reverse_repeat_vector(c10::ArrayRef<int64_t> t, int64_t n) {
  std::vector<int64_t> result;
  for (size_t i = t.size(); i > 0; --i) {
    result.insert(result.end(), static_cast<size_t>(n), t[i - 1]);
  }
  return result;
}

std::vector<int64_t> _list_with_default(c10::ArrayRef<std::optional<int64_t>> out_size, c10::IntArrayRef defaults) {
  TORCH_CHECK(
      defaults.size() > out_size.size(), "Input dimension should be at least ", out_size.size() + 1, ", but is ",
      defaults.size());
  std::vector<int64_t> result;
  const c10::IntArrayRef last = defaults.slice(defaults.size() - out_size.size());
  for (size_t i = 0; i < out_size.size(); ++i) {
    result.push_back(out_size[i].value_or(last[i]));
  }
  return result;
}

} // namespace torch::nn::modules::utils
