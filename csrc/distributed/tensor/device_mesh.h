// DeviceMesh: ranks in a grid, with a group for each line.
#pragma once

#include <csrc/distributed/session/init.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::distributed {

/// The ranks of a job as an array of one or more dimensions, such as (data parallel, tensor parallel). Copies share
/// their groups.
class TORCH_API DeviceMesh {
 public:
  /// A mesh of one dimension: the ranks of the group, or of all processes.
  static DeviceMesh from_group(
      const GroupPtr& group, c10::DeviceType device_type = c10::kCPU, const std::string& name = "");
  /// `groups[d]` has the ranks of this rank's line along dimension d, in the order of `mesh`, which has the ranks of
  /// all.
  static DeviceMesh from_groups(
      std::vector<GroupPtr> groups,
      const at::Tensor& mesh,
      int rank,
      c10::DeviceType device_type = c10::kCPU,
      std::vector<std::string> names = {});

  int64_t ndim() const;
  /// Ranks along a dimension, or all.
  int64_t size(int64_t dim) const;
  int64_t size() const;
  /// Along which dimensions, by name if they have some.
  std::vector<int64_t> shape() const;
  const std::vector<std::string>& mesh_dim_names() const;
  c10::DeviceType device_type() const;
  /// The ranks, as an integer tensor.
  const at::Tensor& mesh() const;
  /// This rank's place along each dimension.
  const std::vector<int64_t>& get_coordinate() const;
  int64_t get_local_rank(int64_t dim = 0) const {
    return get_coordinate().at(static_cast<size_t>(dim));
  }
  /// The group of this rank's line along a dimension.
  const GroupPtr& get_group(int64_t dim = 0) const;
  const GroupPtr& get_group(const std::string& name) const;
  /// The dimension of this name. Throws if there is none.
  int64_t dim_of(const std::string& name) const;
  /// The part along one dimension in which this rank is: a mesh of that dimension alone.
  DeviceMesh operator[](const std::string& name) const;
  DeviceMesh along(int64_t dim) const;

  bool operator==(const DeviceMesh& other) const;
  bool operator!=(const DeviceMesh& other) const {
    return !operator==(other);
  }

 private:
  struct State;
  explicit DeviceMesh(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// A mesh of all processes, row after row; all of them call it. Throws unless the shape has as many places as there are
/// processes.
TORCH_API DeviceMesh
init_device_mesh(c10::DeviceType device_type, const std::vector<int64_t>& shape, std::vector<std::string> names = {});

} // namespace torch::distributed
