// From one way in which a tensor is spread over a mesh to another.
#include <csrc/distributed/tensor/dtensor.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::distributed {

namespace {

int64_t chunk_of(int64_t size, int64_t parts) {
  return (size + parts - 1) / parts;
}

// The part of rank `index`: where it begins and how long it is.
std::pair<int64_t, int64_t> chunk_at(int64_t size, int64_t parts, int64_t index) {
  const int64_t chunk = chunk_of(size, parts);
  const int64_t begin = std::min(size, index * chunk);
  return {begin, std::min(size, begin + chunk) - begin};
}

c10d::ReduceOp reduce_op(const std::string& name) {
  static const std::pair<const char*, c10d::ReduceOp::RedOpType> kOps[] = {
      {"sum", c10d::ReduceOp::SUM},
      {"avg", c10d::ReduceOp::AVG},
      {"max", c10d::ReduceOp::MAX},
      {"min", c10d::ReduceOp::MIN},
      {"product", c10d::ReduceOp::PRODUCT}};
  for (const auto& [known, op] : kOps) {
    if (name == known) {
      return op;
    }
  }
  TORCH_CHECK_VALUE(false, "Partial: unknown reduction '", name, "'; there are sum, avg, max, min and product");
}

// One dimension of a mesh, and what a tensor is along it.
struct Line {
  c10d::ProcessGroup& group;
  int64_t size;
  int64_t index;

  at::Tensor cut(const at::Tensor& whole, int64_t dim) const {
    const auto [begin, length] = chunk_at(whole.size(dim), size, index);
    return whole.narrow(dim, begin, length).contiguous();
  }

  // Parts are filled up to one length, as collectives want them.
  at::Tensor padded(const at::Tensor& part, int64_t length) const {
    if (part.size(0) == length) {
      return part.contiguous();
    }
    auto sizes = part.sizes().vec();
    sizes[0] = length;
    auto all = at::zeros(sizes, part.options());
    all.narrow(0, 0, part.size(0)).copy_(part);
    return all;
  }

  at::Tensor gather(const at::Tensor& part, int64_t dim, int64_t length) const {
    const int64_t chunk = chunk_of(length, size);
    auto input = padded(part.movedim(dim, 0), chunk);
    auto sizes = input.sizes().vec();
    sizes[0] = chunk * size;
    auto output = at::empty(sizes, input.options());
    group.all_gather_single(output, input)->wait();
    return output.narrow(0, 0, length).movedim(0, dim).contiguous();
  }

  at::Tensor reduce(const at::Tensor& value, const Partial& partial) const {
    std::vector<at::Tensor> tensors{value.clone(at::MemoryFormat::Contiguous)};
    c10d::AllreduceOptions options;
    options.reduceOp = reduce_op(partial.reduce_op);
    group.allreduce(tensors, options)->wait();
    return tensors[0];
  }

  at::Tensor reduce_scatter(const at::Tensor& value, const Partial& partial, int64_t dim) const {
    const int64_t length = value.size(dim);
    const int64_t chunk = chunk_of(length, size);
    auto input = padded(value.movedim(dim, 0), chunk * size);
    auto sizes = input.sizes().vec();
    sizes[0] = chunk;
    auto output = at::empty(sizes, input.options());
    c10d::ReduceScatterOptions options;
    options.reduceOp = reduce_op(partial.reduce_op);
    group.reduce_scatter_single(output, input, options)->wait();
    return output.narrow(0, 0, chunk_at(length, size, index).second).movedim(0, dim).contiguous();
  }

  // From parts along one dimension to parts along another: each rank sends to each the piece that both share.
  at::Tensor exchange(const at::Tensor& part, int64_t from, int64_t to, int64_t from_length) const {
    std::vector<at::Tensor> inputs, outputs;
    for (int64_t rank = 0; rank < size; ++rank) {
      const auto [begin, length] = chunk_at(part.size(to), size, rank);
      inputs.push_back(part.narrow(to, begin, length).contiguous());
      auto sizes = part.sizes().vec();
      sizes[static_cast<size_t>(to)] = chunk_at(part.size(to), size, index).second;
      sizes[static_cast<size_t>(from)] = chunk_at(from_length, size, rank).second;
      outputs.push_back(at::empty(sizes, part.options()));
    }
    group.alltoall(outputs, inputs)->wait();
    return at::cat(outputs, from);
  }

