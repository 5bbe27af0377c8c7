// Averages gradients over ranks while a backward pass makes them.
#include <csrc/distributed/ddp/gradient_reducer.h>

#include <aten/Functions.h>
#include <autograd/custom_function.h>
#include <autograd/graph_task.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace torch::distributed {

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Parameters lie in their own order of memory where it has no gaps.
at::Tensor view_of(const at::Tensor& flat, int64_t offset, const at::Tensor& parameter) {
  const auto part = flat.narrow(0, offset, parameter.numel());
  return parameter.is_non_overlapping_and_dense() ? part.as_strided(parameter.sizes(), parameter.strides())
                                                  : part.view(parameter.sizes());
}

at::Tensor make_flat(c10d::ProcessGroup& group, int64_t numel, const at::TensorOptions& options) {
  const auto device = options.device().type();
  if (group.hasBackendForDeviceType(device)) {
    const auto backend = group.getBackend(device);
    if (backend->supportsTensorAlloc(options.device().index())) {
      return backend->allocateTensor(numel, options).zero_();
    }
  }
  return at::zeros({numel}, options);
}

std::string text_of(const std::string& name, const at::Tensor& parameter) {
  return c10::str(name, " ", parameter.sizes(), " ", parameter.scalar_type());
}

} // namespace

GradientReducer::GradientReducer(
    std::vector<at::Tensor> parameters, std::vector<std::string> names, ReducerOptions options)
    : parameters_(std::move(parameters)), names_(std::move(names)), options_(std::move(options)) {
  TORCH_CHECK_VALUE(options_.group, "DistributedDataParallel: the process group is null");
  TORCH_CHECK_VALUE(
      !parameters_.empty(),
      "DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient.");
  for (size_t n = names_.size(); n < parameters_.size(); ++n) {
    names_.push_back(std::to_string(n));
  }
  divisor_ = options_.group->getSize();
  verify_same_parameters(*options_.group, parameters_, names_);
  make_buckets();
}

GradientReducer::~GradientReducer() {
  detach();
}

void GradientReducer::detach() {
  for (auto& handle : std::exchange(handles_, {})) {
    handle.remove();
  }
}

// Each rank sees the descriptions of all, so that all throw, or none.
void verify_same_parameters(
    c10d::ProcessGroup& group, const std::vector<at::Tensor>& parameters, const std::vector<std::string>& names) {
  std::string mine;
  for (size_t i = 0; i < parameters.size(); ++i) {
    mine += text_of(names[i], parameters[i]) + "\n";
  }
  const auto device =
      group.getDeviceTypes().empty() || parameters.empty() ? at::Device(at::kCPU) : parameters[0].device();
  auto size = at::full({1}, static_cast<int64_t>(mine.size()), at::TensorOptions(at::kLong).device(device));
  auto sizes = at::empty({group.getSize()}, size.options());
  group.all_gather_single(sizes, size)->wait();
  const auto longest = sizes.max().item<int64_t>();
  auto bytes = at::zeros({longest}, at::kByte);
  std::memcpy(bytes.data_ptr(), mine.data(), mine.size());
  bytes = bytes.to(device);
  auto all = at::empty({group.getSize(), longest}, bytes.options());
  group.all_gather_single(all, bytes)->wait();
  all = all.cpu();
  const auto* text = static_cast<const char*>(all.data_ptr());
  const std::string first(text, static_cast<size_t>(sizes[0].item<int64_t>()));
  for (int rank = 1; rank < group.getSize(); ++rank) {
    const std::string other(text + rank * longest, static_cast<size_t>(sizes[rank].item<int64_t>()));
    if (other != first) {
      const auto place = std::mismatch(first.begin(), first.end(), other.begin(), other.end());
      const auto line = [](const std::string& s, size_t at) {
        const size_t begin = at == 0 ? 0 : s.rfind('\n', at - 1) + 1;
        return at >= s.size() ? std::string("no more parameters") : s.substr(begin, s.find('\n', at) - begin);
      };
      TORCH_CHECK(
          false, "DDP expects same model across all ranks, but rank 0 has ",
          line(first, static_cast<size_t>(place.first - first.begin())), " where rank ", rank, " has ",
          line(other, static_cast<size_t>(place.second - other.begin())));
    }
  }
}

