// torch::func::vmap: a function of one sample becomes one of a batch.
#pragma once

#include <aten/functorch/BatchedTensorImpl.h>
#include <c10/macros/Export.h>
#include <csrc/func/batch_dims.h>
#include <csrc/func/tree.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::func {

namespace detail {

struct VmapOptions {
  BatchDims in_dims = 0;
  BatchDims out_dims = 0;
  at::functorch::RandomnessType randomness = at::functorch::RandomnessType::Error;
  std::optional<int64_t> chunk_size;
};

/// All arguments of a call, leaf by leaf.
struct TORCH_API BatchedInputs {
  /// `arguments` is the tuple of all of them. Throws if dimensions and arguments do not fit.
  BatchedInputs(Leaves leaves, const capture::Shape& arguments, const BatchDims& in_dims);

  /// These samples alone.
  BatchedInputs narrowed(int64_t first, int64_t count) const;
  /// The leaves as they are inside of vmap.
  Leaves inside(const at::functorch::VmapLevelPtr& level) const;

  Leaves leaves;
  std::vector<std::optional<int64_t>> dims; // of each leaf
  int64_t batch_size = 0;
};

TORCH_API VmapOptions
vmap_options(BatchDims in_dims, BatchDims out_dims, std::string_view randomness, std::optional<int64_t> chunk_size);
/// What leaves of a result are outside of vmap: the batch stands at dimension `out_dim`, or there is none.
TORCH_API c10::IValue outside(
    const c10::IValue& leaf,
    const std::string& path,
    const at::functorch::VmapLevel& level,
    std::optional<int64_t> out_dim);
/// Results of several chunks as one.
TORCH_API c10::IValue joined(const std::vector<Leaves>& chunks, size_t leaf, std::optional<int64_t> out_dim);

} // namespace detail

/// What vmap() returns: called with batches, calls the function with samples.
template <class F>
class Vmapped {
 public:
  Vmapped(F function, detail::VmapOptions options) : function_(std::move(function)), options_(std::move(options)) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    using Arguments = std::tuple<std::decay_t<Args>...>;
    const Arguments arguments(args...);
    detail::Leaves leaves;
    capture::Shape shape{capture::Shape::Kind::Tuple, {}, {}};
    const auto add = [&](const auto& value) {
      using T = std::decay_t<decltype(value)>;
      const std::string path = "argument " + std::to_string(shape.children.size());
      shape.children.push_back(capture::Structure<T>::add(value, path, leaves));
    };
    (add(args), ...);
    const detail::BatchedInputs inputs(std::move(leaves), shape, options_.in_dims);
    if (options_.chunk_size && *options_.chunk_size < inputs.batch_size) {
      return in_chunks(arguments, inputs);
    }
    return once(arguments, inputs);
  }

 private:
  template <class Arguments>
  using Result = std::decay_t<decltype(std::apply(std::declval<F&>(), std::declval<Arguments&>()))>;

  template <class Arguments>
  Result<Arguments> once(const Arguments& arguments, const detail::BatchedInputs& inputs) const {
    const at::functorch::VmapGuard guard(inputs.batch_size, options_.randomness);
    Arguments samples = detail::with_leaves(arguments, inputs.inside(guard.level()));
    F function = function_;
    if constexpr (std::is_void_v<Result<Arguments>>) {
      std::apply(function, samples);
    } else {
      const Result<Arguments> result = std::apply(function, samples);
      detail::Leaves leaves;
      const auto dims = out_dims_of(result, leaves);
      for (size_t i = 0; i < leaves.values.size(); ++i) {
        leaves.values[i] = detail::outside(leaves.values[i], leaves.paths[i], *guard.level(), dims[i]);
      }
      return detail::with_leaves(result, std::move(leaves));
    }
  }

  template <class Arguments>
  Result<Arguments> in_chunks(const Arguments& arguments, const detail::BatchedInputs& inputs) const {
    if constexpr (std::is_void_v<Result<Arguments>>) {
      for (int64_t first = 0; first < inputs.batch_size; first += *options_.chunk_size) {
        once(arguments, inputs.narrowed(first, std::min(*options_.chunk_size, inputs.batch_size - first)));
      }
    } else {
      std::vector<detail::Leaves> chunks;
      std::optional<Result<Arguments>> last;
      for (int64_t first = 0; first < inputs.batch_size; first += *options_.chunk_size) {
        last.emplace(
            once(arguments, inputs.narrowed(first, std::min(*options_.chunk_size, inputs.batch_size - first))));
        chunks.push_back(detail::leaves_of(*last, "result"));
      }
      detail::Leaves leaves;
      const auto dims = out_dims_of(*last, leaves);
      for (size_t i = 0; i < leaves.values.size(); ++i) {
        leaves.values[i] = detail::joined(chunks, i, dims[i]);
      }
      return detail::with_leaves(*last, std::move(leaves));
    }
  }

  /// That of each leaf of a result, which are put into `leaves`.
  template <class R>
  std::vector<std::optional<int64_t>> out_dims_of(const R& result, detail::Leaves& leaves) const {
    return options_.out_dims.of_results(capture::Structure<R>::add(result, "result", leaves));
  }

  F function_;
  detail::VmapOptions options_;
};

/// Makes a function of batches from one of samples. The function is called once, with tensors that look like one
/// sample, and operators work on all samples at once.
///
///     auto row_dots = torch::func::vmap([](const torch::Tensor& a, const torch::Tensor& b) { return a.dot(b); });
///     torch::Tensor products = row_dots(x, y);   // x and y of shape [N, D], the result of shape [N]
///
/// `in_dims` says for each argument which dimension counts samples, std::nullopt that the argument is the same for all
/// samples; `out_dims` where the batch stands in the results: see BatchDims. `randomness` says what operators do that
/// draw random numbers: "error", "same" for all samples, or "different". `chunk_size` limits how many samples are
/// computed at once.
///
/// Arguments and results are tensors, and vectors, tuples, pairs, optionals and maps by name of them; arguments may be
/// numbers and strings too. A captured tensor is the same for all samples, and cannot be written a different value for
/// each. Throws c10::ValueError if dimensions and arguments do not fit, and c10::Error for what cannot be batched: an
/// operator whose result has another size for each sample, or reading a sample's value by item().
template <class F>
Vmapped<std::decay_t<F>> vmap(
    F&& function,
    BatchDims in_dims = 0,
    BatchDims out_dims = 0,
    std::string_view randomness = "error",
    std::optional<int64_t> chunk_size = std::nullopt) {
  return {
      std::forward<F>(function), detail::vmap_options(std::move(in_dims), std::move(out_dims), randomness, chunk_size)};
}

} // namespace torch::func
