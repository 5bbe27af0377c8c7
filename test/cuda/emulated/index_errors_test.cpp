// Every kernel that takes indices from the device checks them: what it reports of one that is out of range, and that
// the process goes on. What the host checks by looking (bincount, repeat_interleave, labels of ctc_loss) throws like on
// the CPU.
#include "test/cuda/emulated/compare.h"

#include <aten/core/List.h>
#include <aten/core/ivalue.h>
#include <aten/native/cuda/index_error.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace at::native {

using Indices = c10::List<std::optional<Tensor>>;
using OptTensor = std::optional<Tensor>;

namespace cuda {

void gather_kernel(const TensorBase&, int64_t, const TensorBase&, bool, const TensorBase&);
void scatter_src_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const TensorBase&);
void scatter_value_kernel(const TensorBase&, int64_t, const TensorBase&, const Scalar&, const TensorBase&);
void scatter_add_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const TensorBase&);
void scatter_reduce_src_kernel(
    const TensorBase&, int64_t, const TensorBase&, const TensorBase&, std::string_view, const TensorBase&);
void scatter_reduce_two_kernel(
    const TensorBase&, int64_t, const TensorBase&, const TensorBase&, std::string_view, bool, const TensorBase&);
void index_select_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&);
void index_add_kernel(
    const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const Scalar&, const TensorBase&);
void index_copy_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const TensorBase&);
void index_fill_kernel(const TensorBase&, int64_t, const TensorBase&, const Scalar&, const TensorBase&);
void take_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
void embedding_kernel(const TensorBase&, const TensorBase&, int64_t, bool, bool, const TensorBase&);
void embedding_dense_backward_kernel(const TensorBase&, const TensorBase&, int64_t, int64_t, bool, const TensorBase&);
void embedding_bag_kernel(
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    bool,
    int64_t,
    bool,
    const OptTensor&,
    bool,
    int64_t,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&);
void nll_loss_forward_kernel(
    const TensorBase&, const TensorBase&, const OptTensor&, int64_t, int64_t, const TensorBase&, const TensorBase&);
void nll_loss_backward_kernel(
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const OptTensor&,
    int64_t,
    int64_t,
    const TensorBase&,
    const TensorBase&);
void searchsorted_kernel(
    const TensorBase&,
    const TensorBase&,
    bool,
    bool,
    std::optional<std::string_view>,
    const OptTensor&,
    const TensorBase&);
void max_unpool2d_kernel(const TensorBase&, const TensorBase&, IntArrayRef, const TensorBase&);
void max_unpool3d_kernel(
    const TensorBase&, const TensorBase&, IntArrayRef, IntArrayRef, IntArrayRef, const TensorBase&);
void fractional_max_pool2d_backward_kernel(
    const TensorBase&, const TensorBase&, IntArrayRef, IntArrayRef, const TensorBase&, const TensorBase&);

} // namespace cuda

Tensor index_cuda(const Tensor&, const Indices&);
Tensor& _index_put_impl_cuda_(Tensor&, const Indices&, const Tensor&, bool, bool);
Tensor& put_cuda_(Tensor&, const Tensor&, const Tensor&, bool);
Tensor& nonzero_out_cuda(const Tensor&, Tensor&);

} // namespace at::native

namespace {

namespace native = at::native;
namespace cuda = at::native::cuda;
using at::Tensor;
using Bad = std::function<void(const Tensor& out)>; // makes the call, with room for a result of any size

native::Indices list(const std::vector<std::optional<Tensor>>& items) {
  native::Indices indices;
  for (const std::optional<Tensor>& item : items) {
    indices.push_back(item);
  }
  return indices;
}

} // namespace

