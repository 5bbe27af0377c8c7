// How a tensor lies on the ranks along one dimension of a mesh.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

namespace torch::distributed {

/// The base of Replicate, Shard, StridedShard and Partial.
class Placement {
 public:
  Placement() = default;
  virtual ~Placement() = default;
  Placement(const Placement&) = default;
  Placement& operator=(const Placement&) = default;
  Placement(Placement&&) noexcept = default;
  Placement& operator=(Placement&&) noexcept = default;

  /// Whether ranks have parts of the tensor, cut along `dim` if given.
  virtual bool is_shard(std::optional<std::int64_t>) const {
    return false;
  }
  virtual bool is_replicate() const {
    return false;
  }
  /// Whether the tensor is the reduction of what ranks have.
  virtual bool is_partial(std::optional<std::string_view> = std::nullopt) const {
    return false;
  }
};

/// Cut along a dimension, as torch.chunk does: the last ranks may have less, or nothing.
class Shard : public Placement {
 public:
  std::int64_t dim;
  explicit Shard(std::int64_t dim) : dim(dim) {}
  bool is_shard(std::optional<std::int64_t> wanted) const override {
    return typeid(*this) == typeid(Shard) && (!wanted || *wanted == dim);
  }
  bool operator==(const Shard& rhs) const {
    return dim == rhs.dim;
  }
  bool operator!=(const Shard& rhs) const {
    return !operator==(rhs);
  }
};

/// Cut along a dimension that another dimension of the mesh, further right, has cut before.
class StridedShard : public Placement {
 public:
  std::int64_t dim;
  std::int64_t split_factor;
  explicit StridedShard(std::int64_t dim, std::int64_t split_factor_) : dim(dim), split_factor(split_factor_) {}
  bool operator==(const StridedShard& rhs) const {
    return dim == rhs.dim && split_factor == rhs.split_factor;
  }
  bool operator!=(const StridedShard& rhs) const {
    return !operator==(rhs);
  }
};

/// The whole on each rank.
class Replicate : public Placement {
 public:
  bool is_replicate() const override {
    return true;
  }
  bool operator==(const Replicate&) const {
    return true;
  }
  bool operator!=(const Replicate&) const {
    return false;
  }
};

/// To be reduced over ranks: "sum", "avg", "max", "min" or "product".
class Partial : public Placement {
 public:
  std::string reduce_op;
  Partial() : Partial("sum") {}
  explicit Partial(std::optional<std::string> reduce_op_) : reduce_op(std::move(reduce_op_).value_or("sum")) {}
  bool is_partial(std::optional<std::string_view> op = std::nullopt) const override {
    return !op || *op == reduce_op;
  }
  bool operator==(const Partial& rhs) const {
    return reduce_op == rhs.reduce_op;
  }
  bool operator!=(const Partial& rhs) const {
    return !operator==(rhs);
  }
};

/// One of them, for each dimension of a mesh.
using AnyPlacement = std::variant<Replicate, Shard, Partial>;
using Placements = std::vector<AnyPlacement>;

/// "[S(0), R, P(sum)]", as PyTorch prints them.
TORCH_API std::string to_string(const Placements& placements);

/// The dimension that is cut; -1 unless it is a Shard.
inline std::int64_t shard_dim(const AnyPlacement& placement) {
  const auto* shard = std::get_if<Shard>(&placement);
  return shard ? shard->dim : -1;
}

} // namespace torch::distributed