void GradientReducer::group_by_size() {
  std::vector<int64_t> bytes;
  for (size_t n = parameters_.size(); n-- > 0;) {
    const at::Tensor& parameter = parameters_[n];
    const auto size = static_cast<int64_t>(parameter.nbytes());
    const int64_t cap = buckets_.size() <= 1 ? options_.first_bucket_bytes : options_.bucket_bytes;
    const bool fits = !buckets_.empty() && bytes.back() + size <= cap && !is_sparse(n) &&
        !is_sparse(buckets_.back().parameters[0]) &&
        parameters_[buckets_.back().parameters[0]].scalar_type() == parameter.scalar_type() &&
        parameters_[buckets_.back().parameters[0]].device() == parameter.device();
    if (!fits) {
      buckets_.emplace_back();
      bytes.push_back(0);
    }
    buckets_.back().parameters.push_back(n);
    bytes.back() += size;
  }
}

void GradientReducer::make_buckets() {
  places_.resize(parameters_.size());
  for (const auto& indices : options_.buckets) {
    TORCH_CHECK_VALUE(!indices.empty(), "Empty bucket specified.");
    for (const size_t n : indices) {
      TORCH_CHECK_VALUE(n < parameters_.size(), "Out of range variable index specified: ", n);
      TORCH_CHECK_VALUE(
          parameters_[n].scalar_type() == parameters_[indices[0]].scalar_type() &&
              parameters_[n].device() == parameters_[indices[0]].device(),
          "All parameters in a bucket must have the same dtype and device");
      TORCH_CHECK_VALUE(indices.size() == 1 || !is_sparse(n), "No support for sparse gradients in a bucket of several");
    }
    buckets_.emplace_back();
    buckets_.back().parameters = indices;
  }
  if (buckets_.empty()) {
    group_by_size();
  }
  for (size_t b = 0; b < buckets_.size(); ++b) {
    Bucket& bucket = buckets_[b];
    int64_t numel = 0;
    for (const size_t n : bucket.parameters) {
      bucket.offsets.push_back(static_cast<size_t>(numel));
      numel += parameters_[n].numel();
    }
    if (is_sparse(bucket.parameters[0])) {
      places_[bucket.parameters[0]] = {b, at::Tensor()};
      continue;
    }
    bucket.flat = make_flat(*options_.group, numel, parameters_[bucket.parameters[0]].options().requires_grad(false));
    for (size_t i = 0; i < bucket.parameters.size(); ++i) {
      const size_t n = bucket.parameters[i];
      places_[n] = {b, view_of(bucket.flat, static_cast<int64_t>(bucket.offsets[i]), parameters_[n])};
    }
  }
}

void GradientReducer::attach() {
  for (size_t n = 0; n < parameters_.size(); ++n) {
    handles_.push_back(autograd::graph::register_post_accumulate_grad_hook(
        parameters_[n], [weak = weak_from_this(), n](const at::Tensor&) {
          if (const auto self = weak.lock()) {
            self->on_gradient(n);
          }
        }));
  }
}

// Note [Passes within passes]
// A re-entrant checkpoint is a node that records its part of the forward anew and runs a pass of its own over it. That
// pass reaches parameters which the outer one does not know of, perhaps the same ones several times. So the reducer
// counts all of them as one pass, the outermost, and asks its nodes what is to come:
//  - no node can run a pass: parameters that it does not reach are ready at once, others with their gradient of it;
//  - custom functions, which may run one but seldom do: those that it does not reach are ready at its end;
//  - checkpoints: all are ready at the end, unless the graph is static and an earlier pass has told how often each
//    parameter gets a gradient.
// What comes for a parameter that was reduced already, as from a pass that a hook runs, is an error.
namespace {

enum class Nesting { None, Possible, Certain };

Nesting nesting_of(autograd::GraphTask& pass) {
  Nesting nesting = Nesting::None;
  for (size_t i = 0; i < pass.nodes_.size(); ++i) {
    const autograd::Node* node = pass.nodes_[i].node;
    if (dynamic_cast<const autograd::CustomNode*>(node) == nullptr) {
      continue;
    }
    if (node->name() == "CheckpointFunctionBackward") {
      return Nesting::Certain;
    }
    nesting = Nesting::Possible;
  }
  return nesting;
}

bool reaches(autograd::GraphTask& pass, const at::Tensor& parameter) {
  const auto accumulator = autograd::impl::try_get_grad_accumulator(parameter);
  const auto* state = accumulator ? pass.nodes_.find(accumulator.get()) : nullptr;
  return state != nullptr && (!pass.has_exec_info_ || state->should_execute());
}

} // namespace

