// Parameters that are gathered and reduced together: shards, whole, and back.
#include <csrc/distributed/fsdp/sharded_group.h>

#include <aten/Functions.h>
#include <autograd/graph_task.h>
#include <autograd/rebound_variable.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/fsdp/nodes.h>
#include <csrc/distributed/tensor/dtensor.h>

#include <algorithm>

namespace torch::distributed::fsdp {

c10::Device device_of(const DeviceMesh& mesh) {
  const c10::DeviceType type = mesh.device_type();
  return type == c10::kCPU ? c10::Device(type) : c10::impl::VirtualGuardImpl(type).getDevice();
}

ShardedGroup::ShardedGroup(std::vector<ParameterPlaces> parameters, FullyShardOptions options)
    : reshard_after_forward(options.reshard_after_forward()),
      places_(std::move(parameters)),
      options_(std::move(options)) {
  cut();
}

int64_t ShardedGroup::own_rows(const Layout& layout) const {
  const int64_t begin = std::min(layout.rows, mesh().get_coordinate().back() * layout.chunk);
  return std::min(layout.rows, begin + layout.chunk) - begin;
}

void ShardedGroup::cut() {
  const c10::NoGradGuard no_grad;
  const int64_t ranks = mesh().size(shard_dim());
  for (const auto& place : places_) {
    const at::Tensor& tensor = place.tensor;
    TORCH_CHECK_VALUE(
        tensor.dim() > 0, "fully_shard doesn't support scalar parameters. Change ", place.name,
        " to a 1D tensor with numel equal to 1.");
    TORCH_CHECK_VALUE(
        tensor.device() == places_[0].tensor.device() && tensor.scalar_type() == places_[0].tensor.scalar_type(),
        "FSDP expects uniform original parameter dtype and device, but ", place.name, " is ", tensor.toString(),
        " and ", places_[0].name, " ", places_[0].tensor.toString());
    const int64_t rows = tensor.size(0);
    layouts_.push_back({rows, (rows + ranks - 1) / ranks, rows > 0 ? tensor.numel() / rows : 0, tensor.sizes().vec()});
    const Layout& layout = layouts_.back();
    const int64_t begin = std::min(layout.rows, mesh().get_coordinate().back() * layout.chunk);
    auto shard = to_home(tensor.detach().narrow(0, begin, own_rows(layout)).clone(at::MemoryFormat::Contiguous));
    shards_.push_back(shard.requires_grad_(tensor.requires_grad()));
    place.register_instead(shards_.back());
    mark(shards_.size() - 1);
  }
  show_shards();
}

void ShardedGroup::mark(size_t parameter) {
  Placements placements(static_cast<size_t>(mesh().ndim()), Replicate());
  placements.back() = Shard(0);
  mark_as_part(
      shards_[parameter], DTensor::from_local(shards_[parameter], mesh(), placements, layouts_[parameter].sizes));
}

c10::ScalarType ShardedGroup::gathered_dtype() const {
  return options_.mp_policy().param_dtype().value_or(shards_[0].scalar_type());
}

at::Tensor ShardedGroup::to_home(at::Tensor shard) const {
  const auto& policy = options_.offload_policy();
  if (!policy || shard.is_meta()) {
    return shard;
  }
  shard = shard.cpu();
  return policy->pin_memory() && mesh().device_type() == c10::kCUDA ? shard.pin_memory() : shard;
}

// Whether an optimizer or a program has changed the shards since they were gathered.
bool ShardedGroup::is_stale() const {
  for (size_t i = 0; i < shards_.size(); ++i) {
    if (autograd::impl::version_counter(shards_[i]).current_version() != gathered_versions_[i]) {
      return true;
    }
  }
  return false;
}

void ShardedGroup::begin_gather() {
  if (state_ != State::Shards && !is_stale()) {
    return;
  }
  finish_gather();
  if (layouts_.empty()) { // all parameters belong to groups below, as those of a root often do
    state_ = State::Whole;
    return;
  }
  const c10::NoGradGuard no_grad;
  const int64_t ranks = mesh().size(shard_dim());
  int64_t each = 0;
  for (const auto& layout : layouts_) {
    each += layout.chunk * layout.width;
  }
  TORCH_CHECK(
      !shards_[0].is_meta(), "fully_shard: parameters are on the meta device; call to_empty() and initialize them");
  const auto options = at::TensorOptions(gathered_dtype()).device(working_device());
  sent_ = at::zeros({each}, options);
  received_ = at::empty({ranks * each}, options);
  gathered_versions_.clear();
  int64_t at = 0;
  for (size_t i = 0; i < shards_.size(); ++i) {
    sent_.narrow(0, at, shards_[i].numel()).copy_(shards_[i].detach().view(-1), shards_[i].is_pinned());
    at += layouts_[i].chunk * layouts_[i].width;
    gathered_versions_.push_back(autograd::impl::version_counter(shards_[i]).current_version());
  }
  work_ = shard_ranks().all_gather_single(received_, sent_);
  state_ = State::Gathering;
}

void ShardedGroup::finish_gather() {
  if (state_ != State::Gathering) {
    return;
  }
  const c10::NoGradGuard no_grad;
  work_->wait();
  const int64_t ranks = mesh().size(shard_dim());
  if (whole_.empty()) {
    for (const auto& layout : layouts_) {
      whole_.emplace_back(ranks * layout.chunk * layout.width, received_.options());
    }
  }
  const auto rows = received_.view({ranks, sent_.numel()});
  int64_t at = 0;
  for (size_t i = 0; i < layouts_.size(); ++i) {
    const int64_t part = layouts_[i].chunk * layouts_[i].width;
    whole_[i].acquire();
    whole_[i].view().view({ranks, part}).copy_(rows.narrow(1, at, part));
    at += part;
  }
  sent_.reset();
  received_.reset();
  work_.reset();
  state_ = State::Whole;
}

void ShardedGroup::let_go() {
  finish_gather();
  if (state_ != State::Whole) {
    return;
  }
  for (auto& memory : whole_) {
    memory.release();
  }
  state_ = State::Shards;
  show_shards();
}

std::vector<at::Tensor> ShardedGroup::whole_parameters() const {
  std::vector<at::Tensor> tensors;
  for (size_t i = 0; i < layouts_.size(); ++i) {
    const auto& layout = layouts_[i];
    tensors.push_back(whole_[i].view().narrow(0, 0, layout.rows * layout.width).view(layout.sizes).detach());
  }
  return tensors;
}

// Outside of forward, members of the modules are the shards, for those who look.
void ShardedGroup::show_shards() {
  for (size_t i = 0; i < places_.size(); ++i) {
    autograd::impl::renew(places_[i].tensor, shards_[i]);
  }
}

// Whole parameters with a history: one node for all, which gets all gradients at once.
void ShardedGroup::show_whole() {
  auto tensors = whole_parameters();
  if (c10::GradMode::is_enabled() && !tensors.empty()) {
    auto node = std::make_shared<ReduceGradients>(weak_from_this());
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (shards_[i].requires_grad()) {
        node->trained.push_back(i);
        autograd::impl::set_gradient_edge(tensors[i], {node, node->add_input_metadata(tensors[i])});
      }
    }
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    autograd::impl::renew(places_[i].tensor, tensors[i]);
  }
}

