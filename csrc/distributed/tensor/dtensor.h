// DTensor: a tensor of which each rank of a mesh has a part.
#pragma once

#include <csrc/distributed/tensor/device_mesh.h>
#include <csrc/distributed/tensor/placement.h>

#include <vector>

namespace torch::distributed {

/// Where a rank's part of a tensor lies: sizes, and offsets into the whole.
struct LocalPart {
  std::vector<int64_t> sizes;
  std::vector<int64_t> offsets;
};

/// This rank's part of a tensor of these sizes.
TORCH_API LocalPart local_part(c10::IntArrayRef sizes, const DeviceMesh& mesh, const Placements& placements);

/// A tensor that is spread over a mesh: the local part, and how it belongs to the whole. Gradients flow through
/// from_local, redistribute, to_local and full_tensor.
class TORCH_API DTensor {
 public:
  DTensor() = default;
  /// The whole of what each rank has; sizes are found by adding up along cut dimensions unless they are given.
  static DTensor from_local(
      const at::Tensor& local,
      const DeviceMesh& mesh,
      Placements placements,
      std::optional<std::vector<int64_t>> sizes = std::nullopt);

  bool defined() const {
    return local_.defined();
  }
  const at::Tensor& to_local() const {
    return local_;
  }
  const DeviceMesh& device_mesh() const;
  const Placements& placements() const {
    return placements_;
  }
  c10::IntArrayRef sizes() const {
    return sizes_;
  }
  int64_t dim() const {
    return static_cast<int64_t>(sizes_.size());
  }
  c10::ScalarType scalar_type() const {
    return local_.scalar_type();
  }
  LocalPart part() const {
    return local_part(sizes_, device_mesh(), placements_);
  }

  /// The same tensor in another way; all ranks of the mesh call it.
  DTensor redistribute(Placements placements) const;
  /// The whole, on each rank.
  at::Tensor full_tensor() const;

 private:
  at::Tensor local_;
  std::optional<DeviceMesh> mesh_;
  Placements placements_;
  std::vector<int64_t> sizes_;
};

/// Spreads a tensor that rank 0 of the mesh has; the others' values are not looked at. With `broadcast` off each rank
/// cuts its part out of its own.
TORCH_API DTensor
distribute_tensor(const at::Tensor& tensor, const DeviceMesh& mesh, Placements placements, bool broadcast = true);

/// Notes that a tensor which programs have, such as a parameter, is the local part of a DTensor.
TORCH_API void mark_as_part(const at::Tensor& local, const DTensor& whole);
/// The DTensor that a tensor was noted to be a part of.
TORCH_API std::optional<DTensor> dtensor_of(const at::Tensor& local);

namespace detail {
/// The local part under other placements. Not recorded.
TORCH_API at::Tensor redistribute_local(
    const at::Tensor& local,
    c10::IntArrayRef sizes,
    const DeviceMesh& mesh,
    const Placements& from,
    const Placements& to);
/// Throws unless there is a placement for each dimension of the mesh, and each cuts a dimension that is there. Negative
/// dimensions are counted from the end.
TORCH_API Placements checked_placements(Placements placements, const DeviceMesh& mesh, int64_t dim);
} // namespace detail

} // namespace torch::distributed