  at::Tensor move(
      const at::Tensor& local, const AnyPlacement& from, const AnyPlacement& to, int64_t from_length) const {
    if (from == to || size == 1) {
      return local;
    }
    const int64_t from_dim = shard_dim(from);
    const int64_t to_dim = shard_dim(to);
    if (const auto* partial = std::get_if<Partial>(&from)) {
      TORCH_CHECK(
          !std::holds_alternative<Partial>(to), "redistribute: from Partial(", partial->reduce_op,
          ") to another reduction is not possible");
      return to_dim >= 0 ? reduce_scatter(local, *partial, to_dim) : reduce(local, *partial);
    }
    if (from_dim >= 0 && to_dim >= 0) {
      return exchange(local, from_dim, to_dim, from_length);
    }
    const at::Tensor whole = from_dim >= 0 ? gather(local, from_dim, from_length) : local;
    if (to_dim >= 0) {
      return cut(whole, to_dim);
    }
    if (const auto* partial = std::get_if<Partial>(&to)) {
      const bool adds = partial->reduce_op == "sum";
      TORCH_CHECK_VALUE(
          partial->reduce_op != "product", "redistribute: to Partial(product) is not possible; there is sum");
      return adds && index != 0 ? at::zeros_like(whole) : whole;
    }
    return whole;
  }
};

Line line_of(const DeviceMesh& mesh, int64_t dim) {
  return {*mesh.get_group(dim), mesh.size(dim), mesh.get_coordinate()[static_cast<size_t>(dim)]};
}

// How long dimension `dim` is before mesh dimension `level` cuts it.
int64_t length_before(
    c10::IntArrayRef sizes, const DeviceMesh& mesh, const Placements& placements, int64_t level, int64_t dim) {
  int64_t length = sizes[static_cast<size_t>(dim)];
  for (int64_t d = 0; d < level; ++d) {
    if (shard_dim(placements[static_cast<size_t>(d)]) == dim) {
      length = chunk_at(length, mesh.size(d), mesh.get_coordinate()[static_cast<size_t>(d)]).second;
    }
  }
  return length;
}

} // namespace

LocalPart local_part(c10::IntArrayRef sizes, const DeviceMesh& mesh, const Placements& placements) {
  LocalPart part{sizes.vec(), std::vector<int64_t>(sizes.size(), 0)};
  for (size_t d = 0; d < placements.size(); ++d) {
    const int64_t dim = shard_dim(placements[d]);
    if (dim >= 0) {
      auto& length = part.sizes[static_cast<size_t>(dim)];
      const auto [begin, own] = chunk_at(length, mesh.size(static_cast<int64_t>(d)), mesh.get_coordinate()[d]);
      part.offsets[static_cast<size_t>(dim)] += begin;
      length = own;
    }
  }
  return part;
}

// Note [Nested shards]
// Where several dimensions of a mesh cut one dimension of a tensor, the left one has cut first. A change there also
// moves what the ones to the right of it have, so these are undone before and done again after.
at::Tensor detail::redistribute_local(
    const at::Tensor& local,
    c10::IntArrayRef sizes,
    const DeviceMesh& mesh,
    const Placements& from,
    const Placements& to) {
  const c10::NoGradGuard no_grad;
  const auto levels = static_cast<int64_t>(from.size());
  std::vector<bool> changes(from.size());
  for (size_t d = 0; d < from.size(); ++d) {
    changes[d] = !(from[d] == to[d]);
    for (size_t left = 0; left < d; ++left) {
      const bool cuts_same = shard_dim(from[left]) == shard_dim(from[d]) || shard_dim(to[left]) == shard_dim(from[d]);
      changes[d] = changes[d] || (changes[left] && shard_dim(from[d]) >= 0 && cuts_same);
    }
  }
  at::Tensor result = local;
  Placements now = from;
  const bool alone = std::count(changes.begin(), changes.end(), true) == 1;
  for (int64_t d = levels; d-- > 0;) {
    const auto place = static_cast<size_t>(d);
    if (!changes[place]) {
      continue;
    }
    const AnyPlacement next = alone ? to[place] : AnyPlacement(Replicate());
    const int64_t dim = shard_dim(now[place]);
    result = line_of(mesh, d).move(result, now[place], next, dim >= 0 ? length_before(sizes, mesh, now, d, dim) : 0);
    now[place] = next;
  }
  for (int64_t d = 0; d < levels; ++d) {
    const auto place = static_cast<size_t>(d);
    if (!(now[place] == to[place])) {
      result = line_of(mesh, d).move(result, now[place], to[place], 0);
      now[place] = to[place];
    }
  }
  return result;
}

} // namespace torch::distributed
