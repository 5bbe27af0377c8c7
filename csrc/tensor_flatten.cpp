#include <csrc/tensor_flatten.h>

#include <map>
#include <utility>

namespace torch::utils {

size_t type_id(const at::Tensor& tensor) {
  return static_cast<size_t>(tensor.options().backend()) * static_cast<size_t>(at::ScalarType::NumOptions) +
      static_cast<size_t>(tensor.scalar_type());
}

size_t TensorGroup::type_id() const {
  TORCH_CHECK(!tensors.empty(), "TensorGroup::type_id: the group has no tensors");
  return utils::type_id(tensors[0]);
}

at::TensorOptions TensorGroup::options() const {
  TORCH_CHECK(!tensors.empty(), "TensorGroup::options: the group has no tensors");
  return tensors[0].options();
}

std::vector<TensorGroup> take_tensors(at::TensorList tensors, size_t size_limit, bool fine_grained) {
  std::vector<TensorGroup> done;
  std::map<size_t, TensorGroup> open;
  const auto close = [&done](TensorGroup& group) {
    if (!group.tensors.empty()) {
      done.push_back(std::exchange(group, {}));
    }
  };
  size_t total = 0;
  for (const at::Tensor& tensor : tensors) {
    TensorGroup& group = open[type_id(tensor)];
    group.tensors.push_back(tensor);
    group.size += tensor.nbytes();
    total += tensor.nbytes();
    if (fine_grained && total >= size_limit) {
      for (auto& [type, each] : open) {
        close(each);
      }
      total = 0;
    } else if (!fine_grained && group.size >= size_limit) {
      close(group);
    }
  }
  for (auto& [type, group] : open) {
    close(group);
  }
  return done;
}

void reorder_tensors_like(std::vector<at::Tensor>& tensors, at::TensorList order) {
  TORCH_CHECK(
      tensors.size() == order.size(), "reorder_tensors_like: ", tensors.size(), " tensors cannot take the order of ",
      order.size());
  std::map<size_t, std::vector<size_t>> of_type;
  for (size_t i = 0; i < tensors.size(); ++i) {
    of_type[type_id(tensors[i])].push_back(i);
  }
  std::map<size_t, size_t> used;
  std::vector<at::Tensor> ordered;
  ordered.reserve(tensors.size());
  for (const at::Tensor& like : order) {
    const size_t type = type_id(like);
    const std::vector<size_t>& places = of_type[type];
    const size_t next = used[type]++;
    TORCH_CHECK(next < places.size(), "reorder_tensors_like: there are too few tensors of type ", like.toString());
    ordered.push_back(std::move(tensors[places[next]]));
  }
  tensors = std::move(ordered);
}

} // namespace torch::utils
