// DTensor: a tensor of which each rank of a mesh has a part.
#include <csrc/distributed/tensor/dtensor.h>

#include <aten/Functions.h>
#include <autograd/custom_function.h>
#include <c10/util/Exception.h>

#include <sstream>

namespace torch::distributed {

std::string to_string(const Placements& placements) {
  std::ostringstream text;
  text << "[";
  for (size_t i = 0; i < placements.size(); ++i) {
    text << (i > 0 ? ", " : "");
    if (const auto* partial = std::get_if<Partial>(&placements[i])) {
      text << "P(" << partial->reduce_op << ")";
    } else if (shard_dim(placements[i]) >= 0) {
      text << "S(" << shard_dim(placements[i]) << ")";
    } else {
      text << "R";
    }
  }
  text << "]";
  return text.str();
}

Placements detail::checked_placements(Placements placements, const DeviceMesh& mesh, int64_t dim) {
  TORCH_CHECK_VALUE(
      placements.size() == static_cast<size_t>(mesh.ndim()),
      "`placements` must have the same length as `device_mesh.ndim`! "
      "Found placements length: ",
      placements.size(), ", and device_mesh.ndim: ", mesh.ndim());
  for (auto& placement : placements) {
    if (auto* shard = std::get_if<Shard>(&placement)) {
      const int64_t wanted = shard->dim;
      shard->dim += wanted < 0 ? dim : 0;
      TORCH_CHECK_INDEX(
          shard->dim >= 0 && shard->dim < dim, "Sharding dim ", wanted, " greater than tensor ndim ", dim,
          " for placement ", to_string({*shard}));
    }
  }
  return placements;
}

namespace {

// Gradients of a part come back by the way on which it came; a gradient of a sum is that of each part.
Placements of_gradient(Placements placements) {
  for (auto& placement : placements) {
    if (std::holds_alternative<Partial>(placement)) {
      placement = Replicate();
    }
  }
  return placements;
}

struct Route {
  DeviceMesh mesh;
  Placements from, to;
  std::vector<int64_t> sizes;
};

struct RedistributeNode final : autograd::Node {
  explicit RedistributeNode(Route route_) : route(std::move(route_)) {}
  std::string name() const override {
    return "RedistributeBackward";
  }
  autograd::variable_list apply(autograd::variable_list&& grads) override {
    if (!grads[0].defined()) {
      return {at::Tensor()};
    }
    return {detail::redistribute_local(
        grads[0].contiguous(), route.sizes, route.mesh, of_gradient(route.to), of_gradient(route.from))};
  }
  Route route;
};

} // namespace

const DeviceMesh& DTensor::device_mesh() const {
  TORCH_CHECK(mesh_, "DTensor: it is not defined");
  return *mesh_;
}

DTensor DTensor::from_local(
    const at::Tensor& local, const DeviceMesh& mesh, Placements placements, std::optional<std::vector<int64_t>> sizes) {
  DTensor result;
  result.local_ = local;
  result.mesh_ = mesh;
  result.placements_ = detail::checked_placements(std::move(placements), mesh, local.dim());
  if (!sizes) {
    sizes = local.sizes().vec();
    for (int64_t d = mesh.ndim(); d-- > 0;) {
      const int64_t dim = shard_dim(result.placements_[static_cast<size_t>(d)]);
      if (dim >= 0) {
        std::vector<at::Tensor> length{at::full({1}, (*sizes)[static_cast<size_t>(dim)], at::kLong).to(local.device())};
        mesh.get_group(d)->allreduce(length)->wait();
        (*sizes)[static_cast<size_t>(dim)] = length[0].item<int64_t>();
      }
    }
  }
  result.sizes_ = std::move(*sizes);
  const auto wanted = local_part(result.sizes_, mesh, result.placements_).sizes;
  TORCH_CHECK_VALUE(
      local.sizes() == c10::IntArrayRef(wanted), "DTensor::from_local: this rank's part of ",
      c10::IntArrayRef(result.sizes_), " under ", to_string(result.placements_), " has the sizes ",
      c10::IntArrayRef(wanted), ", but got ", local.sizes());
  return result;
}

DTensor DTensor::redistribute(Placements placements) const {
  placements = detail::checked_placements(std::move(placements), device_mesh(), dim());
  DTensor result = *this;
  result.placements_ = placements;
  if (placements == placements_) {
    return result;
  }
  result.local_ = detail::redistribute_local(local_.detach(), sizes_, device_mesh(), placements_, placements);
  if (c10::GradMode::is_enabled() && local_.requires_grad()) {
    const auto node = std::make_shared<RedistributeNode>(Route{device_mesh(), placements_, placements, sizes_});
    node->set_next_edges(autograd::edge_list{autograd::impl::gradient_edge(local_)});
    if (result.local_.is_same(local_) || result.local_.is_alias_of(local_)) {
      result.local_ = result.local_.clone();
    }
    autograd::set_history(result.local_, std::shared_ptr<autograd::Node>(node));
  }
  return result;
}

at::Tensor DTensor::full_tensor() const {
  return redistribute(Placements(placements_.size(), Replicate())).to_local();
}

DTensor distribute_tensor(const at::Tensor& tensor, const DeviceMesh& mesh, Placements placements, bool broadcast) {
  placements = detail::checked_placements(std::move(placements), mesh, tensor.dim());
  const c10::NoGradGuard no_grad;
  at::Tensor whole = tensor.detach().contiguous();
  if (broadcast) {
    whole = whole.is_same(tensor) || whole.is_alias_of(tensor) ? whole.clone() : whole;
    for (int64_t d = 0; d < mesh.ndim(); ++d) {
      std::vector<at::Tensor> tensors{whole};
      mesh.get_group(d)->broadcast(tensors)->wait();
    }
  }
  const auto local =
      detail::redistribute_local(whole, tensor.sizes(), mesh, Placements(placements.size(), Replicate()), placements);
  const at::Tensor own = local.is_alias_of(tensor) ? local.clone() : local;
  return DTensor::from_local(own.requires_grad_(tensor.requires_grad()), mesh, placements, tensor.sizes().vec());
}

} // namespace torch::distributed