void ShardedGroup::write_back() {
  TORCH_CHECK(is_whole(), "fully_shard: parameters must be whole to be written back: call unshard() first");
  const c10::NoGradGuard no_grad;
  const auto tensors = whole_parameters();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t begin = std::min(layouts_[i].rows, mesh().get_coordinate().back() * layouts_[i].chunk);
    shards_[i].detach().copy_(tensors[i].narrow(0, begin, own_rows(layouts_[i])));
  }
  let_go();
}

void ShardedGroup::to_empty(c10::Device device) {
  const c10::NoGradGuard no_grad;
  let_go();
  for (size_t i = 0; i < shards_.size(); ++i) {
    const bool trained = shards_[i].requires_grad();
    shards_[i] = to_home(at::empty(shards_[i].sizes(), shards_[i].options().device(device).requires_grad(false)));
    shards_[i].requires_grad_(trained);
    places_[i].register_instead(shards_[i]);
    mark(i);
  }
  whole_.clear();
  show_shards();
}

// ---- forward -------------------------------------------------------------------------------------------------------

bool ShardedGroup::in_backward() const {
  return autograd::outermost_graph_task() != nullptr;
}

void ShardedGroup::before_forward(std::vector<at::Tensor>& inputs) {
  const auto& policy = options_.mp_policy();
  if (policy.param_dtype() && policy.cast_forward_inputs()) {
    for (auto& input : inputs) {
      if (input.defined() && input.is_floating_point()) {
        input = input.to(*policy.param_dtype());
      }
    }
  }
  if (!in_backward()) {
    if (is_root) {
      root->last_order = std::move(root->order);
      root->order.clear();
    }
    place_in_order_ = root->order.size();
    root->order.push_back(weak_from_this());
  }
  gather();
  if (!in_backward()) {
    prefetch_after(/*forward=*/true);
  }
  show_whole();
}

