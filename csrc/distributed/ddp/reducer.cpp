// c10d::Reducer: averages gradients as libtorch's does.
#include <csrc/distributed/ddp/reducer.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace c10d {

using torch::distributed::GradientReducer;

namespace {

int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::vector<std::string> numbered(size_t count, const std::unordered_map<size_t, std::string>& names) {
  std::vector<std::string> all;
  for (size_t i = 0; i < count; ++i) {
    const auto found = names.find(i);
    all.push_back(found != names.end() ? found->second : "params[" + std::to_string(i) + "]");
  }
  return all;
}

} // namespace

Reducer::Reducer(
    std::vector<at::Tensor> params,
    std::vector<std::vector<size_t>> bucket_indices,
    c10::intrusive_ptr<c10d::ProcessGroup> process_group,
    std::vector<bool> expect_sparse_gradients,
    int64_t bucket_bytes_cap,
    bool find_unused_parameters,
    bool gradient_as_bucket_view,
    std::unordered_map<size_t, std::string> param_names,
    int64_t first_bucket_bytes_cap,
    bool,
    bool,
    std::vector<int64_t>,
    bool,
    bool)
    : params_(std::move(params)),
      process_group_(std::move(process_group)),
      expect_sparse_gradients_(std::move(expect_sparse_gradients)),
      find_unused_parameters_(find_unused_parameters),
      gradient_as_bucket_view_(gradient_as_bucket_view),
      bucket_bytes_cap_(bucket_bytes_cap),
      param_names_(std::move(param_names)),
      first_bucket_bytes_cap_(first_bucket_bytes_cap),
      backward_stats_(params_.size()) {
  TORCH_CHECK(!params_.empty(), "Expected at least one parameter.");
  TORCH_CHECK(
      expect_sparse_gradients_.empty() || expect_sparse_gradients_.size() == params_.size(),
      "Reducer: expect_sparse_gradients must have one entry for each of ", params_.size(), " parameters, but got ",
      expect_sparse_gradients_.size());
  build(std::move(bucket_indices));
}

// A pass under way keeps the core, which then ends by itself.
Reducer::~Reducer() noexcept(false) {
  core_->detach();
  core_->set_at_end({});
  core_->set_hook({});
}

void Reducer::build(std::vector<std::vector<size_t>> bucket_indices) {
  std::vector<bool> placed(params_.size(), false);
  for (const auto& bucket : bucket_indices) {
    for (const size_t n : bucket) {
      TORCH_CHECK(n < params_.size(), "Out of range variable index specified: ", n, " of ", params_.size());
      TORCH_CHECK(!placed[n], "Reducer: parameter ", n, " is in two buckets");
      placed[n] = true;
    }
  }
  TORCH_CHECK(
      bucket_indices.empty() || std::find(placed.begin(), placed.end(), false) == placed.end(), "Reducer: parameter ",
      std::find(placed.begin(), placed.end(), false) - placed.begin(), " is in no bucket");
  torch::distributed::ReducerOptions options;
  options.group = process_group_;
  options.bucket_bytes = bucket_bytes_cap_;
  options.first_bucket_bytes = first_bucket_bytes_cap_;
  options.find_unused_parameters = find_unused_parameters_;
  options.static_graph = static_graph_;
  options.sparse = expect_sparse_gradients_;
  options.buckets = std::move(bucket_indices);
  core_ = std::make_shared<GradientReducer>(params_, numbered(params_.size(), param_names_), std::move(options));
  core_->set_sync(false);
  core_->set_at_end([this] { at_end(); });
  set_hook();
  core_->attach();
}

void Reducer::initialize_buckets(std::vector<std::vector<size_t>> bucket_indices) {
  const std::lock_guard lock(mutex_);
  build(std::move(bucket_indices));
}

void Reducer::prepare_for_backward(const std::vector<at::Tensor>&) {
  const std::lock_guard lock(mutex_);
  begun_ns_ = nanoseconds_now();
  core_->set_sync(true);
}

// At the end of an announced pass.
void Reducer::at_end() {
  for (const auto& future : std::exchange(installed_, {})) {
    future->waitAndThrow();
  }
  ++num_iterations_;
  std::fill(backward_stats_.begin(), backward_stats_.end(), nanoseconds_now() - begun_ns_);
  core_->set_sync(false);
}

void Reducer::register_comm_hook(std::unique_ptr<CommHookInterface> iface) {
  TORCH_CHECK(!comm_hook_, "register_comm_hook or register_builtin_comm_hook can only be called once.");
  TORCH_CHECK_VALUE(iface, "register_comm_hook: the hook is null");
  comm_hook_ = std::move(iface);
  set_hook();
}

void Reducer::register_builtin_comm_hook(c10d::BuiltinCommHookType comm_hook_type) {
  register_comm_hook(
      comm_hook_type == BuiltinCommHookType::ALLREDUCE
          ? std::unique_ptr<CommHookInterface>(std::make_unique<AllReduceCommHook>(process_group_))
          : std::make_unique<FP16CompressCommHook>(process_group_));
}

void Reducer::set_hook() {
  if (!comm_hook_) {
    return;
  }
  core_->set_hook([this](GradBucket& bucket) {
    return comm_hook_->runHook(bucket)->then(
        [this](c10::ivalue::Future& future) { return c10::IValue(comm_hook_->parseHookResult(future.value())); },
        c10::TensorType::get());
  });
}

c10::intrusive_ptr<c10::ivalue::Future> Reducer::run_comm_hook(GradBucket& grad_bucket) {
  return comm_hook_ ? comm_hook_->runHook(grad_bucket) : run_allreduce_hook(grad_bucket);
}

