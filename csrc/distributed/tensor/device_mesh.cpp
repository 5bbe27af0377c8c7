// DeviceMesh: ranks in a grid, with a group for each line.
#include <csrc/distributed/tensor/device_mesh.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::distributed {

struct DeviceMesh::State {
  std::vector<GroupPtr> groups;
  at::Tensor mesh;
  std::vector<int64_t> coordinate;
  c10::DeviceType device_type;
  std::vector<std::string> names;
};

DeviceMesh DeviceMesh::from_group(const GroupPtr& group, c10::DeviceType device_type, const std::string& name) {
  const GroupPtr held = group ? group : default_group();
  return from_groups(
      {held}, at::arange(held->getSize(), at::kLong), held->getRank(), device_type,
      name.empty() ? std::vector<std::string>() : std::vector<std::string>{name});
}

DeviceMesh DeviceMesh::from_groups(
    std::vector<GroupPtr> groups,
    const at::Tensor& mesh,
    int rank,
    c10::DeviceType device_type,
    std::vector<std::string> names) {
  TORCH_CHECK_VALUE(
      mesh.dim() > 0 && groups.size() == static_cast<size_t>(mesh.dim()), "DeviceMesh: a mesh of ", mesh.dim(),
      " dimensions must have as many groups, but got ", groups.size());
  TORCH_CHECK_VALUE(
      names.empty() || names.size() == groups.size(), "mesh_shape and mesh_dim_names should have same length, but got ",
      groups.size(), " dimensions and ", names.size(), " names");
  const auto place = at::nonzero(mesh == rank);
  TORCH_CHECK_VALUE(
      place.size(0) == 1, "DeviceMesh: each rank must be in the mesh once, but rank ", rank, " is ", place.size(0),
      " times");
  auto state = std::make_shared<State>();
  for (int64_t d = 0; d < mesh.dim(); ++d) {
    TORCH_CHECK_VALUE(groups[static_cast<size_t>(d)], "DeviceMesh: the group of dimension ", d, " is null");
    TORCH_CHECK_VALUE(
        groups[static_cast<size_t>(d)]->getSize() == mesh.size(d), "DeviceMesh: dimension ", d, " has ", mesh.size(d),
        " ranks, its group ", groups[static_cast<size_t>(d)]->getSize());
    state->coordinate.push_back(place[0][d].item<int64_t>());
  }
  state->groups = std::move(groups);
  state->mesh = mesh.to(at::kLong);
  state->device_type = device_type;
  state->names = std::move(names);
  return DeviceMesh(std::move(state));
}

int64_t DeviceMesh::ndim() const {
  return state_->mesh.dim();
}

int64_t DeviceMesh::size(int64_t dim) const {
  return state_->mesh.size(dim);
}

int64_t DeviceMesh::size() const {
  return state_->mesh.numel();
}

std::vector<int64_t> DeviceMesh::shape() const {
  return state_->mesh.sizes().vec();
}

const std::vector<std::string>& DeviceMesh::mesh_dim_names() const {
  return state_->names;
}

c10::DeviceType DeviceMesh::device_type() const {
  return state_->device_type;
}

const at::Tensor& DeviceMesh::mesh() const {
  return state_->mesh;
}

const std::vector<int64_t>& DeviceMesh::get_coordinate() const {
  return state_->coordinate;
}

const GroupPtr& DeviceMesh::get_group(int64_t dim) const {
  TORCH_CHECK_VALUE(dim >= 0 && dim < ndim(), "DeviceMesh: there is no dimension ", dim, " of ", ndim());
  return state_->groups[static_cast<size_t>(dim)];
}

const GroupPtr& DeviceMesh::get_group(const std::string& name) const {
  return get_group(dim_of(name));
}

int64_t DeviceMesh::dim_of(const std::string& name) const {
  const auto found = std::find(state_->names.begin(), state_->names.end(), name);
  TORCH_CHECK_VALUE(
      found != state_->names.end(), "Invalid mesh_dim_name ", name, ": the mesh has ",
      state_->names.empty() ? std::string("no names") : c10::Join(", ", state_->names));
  return found - state_->names.begin();
}

DeviceMesh DeviceMesh::operator[](const std::string& name) const {
  return along(dim_of(name));
}

DeviceMesh DeviceMesh::along(int64_t dim) const {
  const GroupPtr& group = get_group(dim);
  at::Tensor line = state_->mesh;
  for (int64_t d = ndim(); d-- > 0;) {
    if (d != dim) {
      line = line.select(d, state_->coordinate[static_cast<size_t>(d)]);
    }
  }
  const auto place = static_cast<size_t>(dim);
  return from_groups(
      {group}, line, static_cast<int>(line[state_->coordinate[place]].item<int64_t>()), state_->device_type,
      state_->names.empty() ? std::vector<std::string>() : std::vector<std::string>{state_->names[place]});
}

bool DeviceMesh::operator==(const DeviceMesh& other) const {
  return state_ == other.state_ || (state_->groups == other.state_->groups && state_->mesh.equal(other.state_->mesh));
}

DeviceMesh init_device_mesh(
    c10::DeviceType device_type, const std::vector<int64_t>& shape, std::vector<std::string> names) {
  int64_t places = 1;
  for (const int64_t size : shape) {
    TORCH_CHECK_VALUE(size > 0, "init_device_mesh: sizes must be positive, but got ", c10::IntArrayRef(shape));
    places *= size;
  }
  TORCH_CHECK_VALUE(!shape.empty(), "init_device_mesh: the mesh must have at least one dimension");
  TORCH_CHECK_VALUE(
      places == get_world_size(), "Mesh should not be bigger than default world size ", get_world_size(),
      " and must have a place for each process, but got ", c10::IntArrayRef(shape), " with ", places);
  const auto mesh = at::arange(places, at::kLong).view(shape);
  const int rank = get_rank();
  std::vector<GroupPtr> groups;
  for (int64_t d = 0; d < mesh.dim(); ++d) {
    if (mesh.dim() == 1) {
      groups.push_back(default_group());
      break;
    }
    // All processes make all groups, in one order; each keeps its own.
    GroupPtr mine;
    for (const auto& line : mesh.movedim(d, -1).reshape({-1, mesh.size(d)}).unbind(0)) {
      std::vector<int> ranks;
      for (int64_t i = 0; i < line.numel(); ++i) {
        ranks.push_back(static_cast<int>(line[i].item<int64_t>()));
      }
      if (GroupPtr group = new_group(ranks)) {
        mine = std::move(group);
      }
    }
    groups.push_back(std::move(mine));
  }
  return DeviceMesh::from_groups(std::move(groups), mesh, rank, device_type, std::move(names));
}

} // namespace torch::distributed