// Begins to gather what is needed next: by the program's wish, or by the order of the last forward.
void ShardedGroup::prefetch_after(bool forward) {
  const auto& wanted = forward ? forward_prefetch : backward_prefetch;
  for (const auto& next : wanted) {
    if (const auto group = next.lock()) {
      group->begin_gather();
      if (!forward) {
        root->note_gathered(group);
      }
    }
  }
  if (!wanted.empty()) {
    return;
  }
  const auto at = [&](const auto& order, size_t place) {
    return place < order.size() ? order[place].lock() : std::shared_ptr<ShardedGroup>();
  };
  std::shared_ptr<ShardedGroup> next;
  if (forward) {
    if (at(root->last_order, place_in_order_).get() == this) {
      next = at(root->last_order, place_in_order_ + 1);
    }
  } else if (place_in_order_ > 0) {
    next = at(root->order, place_in_order_ - 1);
  }
  if (next) {
    next->begin_gather();
    if (!forward) {
      root->note_gathered(next);
    }
  }
}

void ShardedGroup::after_forward(std::vector<at::Tensor>& outputs) {
  if (options_.mp_policy().output_dtype()) {
    for (auto& output : outputs) {
      if (output.defined() && output.is_floating_point()) {
        output = output.to(*options_.mp_policy().output_dtype());
      }
    }
  }
  tap_outputs(outputs, shared_from_this());
  if (!in_backward() && reshard_after_forward.value_or(!is_root)) {
    let_go();
  }
}

// ---- backward ------------------------------------------------------------------------------------------------------

void RootState::note_gathered(const std::shared_ptr<ShardedGroup>& group) {
  if (std::find(gathered.begin(), gathered.end(), group) == gathered.end()) {
    gathered.push_back(group);
  }
}

void ShardedGroup::enter_pass(autograd::GraphTask& pass) {
  if (root->pass == static_cast<int64_t>(pass.id_)) {
    return;
  }
  root->pass = static_cast<int64_t>(pass.id_);
  root->pass_has_ended = false;
  // A module that was called several times has several ends in the graph: their gradients are added before they are
  // reduced, as in a model that is not cut.
  std::vector<std::shared_ptr<ShardedGroup>> ends;
  for (size_t i = 0; i < pass.nodes_.size(); ++i) {
    if (const auto* end = dynamic_cast<const ReduceGradients*>(pass.nodes_[i].node)) {
      if (auto group = end->group.lock()) {
        group->expected_ = 0;
        ends.push_back(std::move(group));
      }
    }
  }
  for (const auto& group : ends) {
    ++group->expected_;
  }
  const std::lock_guard lock(pass.final_callbacks_lock_);
  pass.final_callbacks_.emplace_back([self = shared_from_this()] { self->end_pass(); });
  // Also where the pass throws: then gradients are dropped.
  pass.at_end_.emplace_back([state = root] {
    state->pass = -1;
    if (state->pass_has_ended) {
      return;
    }
    for (const auto& group : std::exchange(state->reducing, {})) {
      group->reduction_.reset();
    }
    for (const auto& group : std::exchange(state->gathered, {})) {
      group->pending_ = 0;
      group->unreduced_.clear();
    }
  });
}

void ShardedGroup::before_backward() {
  enter_pass(*autograd::outermost_graph_task());
  ++pending_;
  root->note_gathered(shared_from_this());
  gather();
  prefetch_after(/*forward=*/false);
}