c10::intrusive_ptr<c10::ivalue::Future> Reducer::run_allreduce_hook(GradBucket& grad_bucket) {
  return AllReduceCommHook(process_group_).runHook(grad_bucket);
}

std::vector<c10d::GradBucket> Reducer::get_grad_buckets(bool return_zero_tensors) const {
  const std::lock_guard lock(mutex_);
  auto buckets = core_->grad_buckets();
  for (auto& bucket : buckets) {
    if (return_zero_tensors && bucket.getBuffer().defined()) {
      at::Tensor zeros = at::zeros_like(bucket.getBuffer());
      bucket.setBuffer(zeros);
    }
  }
  return buckets;
}

void Reducer::install_futures(const c10::List<c10::intrusive_ptr<c10::ivalue::Future>>& futs) {
  for (size_t i = 0; i < futs.size(); ++i) {
    installed_.push_back(futs.get(i));
  }
}

at::Tensor Reducer::get_local_used_map_on_device() const {
  at::Tensor used = at::zeros({static_cast<int64_t>(params_.size())}, at::kInt);
  for (size_t n = 0; n < core_->arrived().size(); ++n) {
    used.data_ptr<int32_t>()[n] = core_->arrived()[n] > 0;
  }
  return used.to(params_[0].device());
}

void Reducer::set_ddp_runtime_logging_sample_rate(int sample_rate) {
  TORCH_CHECK(
      sample_rate > 0, "DDP runtime logging sample rate should be equal or greater than 1, but got ", sample_rate);
}

void Reducer::set_static_graph() {
  const std::lock_guard lock(mutex_);
  TORCH_CHECK(
      num_iterations_ == 0,
      "set_static_graph() should be called before training loop starts and after DistributedData"
      "Parallel is constructed.");
  static_graph_ = true;
  build(core_->bucket_indices());
}

void Reducer::set_logger(std::weak_ptr<c10d::Logger> logger) {
  logger_ = std::move(logger);
}

void Reducer::remove_autograd_hooks() {
  const std::lock_guard lock(mutex_);
  core_->set_sync(false);
  core_->detach();
}

void Reducer::update_process_group(c10::intrusive_ptr<c10d::ProcessGroup> new_process_group) {
  const std::lock_guard lock(mutex_);
  process_group_ = std::move(new_process_group);
  build(core_->bucket_indices());
}

void Reducer::reset_state() {
  const std::lock_guard lock(mutex_);
  core_->set_sync(false);
  installed_.clear();
}

std::tuple<std::vector<std::vector<size_t>>, std::vector<size_t>> compute_bucket_assignment_by_size(
    const std::vector<at::Tensor>& tensors,
    const std::vector<size_t>& bucket_size,
    const std::vector<bool>& expect_sparse_gradient,
    const std::vector<int64_t>& tensor_indices,
    const std::optional<std::weak_ptr<c10d::Logger>>&) {
  TORCH_CHECK(
      expect_sparse_gradient.empty() || expect_sparse_gradient.size() == tensors.size(),
      "compute_bucket_assignment_by_size: expect_sparse_gradient must have one entry for each tensor");
  TORCH_CHECK(
      tensor_indices.empty() || tensor_indices.size() == tensors.size(),
      "compute_bucket_assignment_by_size: tensor_indices must have one entry for each tensor");
  TORCH_CHECK(!tensors.empty() && !bucket_size.empty(), "compute_bucket_assignment_by_size: no tensors, or no sizes");
  constexpr size_t no_limit = 0;
  using Kind = std::tuple<at::ScalarType, at::DeviceType, int>;
  struct Open {
    BucketAccumulator bucket;
    size_t next_limit = 0;
  };
  std::map<Kind, Open> open;
  std::vector<std::pair<std::vector<size_t>, size_t>> done;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i];
    TORCH_CHECK(!tensor.is_sparse(), "No support for sparse tensors.");
    const size_t index = tensor_indices.empty() ? i : static_cast<size_t>(tensor_indices[i]);
    if (!expect_sparse_gradient.empty() && expect_sparse_gradient.at(index)) {
      done.push_back({{index}, no_limit});
      continue;
    }
    Open& at = open[{tensor.scalar_type(), tensor.device().type(), tensor.device().index()}];
    at.bucket.indices.push_back(index);
    at.bucket.size += tensor.nbytes();
    at.bucket.size_limit = bucket_size[at.next_limit];
    if (at.bucket.size >= at.bucket.size_limit) {
      done.emplace_back(std::move(at.bucket.indices), at.bucket.size_limit);
      at.bucket = BucketAccumulator();
      at.next_limit = std::min(at.next_limit + 1, bucket_size.size() - 1);
    }
  }
  for (auto& [kind, at] : open) {
    if (!at.bucket.indices.empty()) {
      done.emplace_back(std::move(at.bucket.indices), at.bucket.size_limit);
    }
  }
  if (tensor_indices.empty()) {
    std::sort(done.begin(), done.end(), [](const auto& a, const auto& b) {
      return *std::min_element(a.first.begin(), a.first.end()) < *std::min_element(b.first.begin(), b.first.end());
    });
  }
  std::vector<std::vector<size_t>> indices;
  std::vector<size_t> limits;
  for (auto& [bucket, limit] : done) {
    indices.push_back(std::move(bucket));
    limits.push_back(limit);
  }
  return {indices, limits};
}

void verify_params_across_processes(
    const c10::intrusive_ptr<c10d::ProcessGroup>& process_group,
    const std::vector<at::Tensor>& params,
    const std::optional<std::weak_ptr<c10d::Logger>>&) {
  torch::distributed::verify_same_parameters(*process_group, params, numbered(params.size(), {}));
}

} // namespace c10d