TEST_CASE("kernels on CUDA report indices out of range: operator, argument, position, value", "[cuda][index]") {
  const Tensor a = at::ones({4, 3}), flat = torch::tensor({0, 3, 1, 9, 2}, at::kLong), up = at::ones({5, 3}),
               scores = at::randn({5, 4});
  const Tensor wide = at::zeros({5, 3}, at::kLong), none = at::zeros({}), images = at::ones({1, 1, 1, 5});
  const Tensor places = flat.view({1, 1, 1, 5}), low = torch::tensor({0, 3, 1, -9, 2}, at::kLong);
  const Tensor far = torch::tensor({0, 3, 11, 99, 2}, at::kLong);
  wide[3][1] = 9;
  struct Case {
    const char *op, *argument;
    int64_t position, index, size;
    Bad call;
  };
  const Case cases[] = {
      {"gather", "index", 10, 9, 4,
       [&](const Tensor& out) {
         cuda::gather_kernel(a, 0, wide, false, out.resize_({5, 3}));
       }},
      {"scatter", "index", 10, 9, 4,
       [&](const Tensor& out) {
         cuda::scatter_src_kernel(a, 0, wide, up, out.resize_({4, 3}));
       }},
      {"scatter", "index", 10, 9, 4,
       [&](const Tensor& out) {
         cuda::scatter_value_kernel(a, 0, wide, 2, out.resize_({4, 3}));
       }},
      {"scatter_add", "index", 10, 9, 4,
       [&](const Tensor& out) {
         cuda::scatter_add_kernel(a, 0, wide, up, out.resize_({4, 3}));
       }},
      {"scatter", "index", 10, 9, 4,
       [&](const Tensor& out) {
         cuda::scatter_reduce_src_kernel(a, 0, wide, up, "multiply", out.resize_({4, 3}));
       }},
      {"scatter_reduce", "index", 10, 9, 4,
       [&](const Tensor& out) {
         cuda::scatter_reduce_two_kernel(a, 0, wide, up, "amax", true, out.resize_({4, 3}));
       }},
      {"index_select", "index", 3, 9, 4,
       [&](const Tensor& out) {
         cuda::index_select_kernel(a, 0, flat, out.resize_({5, 3}));
       }},
      {"index_select", "index", 3, -9, 4,
       [&](const Tensor& out) {
         cuda::index_select_kernel(a, 0, low, out.resize_({5, 3}));
       }},
      {"index_add", "index", 3, 9, 4,
       [&](const Tensor& out) {
         cuda::index_add_kernel(a, 0, flat, up, 1, out.resize_({4, 3}));
       }},
      {"index_copy", "index", 3, 9, 4,
       [&](const Tensor& out) {
         cuda::index_copy_kernel(a, 0, flat, up, out.resize_({4, 3}));
       }},
      {"index_fill", "index", 3, 9, 4,
       [&](const Tensor& out) {
         cuda::index_fill_kernel(a, 0, flat, 7, out.resize_({4, 3}));
       }},
      {"take", "index", 3, 99, 12, [&](const Tensor& out) { cuda::take_kernel(a, far, out.resize_({5})); }},
      {"take", "index", 3, -99, 12, [&](const Tensor& out) { cuda::take_kernel(a, -far, out.resize_({5})); }},
      {"index", "indices", 3, 9, 4, [&](const Tensor&) { native::index_cuda(a, list({flat})); }},
      {"index", "indices", 3, -9, 4, [&](const Tensor&) { native::index_cuda(a, list({low})); }},
      {"index", "indices", 3, 9, 3,
       [&](const Tensor&) {
         native::index_cuda(a, list({flat % 4, torch::tensor({0, 1, 2, 9, 0}, at::kLong)}));
       }},
      {"index_put_", "indices", 3, 9, 4,
       [&](const Tensor&) {
         Tensor b = a.clone();
         native::_index_put_impl_cuda_(b, list({flat}), none, false, false);
       }},
      {"index_put_", "indices", 3, 9, 4,
       [&](const Tensor&) {
         Tensor b = a.clone();
         native::_index_put_impl_cuda_(b, list({flat}), up, true, false);
       }},
      {"index_put_", "indices", 3, 99, 12,
       [&](const Tensor&) {
         Tensor b = a.clone();
         native::put_cuda_(b, far, at::ones({5}), false);
       }},
      {"embedding", "index", 3, 9, 4,
       [&](const Tensor& out) {
         cuda::embedding_kernel(a, flat, -1, false, false, out.resize_({5, 3}));
       }},
      {"embedding_backward", "indices", 3, 9, 4,
       [&](const Tensor& out) {
         cuda::embedding_dense_backward_kernel(up, flat, 4, -1, false, out.resize_({4, 3}));
       }},
      {"embedding_bag", "indices", 3, 9, 4,
       [&](const Tensor& out) {
         cuda::embedding_bag_kernel(
             a, flat, torch::tensor({0, 2}, at::kLong), false, 0, false, {}, false, -1, out.resize_({2, 3}),
             at::empty({5}, at::kLong), at::empty({2}, at::kLong), at::empty({2}, at::kLong));
       }},
      {"embedding_bag", "offsets", 1, 7, 6,
       [&](const Tensor& out) {
         cuda::embedding_bag_kernel(
             a, flat % 4, torch::tensor({0, 7}, at::kLong), false, 0, false, {}, false, -1, out.resize_({2, 3}),
             at::empty({5}, at::kLong), at::empty({2}, at::kLong), at::empty({2}, at::kLong));
       }},
      {"nll_loss", "target", 3, 9, 4,
       [&](const Tensor& out) { cuda::nll_loss_forward_kernel(scores, flat, {}, 1, -100, out.resize_({}), none); }},
      {"nll_loss", "target", 3, 9, 4,
       [&](const Tensor& out) { cuda::nll_loss_forward_kernel(scores, flat, {}, 0, -100, out.resize_({5}), none); }},
      {"nll_loss", "target", 3, 9, 4,
       [&](const Tensor& out) {
         cuda::nll_loss_backward_kernel(none, scores, flat, {}, 1, -100, at::ones({}), out.resize_({5, 4}));
       }},
      {"nll_loss", "target", 3, 9, 4,
       [&](const Tensor& out) {
         cuda::nll_loss_forward_kernel(
             scores.t().reshape({1, 4, 5, 1}), flat.view({1, 5, 1}), {}, 1, -100, out.resize_({}), none);
       }},
      {"searchsorted", "sorter", 3, 9, 5,
       [&](const Tensor&) {
         cuda::searchsorted_kernel(
             at::arange(5.0), at::tensor({2.5, 99.0}), false, false, {}, torch::tensor({0, 1, 2, 9, 4}, at::kLong),
             at::empty({2}, at::kLong));
       }},
      {"max_unpool2d", "indices", 3, 9, 6,
       [&](const Tensor& out) {
         cuda::max_unpool2d_kernel(images, places, {2, 3}, out.resize_({1, 1, 2, 3}));
       }},
      {"max_unpool3d", "indices", 3, 9, 6,
       [&](const Tensor& out) {
         cuda::max_unpool3d_kernel(
             images.unsqueeze(0), places.unsqueeze(0), {1, 2, 3}, {1, 1, 1}, {0, 0, 0}, out.resize_({1, 1, 1, 2, 3}));
       }},
      {"fractional_max_pool2d_backward", "indices", 3, 9, 6,
       [&](const Tensor& out) {
         cuda::fractional_max_pool2d_backward_kernel(
             images, at::ones({1, 1, 2, 3}), {1, 1}, {1, 5}, places, out.resize_({1, 1, 2, 3}));
       }},
  };
  for (const Case& c : cases) {
    INFO(c.op << " " << c.argument << " " << c.index);
    auto* const slot = cuda::index_error_slot();
    slot->raised = 0;
    c.call(at::empty({0}));
    REQUIRE(slot->raised == 1);
    CHECK(std::string(slot->op) == c.op);
    CHECK(std::string(slot->argument) == c.argument);
    CHECK(slot->position == c.position);
    CHECK(slot->index == c.index);
    CHECK(slot->size == c.size);
    slot->raised = 0;
  }
  // What is good of the same call is done all the same.
  const Tensor rows = at::empty({5, 3});
  cuda::index_select_kernel(at::arange(12.0).view({4, 3}), 0, flat, rows);
  CHECK(at::equal(
      rows,
      torch::tensor(
          {{0.0f, 1.0f, 2.0f}, {9.0f, 10.0f, 11.0f}, {3.0f, 4.0f, 5.0f}, {0.0f, 0.0f, 0.0f}, {6.0f, 7.0f, 8.0f}})));
  cuda::index_error_slot()->raised = 0;
  cuda::index_select_kernel(a, 0, flat % 4, rows);
  CHECK(cuda::index_error_slot()->raised == 0);
}

TEST_CASE("an output that is the input or has no element is refused on CUDA as on the CPU", "[cuda][index]") {
  Tensor both = torch::tensor({0, 3, 1}, at::kLong);
  CHECK_THROWS_WITH(native::nonzero_out_cuda(both, both), Catch::Contains("memory"));
  const Tensor image = at::ones({1, 1, 2, 2}), places = at::zeros({1, 1, 2, 2}, at::kLong);
  CHECK_THROWS_WITH(
      cuda::max_unpool2d_kernel(image, places, {0, 0}, at::ones({1, 1, 0, 0})),
      Catch::Contains("max_unpool2d: no index fits"));
  cuda::max_unpool2d_kernel(at::ones({0, 1, 2, 2}), at::zeros({0, 1, 2, 2}, at::kLong), {0, 0}, at::ones({0, 1, 3, 3}));
}
