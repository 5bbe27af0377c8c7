#include "test/fuzz/sparse.h"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "test/support/compare.h"
#include "test/support/elements.h"
#include "test/support/host_view.h"

namespace fuzz {

namespace {

using at::Tensor;
using c10::ScalarType;

at::SparseTensorImpl* coo(const Tensor& tensor) {
  return static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
}
at::SparseCsrTensorImpl* compressed(const Tensor& tensor) {
  return static_cast<at::SparseCsrTensorImpl*>(tensor.unsafeGetTensorImpl());
}
bool by_rows(c10::Layout layout) {
  return layout == c10::kSparseCsr || layout == c10::kSparseBsr;
}
bool in_blocks(c10::Layout layout) {
  return layout == c10::kSparseBsr || layout == c10::kSparseBsc;
}

int64_t product(const Shape& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return count;
}

Tensor index_tensor(ScalarType dtype, const Shape& sizes, const Shape& numbers) {
  Random zero(0);
  Tensor indices = make_tensor(dtype, sizes, Placing::Contiguous, Values::Index, zero);
  auto* to = static_cast<std::byte*>(indices.storage().mutable_data());
  for (const int64_t number : numbers) {
    test::write_integer(dtype, number, to);
    to += c10::elementSize(dtype);
  }
  return indices;
}

Shape joined(Shape a, const Shape& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Tensor coo_tensor(const Tensor& indices, const Tensor& values, int64_t sparse_dim, const Shape& sizes, bool coalesced) {
  const c10::DispatchKey backend =
      values.device().is_cpu() ? c10::DispatchKey::SparseCPU : c10::DispatchKey::SparseCUDA;
  Tensor tensor = at::detail::make_tensor<at::SparseTensorImpl>(
      c10::DispatchKeySet(backend), caffe2::TypeMeta::fromScalarType(values.scalar_type()));
  coo(tensor)->raw_resize_(sparse_dim, static_cast<int64_t>(sizes.size()) - sparse_dim, sizes);
  coo(tensor)->set_indices_and_values_unsafe(indices, values);
  coo(tensor)->set_coalesced(coalesced);
  return tensor;
}

Tensor compressed_tensor(
    c10::Layout layout,
    const Tensor& compressed_indices,
    const Tensor& plain_indices,
    const Tensor& values,
    const Shape& sizes) {
  const c10::DispatchKey backend =
      values.device().is_cpu() ? c10::DispatchKey::SparseCsrCPU : c10::DispatchKey::SparseCsrCUDA;
  Tensor tensor = at::detail::make_tensor<at::SparseCsrTensorImpl>(
      c10::DispatchKeySet(backend), values.device(), layout, caffe2::TypeMeta::fromScalarType(values.scalar_type()));
  compressed(tensor)->set_member_tensors(compressed_indices, plain_indices, values, sizes);
  return tensor;
}

/// Some places of a grid, as numbers in row-major order; sorted and different unless `repeated`.
Shape draw_places(int64_t places, int64_t most, bool repeated, Random& random) {
  if (places == 0) {
    return {};
  }
  if (repeated) {
    Shape drawn(random.below(static_cast<size_t>(most) + 1));
    for (int64_t& place : drawn) {
      place = random.between(0, places - 1);
    }
    return drawn;
  }
  std::set<int64_t> drawn;
  const size_t count = random.below(static_cast<size_t>(std::min(most, places)) + 1);
  while (drawn.size() < count) {
    drawn.insert(random.between(0, places - 1));
  }
  return {drawn.begin(), drawn.end()};
}

Tensor make_coo(ScalarType dtype, const Shape& sizes, Values values, Random& random) {
  const int64_t rank = static_cast<int64_t>(sizes.size());
  const int64_t sparse_dim = random.chance(70) ? rank : random.between(0, rank);
  const Shape grid(sizes.begin(), sizes.begin() + sparse_dim);
  const Shape dense(sizes.begin() + sparse_dim, sizes.end());
  const bool coalesced = random.chance(40);
  const Shape places = draw_places(product(grid), 7, !coalesced, random);
  const int64_t count = static_cast<int64_t>(places.size());
  Shape coordinates(static_cast<size_t>(sparse_dim * count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = places[i];
    for (int64_t d = sparse_dim - 1; d >= 0; rest /= grid[d], --d) {
      coordinates[d * count + i] = rest % grid[d];
    }
  }
  if (!coordinates.empty() && random.chance(3)) {
    constexpr int64_t kOutside[] = {-1, 5, 1000, INT64_MAX, INT64_MIN};
    coordinates[random.below(coordinates.size())] = random.pick(kOutside);
  }
  return coo_tensor(
      index_tensor(ScalarType::Long, {sparse_dim, count}, coordinates),
      make_tensor(dtype, joined({count}, dense), Placing::Contiguous, values, random), sparse_dim, sizes, coalesced);
}

Tensor make_compressed(ScalarType dtype, const Shape& sizes, Values values, Random& random) {
  constexpr c10::Layout kLayouts[] = {
      c10::kSparseCsr, c10::kSparseCsr, c10::kSparseCsc, c10::kSparseBsr, c10::kSparseBsc};
  const c10::Layout layout = random.pick(kLayouts);
  const size_t batch_dim = random.chance(70) ? 0 : random.below(sizes.size() - 1);
  const Shape batch(sizes.begin(), sizes.begin() + static_cast<int64_t>(batch_dim));
  const Shape dense(sizes.begin() + static_cast<int64_t>(batch_dim) + 2, sizes.end());
  Shape block;
  int64_t rows = sizes[batch_dim], cols = sizes[batch_dim + 1];
  if (in_blocks(layout)) {
    block = {rows % 2 == 0 && rows > 0 ? 2 : 1, cols % 3 == 0 && cols > 0 ? 3 : 1};
    rows /= block[0];
    cols /= block[1];
  }
  const int64_t lines = by_rows(layout) ? rows : cols, width = by_rows(layout) ? cols : rows;
  // All matrices of a batch have as many elements as the first.
  const int64_t count = static_cast<int64_t>(draw_places(lines * width, 7, false, random).size());
  Shape ends, positions;
  for (int64_t i = 0; i < product(batch); ++i) {
    std::set<int64_t> places;
    while (static_cast<int64_t>(places.size()) < count) {
      places.insert(random.between(0, lines * width - 1));
    }
    for (const int64_t place : places) {
      positions.push_back(place % width);
    }
    for (int64_t line = 0; line <= lines; ++line) {
      ends.push_back(std::distance(places.begin(), places.lower_bound(line * width)));
    }
  }
  const ScalarType index = random.chance(75) ? ScalarType::Long : ScalarType::Int;
  return compressed_tensor(
      layout, index_tensor(index, joined(batch, {lines + 1}), ends),
      index_tensor(index, joined(batch, {count}), positions),
      make_tensor(dtype, joined(joined(joined(batch, {count}), block), dense), Placing::Contiguous, values, random),
      sizes);
}

Shape integers(const Tensor& tensor) {
  const test::HostView view(tensor);
  Shape numbers(static_cast<size_t>(tensor.numel()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = view.integer(static_cast<int64_t>(i));
  }
  return numbers;
}

std::string broken_coo(const Tensor& tensor) {
  const at::SparseTensorImpl& impl = *coo(tensor);
  const int64_t count = impl.nnz();
  if (impl.indices().dim() != 2 || impl.indices().size(0) != impl.sparse_dim() || impl.indices().size(1) != count) {
    return "indices of sizes " + test::show(impl.indices().sizes());
  }
  const Shape coordinates = integers(impl.indices());
  Shape before;
  for (int64_t i = 0; i < count; ++i) {
    Shape place;
    for (int64_t d = 0; d < impl.sparse_dim(); ++d) {
      place.push_back(coordinates[d * count + i]);
      if (place.back() < 0 || place.back() >= tensor.size(d)) {
        return "place " + test::show(place);
      }
    }
    if (impl.coalesced() && i > 0 && !(before < place)) {
      return "place " + test::show(place) + " after " + test::show(before);
    }
    before = place;
  }
  return {};
}

std::string broken_compressed(const Tensor& tensor) {
  const at::SparseCsrTensorImpl& impl = *compressed(tensor);
  const Shape ends = integers(impl.compressed_indices()), positions = integers(impl.plain_indices());
  const int64_t lines = impl.compressed_indices().size(-1) - 1, count = impl.nnz();
  const int64_t batches = impl.compressed_indices().numel() / (lines + 1);
  const int64_t batch_dim = impl.batch_dim();
  int64_t width = tensor.size(batch_dim + (by_rows(tensor.layout()) ? 1 : 0));
  if (in_blocks(tensor.layout())) {
    width /= impl.values().size(batch_dim + (by_rows(tensor.layout()) ? 2 : 1));
  }
  for (int64_t b = 0; b < batches; ++b) {
    const int64_t* end = ends.data() + b * (lines + 1);
    if (end[0] != 0 || end[lines] != count) {
      return "compressed indices from " + std::to_string(end[0]) + " to " + std::to_string(end[lines]);
    }
    for (int64_t line = 0; line < lines; ++line) {
      if (end[line] > end[line + 1]) {
        return "compressed indices that fall";
      }
      for (int64_t i = end[line]; i < end[line + 1]; ++i) {
        const int64_t position = positions[b * count + i];
        if (position < 0 || position >= width) {
          return "plain index " + std::to_string(position);
        }
        if (i > end[line] && positions[b * count + i - 1] >= position) {
          return "plain indices that are not sorted";
        }
      }
    }
  }
  return {};
}

} // namespace

bool is_sparse(const Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cpu() &&
      (tensor.layout() == c10::kSparse || by_rows(tensor.layout()) || tensor.layout() == c10::kSparseCsc ||
       tensor.layout() == c10::kSparseBsc);
}

Tensor make_sparse(ScalarType dtype, const Shape& sizes, Values values, Random& random) {
  if (sizes.size() < 2 || random.chance(60)) {
    return make_coo(dtype, sizes, values, random);
  }
  return make_compressed(dtype, sizes, values, random);
}

std::vector<Tensor> members(const Tensor& sparse) {
  if (sparse.layout() == c10::kSparse) {
    return {coo(sparse)->indices(), coo(sparse)->values()};
  }
  const at::SparseCsrTensorImpl& impl = *compressed(sparse);
  return {impl.compressed_indices(), impl.plain_indices(), impl.values()};
}

Tensor rebuilt(const Tensor& sparse, const std::vector<Tensor>& parts) {
  const Shape sizes = sparse.sizes().vec();
  return parts.size() == 2 ? coo_tensor(parts[0], parts[1], coo(sparse)->sparse_dim(), sizes, coo(sparse)->coalesced())
                           : compressed_tensor(sparse.layout(), parts[0], parts[1], parts[2], sizes);
}

Tensor placed_sparse(const Tensor& tensor, Placing placing) {
  std::vector<Tensor> parts = members(tensor);
  for (Tensor& part : parts) {
    part = placed(part, placing);
  }
  Tensor moved = rebuilt(tensor, parts);
  if (tensor.requires_grad()) {
    moved.set_requires_grad(true);
  }
  return moved;
}

std::string broken_promise(const Tensor& sparse) {
  for (const Tensor& part : members(sparse)) {
    // Where a member without elements begins does not matter.
    if (!part.defined() || part.layout() != c10::kStrided || (part.numel() != 0 && !is_plain(part))) {
      return "a member that is not a strided tensor";
    }
  }
  const std::string what = sparse.layout() == c10::kSparse ? broken_coo(sparse) : broken_compressed(sparse);
  return what.empty() ? what : what + " of a tensor " + test::show(sparse.sizes());
}

std::string describe_sparse(const Tensor& sparse) {
  std::ostringstream text;
  text << sparse.layout() << ' ' << test::show(sparse.sizes()) << (sparse.requires_grad() ? " requires_grad" : "");
  if (sparse.layout() == c10::kSparse && coo(sparse)->coalesced()) {
    text << " coalesced";
  }
  for (const Tensor& part : members(sparse)) {
    text << "\n        " << describe(part);
  }
  return text.str();
}

} // namespace fuzz