void ShardedGroup::reduce(const std::vector<size_t>& trained, std::vector<at::Tensor> grads) {
  const c10::NoGradGuard no_grad;
  enter_pass(*autograd::outermost_graph_task());
  TORCH_CHECK(
      is_whole(), "fully_shard: gradients of ", places_[0].name,
      " were computed without its values: the module's results must be tensors, or lists or tuples of them, and the "
      "module must be called as module(x)");
  --pending_;
  unreduced_.resize(shards_.size());
  for (size_t k = 0; k < trained.size(); ++k) {
    auto& sum = unreduced_[trained[k]];
    if (grads[k].defined()) {
      sum = sum.defined() ? sum + grads[k] : grads[k];
    }
  }
  grads.clear();
  if (--expected_ <= 0 && sync) {
    // One at a time, so that no more than two groups' gradients are there.
    take_reduction();
    for (const auto& group : std::vector<std::shared_ptr<ShardedGroup>>(root->reducing)) {
      group->take_reduction();
    }
    const int64_t ranks = mesh().size(shard_dim());
    int64_t each = 0;
    for (const size_t i : trained) {
      each += layouts_[i].chunk * layouts_[i].width;
    }
    const auto dtype = options_.mp_policy().reduce_dtype().value_or(gathered_dtype());
    Reduction reduction{{}, at::zeros({ranks, each}, at::TensorOptions(dtype).device(working_device())), {}, trained};
    reduction.received = at::empty({each}, reduction.sent.options());
    int64_t at = 0;
    for (const size_t i : trained) {
      const auto& layout = layouts_[i];
      const int64_t part = layout.chunk * layout.width;
      const auto to = reduction.sent.narrow(1, at, part);
      for (int64_t rank = 0; unreduced_[i].defined() && rank < ranks; ++rank) {
        const int64_t begin = std::min(layout.rows, rank * layout.chunk);
        const int64_t count = std::min(layout.rows, begin + layout.chunk) - begin;
        to[rank].narrow(0, 0, count * layout.width).copy_(unreduced_[i].narrow(0, begin, count).reshape({-1}));
      }
      at += part;
    }
    unreduced_.clear();
    // Divided first, as without shards: the same bits.
    if (mesh().size() > 1) {
      reduction.sent.div_(mesh().size());
    }
    auto sent = reduction.sent.view(-1);
    reduction.work = shard_ranks().reduce_scatter_single(reduction.received, sent);
    reduction_ = std::move(reduction);
    root->reducing.push_back(shared_from_this());
  }
  if (reshard_after_backward && pending_ <= 0) {
    let_go();
  }
}

void ShardedGroup::take_reduction() {
  if (!reduction_) {
    return;
  }
  const c10::NoGradGuard no_grad;
  const Reduction reduction = std::move(*reduction_);
  reduction_.reset();
  root->reducing.erase(
      std::remove(root->reducing.begin(), root->reducing.end(), shared_from_this()), root->reducing.end());
  reduction.work->wait();
  if (mesh().ndim() > 1) {
    std::vector<at::Tensor> tensors{reduction.received};
    mesh().get_group(0)->allreduce(tensors)->wait();
  }
  int64_t at = 0;
  for (const size_t i : reduction.trained) {
    const auto own = reduction.received.narrow(0, at, shards_[i].numel()).view(shards_[i].sizes());
    at += layouts_[i].chunk * layouts_[i].width;
    auto& grad = shards_[i].mutable_grad();
    if (grad.defined()) {
      grad.add_(own.to(grad.device(), grad.scalar_type()));
    } else {
      grad = own.to(shards_[i].device(), shards_[i].scalar_type(), /*non_blocking=*/false, /*copy=*/true);
    }
  }
}

void ShardedGroup::end_pass() {
  root->pass_has_ended = true;
  for (const auto& group : std::vector<std::shared_ptr<ShardedGroup>>(root->reducing)) {
    group->take_reduction();
  }
  // Those whose parameters the pass did not reach, too.
  for (const auto& group : std::exchange(root->gathered, {})) {
    group->pending_ = 0;
    if (group->reshard_after_backward) {
      group->let_go();
    }
  }
}

} // namespace torch::distributed::fsdp
