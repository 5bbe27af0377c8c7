// Unpooling: the sizes that a pooling had before.
#include <csrc/nn/functional/pooling.h>

#include <c10/util/Exception.h>
#include <c10/util/safe_numerics.h>

namespace torch::nn::functional {
namespace {

/// The size that the caller asks for, if pooling it gives the input's size, else the one that leaves nothing over.
template <size_t D>
std::vector<int64_t> unpooled_size(const char* name, const Tensor& input, const MaxUnpoolFuncOptions<D>& options) {
  TORCH_CHECK(
      input.dim() == D + 1 || input.dim() == D + 2, name, ": Expected ", D + 1, "D or ", D + 2,
      "D tensor, but got input of sizes ", input.sizes());
  std::vector<int64_t> exact;
  for (size_t i = 0; i < D; ++i) {
    const int64_t pooled = input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D));
    const int64_t stride = (*options.stride())[i], window = (*options.kernel_size())[i],
                  padding = (*options.padding())[i];
    int64_t size = 0, borders = 0;
    const bool fits = !c10::mul_overflows(pooled - 1, stride, &size) && !c10::add_overflows(size, window, &size) &&
        !c10::mul_overflows(int64_t{2}, padding, &borders) && !c10::sub_overflows(size, borders, &size);
    TORCH_CHECK(
        fits, name, ": no tensor is as large as a stride of ", stride, ", a window of ", window, " and a padding of ",
        padding, " ask for");
    exact.push_back(size);
  }
  if (!options.output_size().has_value()) {
    return exact;
  }
  IntArrayRef asked = *options.output_size();
  TORCH_CHECK(
      asked.size() == D || asked.size() == D + 2, "output_size should be a sequence containing ", D, " or ", D + 2,
      " elements, but it has a length of '", asked.size(), "'");
  asked = asked.slice(asked.size() - D);
  for (size_t i = 0; i < D; ++i) {
    const int64_t least = exact[i] - (*options.stride())[i], most = exact[i] + (*options.stride())[i];
    TORCH_CHECK(
        least <= asked[i] && asked[i] <= most, "invalid output_size ", asked, " (dim ", i, " must be between ", least,
        " and ", most, ")");
  }
  return asked.vec();
}

} // namespace

Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& options) {
  std::vector<int64_t> size = unpooled_size("max_unpool1d", input, options);
  size.push_back(1);
  return at::max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1);
}

Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& options) {
  return at::max_unpool2d(input, indices, unpooled_size("max_unpool2d", input, options));
}

Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& options) {
  return at::max_unpool3d(
      input, indices, unpooled_size("max_unpool3d", input, options), options.stride(), options.padding());
}

} // namespace torch::nn::functional