void GradientReducer::on_gradient(size_t parameter) {
  if (!sync_) {
    return;
  }
  const c10::NoGradGuard no_grad;
  autograd::GraphTask* pass = autograd::outermost_graph_task();
  if (static_cast<int64_t>(pass->id_) != pass_) {
    begin_pass(*pass);
  }
  ++arrived_[parameter];
  const bool is_last = readiness_ == Readiness::WhenCounted
      ? arrived_[parameter] >= expected_[parameter]
      : readiness_ == Readiness::WhenItRuns && autograd::get_current_graph_task_id() == pass_;
  if (!is_last && !ready_[parameter]) {
    return;
  }
  TORCH_CHECK(
      contribute(parameter), "Expected to mark a variable ready only once. Parameter ", names_[parameter],
      " has got a gradient in this pass after its average over ranks was begun. ",
      readiness_ == Readiness::WhenCounted
          ? "Your training graph has changed in this iteration, which is not compatible with static_graph set to True: "
            "leave the option away."
          : "A hook or a custom function has run a backward pass within the pass: set static_graph, which learns from "
            "the first pass how many there are.");
}

void GradientReducer::reset_buckets() {
  next_bucket_ = 0;
  communication_seconds_ = 0;
  arrived_.assign(parameters_.size(), 0);
  ready_.assign(parameters_.size(), false);
  for (auto& bucket : buckets_) {
    bucket.missing = bucket.parameters.size();
    bucket.work.reset();
    bucket.future.reset();
  }
}

void GradientReducer::begin_pass(autograd::GraphTask& pass) {
  reset_buckets();
  pass_ = static_cast<int64_t>(pass.id_);
  {
    const std::lock_guard lock(pass.final_callbacks_lock_);
    pass.final_callbacks_.emplace_back([self = shared_from_this()] { self->end_pass(); });
    pass.at_end_.emplace_back([self = shared_from_this()] { self->forget_pass(); });
  }
  if (options_.static_graph) {
    readiness_ = expected_.empty() ? Readiness::AtTheEnd : Readiness::WhenCounted;
    for (size_t n = 0; n < expected_.size(); ++n) {
      if (expected_[n] == 0) {
        contribute(n);
      }
    }
    return;
  }
  const Nesting nesting = nesting_of(pass);
  readiness_ = nesting == Nesting::Certain ? Readiness::AtTheEnd : Readiness::WhenItRuns;
  for (size_t n = 0; n < parameters_.size() && nesting == Nesting::None; ++n) {
    if (!reaches(pass, parameters_[n])) {
      contribute(n);
    }
  }
}

// Counts the parameter as ready, once: false if it is already.
bool GradientReducer::contribute(size_t parameter) {
  if (ready_[parameter]) {
    return false;
  }
  ready_[parameter] = true;
  gather(parameter);
  --buckets_[places_[parameter].bucket].missing;
  // In one order on all ranks, however their graphs differ.
  while (next_bucket_ < buckets_.size() && buckets_[next_bucket_].missing == 0) {
    launch(buckets_[next_bucket_], next_bucket_);
    ++next_bucket_;
  }
  return true;
}

// The parameter's gradient, which may be there from before, into the bucket.
void GradientReducer::gather(size_t parameter) {
  const at::Tensor& view = places_[parameter].view;
  if (!view.defined()) {
    return;
  }
  const at::Tensor& grad = parameters_[parameter].grad();
  if (!grad.defined()) {
    view.zero_();
  } else if (!grad.is_same(view) && (grad.is_sparse() || grad.data_ptr() != view.data_ptr())) {
    view.copy_(grad.is_sparse() ? grad.to_dense() : grad);
  }
}

void GradientReducer::launch(Bucket& bucket, size_t index) {
  if (!bucket.flat.defined()) {
    exchange_sparse(bucket.parameters[0]);
    return;
  }
  if (hook_) {
    launch_hook(bucket, index);
    return;
  }
  // Divided first: the sum cannot overflow where no gradient does.
  if (divisor_ > 1) {
    bucket.flat.div_(divisor_);
  }
  std::vector<at::Tensor> tensors{bucket.flat};
  bucket.work = options_.group->allreduce(tensors);
}

c10d::GradBucket GradientReducer::shown(size_t index) const {
  const Bucket& bucket = buckets_[index];
  std::vector<size_t> lengths;
  std::vector<c10::IntArrayRef> sizes;
  std::vector<at::Tensor> parameters;
  for (const size_t n : bucket.parameters) {
    lengths.push_back(static_cast<size_t>(parameters_[n].numel()));
    sizes.push_back(parameters_[n].sizes());
    parameters.push_back(parameters_[n]);
  }
  return c10d::GradBucket(index, buckets_.size(), bucket.flat, bucket.offsets, lengths, sizes, parameters);
}

std::vector<c10d::GradBucket> GradientReducer::grad_buckets() const {
  std::vector<c10d::GradBucket> all;
  for (size_t index = 0; index < buckets_.size(); ++index) {
    all.push_back(shown(index));
  }
  return all;
}

