// cat on CUDA devices: one launch for tensors that are row-major, else one copy for each.
#include <aten/core/Tensor.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/join.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/accumulate.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

/// Tensors of one dimension without elements go with any others.
bool is_left_out(const Tensor& t) {
  return t.numel() == 0;
}

/// Whether several tensors can be copied as runs of bytes.
bool are_runs(TensorList tensors, const TensorBase& out) {
  std::size_t runs = 0;
  for (const Tensor& t : tensors) {
    if (is_left_out(t)) {
      continue;
    }
    if (t.scalar_type() != out.scalar_type() || t.device() != out.device() || !t.is_contiguous() || t.is_conj() ||
        t.is_neg()) {
      return false;
    }
    ++runs;
  }
  return runs > 1 && out.is_contiguous() && !out.is_conj() && !out.is_neg();
}

/// The largest word that divides addresses and lengths whose bits are combined in `all`.
int word_of(std::uintptr_t all) {
  int word = 1;
  while (word < 16 && all % (2 * static_cast<std::uintptr_t>(word)) == 0) {
    word *= 2;
  }
  return word;
}

void join_runs(TensorList tensors, std::int64_t dim, const TensorBase& out) {
  const std::int64_t rows = c10::multiply_integers(out.sizes().slice(0, dim));
  const std::int64_t out_bytes = out.numel() / rows * static_cast<std::int64_t>(out.element_size());
  const auto bytes_of = [&](const Tensor& t) { return t.numel() / rows * static_cast<std::int64_t>(t.element_size()); };
  auto all = reinterpret_cast<std::uintptr_t>(out.mutable_data_ptr()) | static_cast<std::uintptr_t>(out_bytes);
  for (const Tensor& t : tensors) {
    if (!is_left_out(t)) {
      all |= reinterpret_cast<std::uintptr_t>(t.const_data_ptr()) | static_cast<std::uintptr_t>(bytes_of(t));
    }
  }
  Join join;
  join.pieces = 0;
  join.word = word_of(all);
  join.rows = rows;
  join.out_length = out_bytes / join.word;
  join.out = out.mutable_data_ptr();
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  std::int64_t begin = 0;
  for (const Tensor& t : tensors) {
    if (is_left_out(t)) {
      continue;
    }
    const std::int64_t length = bytes_of(t) / join.word;
    join.piece[join.pieces++] = {t.const_data_ptr(), length, begin};
    begin += length;
    if (join.pieces == Join::kPieces) {
      launch_join(join, stream);
      join.pieces = 0;
    }
  }
  if (join.pieces > 0) {
    launch_join(join, stream);
  }
}

} // namespace

void cat_kernel(TensorList tensors, int64_t dim, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  dim = c10::maybe_wrap_dim(dim, out.dim());
  if (are_runs(tensors, out)) {
    join_runs(tensors, dim, out);
    return;
  }
  const Tensor whole(out);
  int64_t start = 0;
  for (const Tensor& t : tensors) {
    if (t.dim() == 1 && t.numel() == 0) {
      continue;
    }
    if (t.numel() != 0) {
      copy_on_device(whole.narrow(dim, start, t.size(dim)), t);
    }
    start += t.size(dim);
  }
}

} // namespace at::native::cuda
