// Averages gradients over ranks while a backward pass makes them.
#include <csrc/distributed/ddp/gradient_reducer.h>

#include <aten/Functions.h>
#include <autograd/engine.h>
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
    : parameters_(std::move(parameters)), options_(std::move(options)) {
  TORCH_CHECK_VALUE(options_.group, "DistributedDataParallel: the process group is null");
  TORCH_CHECK_VALUE(
      !parameters_.empty(),
      "DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient.");
  verify(names);
  make_buckets();
}

GradientReducer::~GradientReducer() {
  for (auto& handle : handles_) {
    handle.remove();
  }
}

// Each rank sees the descriptions of all, so that all throw, or none.
void GradientReducer::verify(const std::vector<std::string>& names) const {
  std::string mine;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    mine += text_of(i < names.size() ? names[i] : std::to_string(i), parameters_[i]) + "\n";
  }
  auto& group = *options_.group;
  const auto device = group.getDeviceTypes().empty() ? at::Device(at::kCPU) : parameters_[0].device();
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

void GradientReducer::make_buckets() {
  places_.resize(parameters_.size());
  std::vector<int64_t> bytes;
  for (size_t n = parameters_.size(); n-- > 0;) {
    const at::Tensor& parameter = parameters_[n];
    const auto size = static_cast<int64_t>(parameter.nbytes());
    const int64_t cap = buckets_.size() <= 1 ? options_.first_bucket_bytes : options_.bucket_bytes;
    const bool fits = !buckets_.empty() && bytes.back() + size <= cap &&
        parameters_[buckets_.back().parameters[0]].scalar_type() == parameter.scalar_type() &&
        parameters_[buckets_.back().parameters[0]].device() == parameter.device();
    if (!fits) {
      buckets_.emplace_back();
      bytes.push_back(0);
    }
    buckets_.back().parameters.push_back(n);
    bytes.back() += size;
  }
  for (size_t b = 0; b < buckets_.size(); ++b) {
    Bucket& bucket = buckets_[b];
    int64_t numel = 0;
    for (const size_t n : bucket.parameters) {
      bucket.offsets.push_back(static_cast<size_t>(numel));
      numel += parameters_[n].numel();
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

void GradientReducer::on_gradient(size_t parameter) {
  if (!sync_) {
    return;
  }
  const c10::NoGradGuard no_grad;
  const int64_t pass = autograd::get_current_graph_task_id();
  if (pass != pass_) {
    begin_pass(pass);
  }
  used_[parameter] = true;
  gather(parameter);
  ready(parameter);
}

void GradientReducer::begin_pass(int64_t pass) {
  pass_ = pass;
  next_bucket_ = 0;
  communication_seconds_ = 0;
  used_.assign(parameters_.size(), false);
  for (auto& bucket : buckets_) {
    bucket.missing = bucket.parameters.size();
    bucket.work.reset();
    bucket.future.reset();
  }
  auto& engine = autograd::Engine::get_default_engine();
  engine.queue_callback([self = shared_from_this()] { self->finish_pass(); });
  autograd::queue_final_callback([self = shared_from_this()] { self->forget_pass(); });
  for (size_t n = 0; n < parameters_.size(); ++n) {
    const auto accumulator = autograd::impl::try_get_grad_accumulator(parameters_[n]);
    if (!accumulator || !autograd::current_pass_runs(accumulator.get())) {
      gather(n);
      ready(n);
    }
  }
}

// The parameter's gradient, which may be there from before, into the bucket.
void GradientReducer::gather(size_t parameter) {
  const at::Tensor& view = places_[parameter].view;
  const at::Tensor& grad = parameters_[parameter].grad();
  if (!grad.defined()) {
    view.zero_();
  } else if (!grad.is_same(view) && (grad.is_sparse() || grad.data_ptr() != view.data_ptr())) {
    view.copy_(grad.is_sparse() ? grad.to_dense() : grad);
  }
}

void GradientReducer::ready(size_t parameter) {
  Bucket& bucket = buckets_[places_[parameter].bucket];
  --bucket.missing;
  // In one order on all ranks, however their graphs differ.
  while (next_bucket_ < buckets_.size() && buckets_[next_bucket_].missing == 0) {
    launch(buckets_[next_bucket_], next_bucket_);
    ++next_bucket_;
  }
}

void GradientReducer::launch(Bucket& bucket, size_t index) {
  auto& group = *options_.group;
  if (!hook_) {
    // Divided first: the sum cannot overflow where no gradient does.
    if (group.getSize() > 1) {
      bucket.flat.div_(group.getSize());
    }
    std::vector<at::Tensor> tensors{bucket.flat};
    bucket.work = group.allreduce(tensors);
    return;
  }
  std::vector<size_t> lengths;
  std::vector<c10::IntArrayRef> sizes;
  std::vector<at::Tensor> parameters;
  for (const size_t n : bucket.parameters) {
    lengths.push_back(static_cast<size_t>(parameters_[n].numel()));
    sizes.push_back(parameters_[n].sizes());
    parameters.push_back(parameters_[n]);
  }
  c10d::GradBucket shown(index, buckets_.size(), bucket.flat, bucket.offsets, lengths, sizes, parameters);
  bucket.future = hook_(shown);
  TORCH_CHECK(bucket.future, "DistributedDataParallel: the communication hook returned no future");
}

void GradientReducer::finish_pass() {
  const c10::NoGradGuard no_grad;
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
  at::Tensor used;
  if (options_.find_unused_parameters) {
    used = at::zeros({static_cast<int64_t>(used_.size())}, at::kInt);
    for (size_t n = 0; n < used_.size(); ++n) {
      used.data_ptr<int32_t>()[n] = used_[n];
    }
    used = used.to(parameters_[0].device());
    std::vector<at::Tensor> tensors{used};
    options_.group->allreduce(tensors)->wait();
    used = used.cpu();
  }
  for (size_t n = 0; n < parameters_.size(); ++n) {
    auto& grad = parameters_[n].mutable_grad();
    // What no rank has used keeps what it had.
    if (!used.defined() || used.data_ptr<int32_t>()[n] > 0) {
      grad = places_[n].view;
    }
  }
  waiting_seconds_ = seconds_since(begin);
}

void GradientReducer::forget_pass() noexcept {
  pass_ = -1;
}

} // namespace torch::distributed