std::vector<std::vector<size_t>> GradientReducer::bucket_indices() const {
  std::vector<std::vector<size_t>> all;
  for (const auto& bucket : buckets_) {
    all.push_back(bucket.parameters);
  }
  return all;
}

void GradientReducer::launch_hook(Bucket& bucket, size_t index) {
  c10d::GradBucket about = shown(index);
  bucket.future = hook_(about);
  TORCH_CHECK(bucket.future, "DistributedDataParallel: the communication hook returned no future");
}

// Rows of all ranks, added in the order of ranks where several have the same.
void GradientReducer::exchange_sparse(size_t parameter) {
  at::Tensor& grad = parameters_[parameter].mutable_grad();
  const at::Tensor like = parameters_[parameter];
  at::Tensor mine = !grad.defined() ? at::zeros(like.sizes(), like.options().requires_grad(false)).to_sparse(1)
                                    : (grad.is_sparse() ? grad : grad.to_sparse(1));
  mine = mine.coalesce();
  auto& group = *options_.group;
  const int64_t size = group.getSize();
  auto count = at::full({1}, mine._nnz(), at::TensorOptions(at::kLong).device(like.device()));
  auto counts = at::empty({size}, count.options());
  group.all_gather_single(counts, count)->wait();
  const int64_t longest = counts.max().item<int64_t>();
  const auto padded = [&](const at::Tensor& rows) {
    auto sizes = rows.sizes().vec();
    sizes[0] = longest;
    auto all = at::zeros(sizes, rows.options());
    all.narrow(0, 0, rows.size(0)).copy_(rows);
    return all;
  };
  const auto gathered = [&](const at::Tensor& rows) {
    auto input = padded(rows);
    auto sizes = input.sizes().vec();
    sizes[0] *= size;
    auto output = at::empty(sizes, input.options());
    group.all_gather_single(output, input)->wait();
    std::vector<at::Tensor> parts;
    for (int64_t rank = 0; rank < size; ++rank) {
      parts.push_back(output.narrow(0, rank * longest, counts[rank].item<int64_t>()));
    }
    return at::cat(parts);
  };
  const auto indices = gathered(mine.indices().t().contiguous()).t().contiguous();
  const auto values = gathered(mine.values().div(divisor_).contiguous());
  grad = at::sparse_coo_tensor(indices, values, like.sizes()).coalesce();
}

void GradientReducer::end_pass() {
  const c10::NoGradGuard no_grad;
  for (size_t n = 0; n < parameters_.size(); ++n) {
    contribute(n);
  }
  if (options_.static_graph && expected_.empty()) {
    expected_ = arrived_;
  }
  take_results();
}

void GradientReducer::take_results() {
  const auto begin = std::chrono::steady_clock::now();
  for (auto& bucket : buckets_) {
    if (bucket.work) {
      bucket.work->wait();
      communication_seconds_ += bucket.work->getDuration() / 1e3;
    } else if (bucket.future) {
      bucket.future->waitAndThrow();
      const at::Tensor result = c10d::detail::parseCppCommHookResult(bucket.future->value());
      if (result.data_ptr() != bucket.flat.data_ptr()) {
        bucket.flat.copy_(result.view_as(bucket.flat));
      }
    }
  }
  const at::Tensor used = options_.find_unused_parameters ? used_anywhere() : at::Tensor();
  for (size_t n = 0; n < parameters_.size(); ++n) {
    // What no rank has used keeps what it had.
    if (places_[n].view.defined() && (!used.defined() || used.data_ptr<int32_t>()[n] > 0)) {
      parameters_[n].mutable_grad() = places_[n].view;
    }
  }
  waiting_seconds_ = seconds_since(begin);
  if (at_end_) {
    at_end_();
  }
}

// For each parameter on how many ranks it has got a gradient.
at::Tensor GradientReducer::used_anywhere() const {
  auto used = at::zeros({static_cast<int64_t>(arrived_.size())}, at::kInt);
  for (size_t n = 0; n < arrived_.size(); ++n) {
    used.data_ptr<int32_t>()[n] = arrived_[n] > 0;
  }
  used = used.to(parameters_[0].device());
  std::vector<at::Tensor> tensors{used};
  options_.group->allreduce(tensors)->wait();
  return used.cpu();
}

void GradientReducer::follow_pass() {
  const c10::NoGradGuard no_grad;
  reset_buckets();
  for (size_t n = 0; n < parameters_.size(); ++n) {
    parameters_[n].mutable_grad() = at::Tensor();
    contribute(n);
  }
  take_results();
}

void GradientReducer::forget_pass() noexcept {
  pass_ = -1;
}

} // namespace torch::distributed
