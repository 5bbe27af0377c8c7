// PowerSGD: gradients sent as products of thin matrices.
#include <csrc/distributed/ddp/power_sgd.h>

#include <aten/Functions.h>
#include <aten/core/random.h>
#include <aten/core/jit_type.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::distributed {

namespace {

// Makes the columns of each matrix of a batch orthogonal and of length one, in place.
void gram_schmidt(const at::Tensor& matrices, double epsilon) {
  const int64_t columns = matrices.size(2);
  for (int64_t i = 0; i < columns; ++i) {
    auto column = matrices.narrow(2, i, 1);
    column.div_(at::linalg_vector_norm(column, 2, {1}, /*keepdim=*/true) + epsilon);
    if (i + 1 < columns) {
      auto rest = matrices.narrow(2, i + 1, columns - i - 1);
      rest.sub_((column * rest).sum({1}, /*keepdim=*/true) * column);
    }
  }
}

void orthogonalize(const at::Tensor& matrices, double epsilon) {
  if (matrices.size(2) <= 2 || matrices.scalar_type() == at::kHalf || matrices.scalar_type() == at::kBFloat16) {
    gram_schmidt(matrices, epsilon);
  } else {
    matrices.copy_(std::get<0>(at::linalg_qr(matrices)));
  }
}

int64_t rank_of(const at::Tensor& matrix, int64_t wanted) {
  return std::min({matrix.size(-2), matrix.size(-1), wanted});
}

// As numpy.random.RandomState.randint(1000000000).
uint64_t draw_seed(std::mt19937& random) {
  uint32_t value;
  do {
    value = static_cast<uint32_t>(random()) & 0x3fffffffu;
  } while (value >= 1000000000u);
  return value;
}

} // namespace

PowerSGDHook::PowerSGDHook(const c10::intrusive_ptr<c10d::ProcessGroup>& group, PowerSGDOptions options)
    : CppCommHookInterface(group), options_(options), random_(options.random_seed()) {
  TORCH_CHECK_VALUE(group, "PowerSGD: the process group is null");
  TORCH_CHECK_VALUE(
      options_.matrix_approximation_rank() > 0, "PowerSGD: matrix_approximation_rank must be positive, but got ",
      options_.matrix_approximation_rank());
}

void PowerSGDHook::sum(const at::Tensor& tensor) {
  std::vector<at::Tensor> tensors{tensor};
  state_->allreduce(tensors)->wait();
}

c10::intrusive_ptr<c10::ivalue::Future> PowerSGDHook::runHook(c10d::GradBucket& bucket) {
  const c10::NoGradGuard no_grad;
  const at::Tensor buffer = bucket.getBuffer();
  const size_t index = bucket.getIndex();
  const bool compresses = iteration_ >= options_.start_powerSGD_iter();
  if (bucket.isLast()) {
    ++iteration_;
  }
  if (!compresses) {
    buffer.div_(state_->getSize());
    std::vector<at::Tensor> tensors{buffer};
    return state_->allreduce(tensors)->getFuture();
  }
  at::Tensor before;
  if (options_.use_error_feedback()) {
    auto& error = errors_[index];
    if (error.defined()) {
      buffer.add_(error);
    }
    before = buffer.clone();
  }
  std::vector<at::Tensor> whole;
  std::vector<at::Tensor> matrices;
  for (const auto& gradient : bucket.getGradients()) {
    const int64_t rows = gradient.dim() > 0 ? gradient.size(0) : 1;
    const int64_t columns = rows > 0 ? gradient.numel() / rows : 0;
    const auto matrix = gradient.reshape({rows, columns});
    const int64_t thin = (rows + columns) * rank_of(matrix, options_.matrix_approximation_rank());
    const bool worth =
        static_cast<double>(thin) * options_.min_compression_rate() < static_cast<double>(matrix.numel());
    (worth ? matrices : whole).push_back(worth ? matrix : gradient);
    numbers_ += matrix.numel();
    sent_ += worth ? thin : matrix.numel();
  }
  auto groups = group_by_shape(matrices);
  begin_q(groups, lay_out(index, groups, buffer));
  for (auto& group : groups) {
    at::bmm_out(group.p, group.matrices, group.q);
  }
  average_whole(whole);
  average_compressed(index, groups);
  if (options_.use_error_feedback()) {
    errors_[index] = before.sub_(buffer);
  }
  if (!options_.warm_start()) {
    ps_.clear();
    qs_.clear();
  }
  auto done = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
  done->markCompleted(buffer);
  return done;
}

std::vector<PowerSGDHook::Group> PowerSGDHook::group_by_shape(const std::vector<at::Tensor>& matrices) const {
  std::vector<Group> shapes;
  for (const auto& matrix : matrices) {
    const auto same = std::find_if(
        shapes.begin(), shapes.end(), [&](const Group& group) { return group.parts[0].sizes() == matrix.sizes(); });
    if (same == shapes.end()) {
      shapes.emplace_back().parts.push_back(matrix);
    } else {
      same->parts.push_back(matrix);
    }
  }
  std::vector<Group> groups;
  for (const auto& shape : shapes) {
    if (options_.batch_tensors_with_same_shape()) {
      auto& group = groups.emplace_back(shape);
      group.matrices = shape.parts.size() == 1 ? shape.parts[0].unsqueeze(0) : at::stack(shape.parts);
      continue;
    }
    for (const auto& part : shape.parts) {
      auto& group = groups.emplace_back();
      group.parts = {part};
      group.matrices = part.unsqueeze(0);
    }
  }
  return groups;
}

// Gives the groups their parts of the bucket's P and Q, which are sent as one each. Whether Q is that of an earlier
// step.
bool PowerSGDHook::lay_out(size_t bucket, std::vector<Group>& groups, const at::Tensor& like) {
  const auto rank = [&](const Group& group) { return rank_of(group.matrices, options_.matrix_approximation_rank()); };
  int64_t p_size = 0;
  int64_t q_size = 0;
  for (const auto& group : groups) {
    p_size += group.matrices.size(0) * group.matrices.size(1) * rank(group);
    q_size += group.matrices.size(0) * group.matrices.size(2) * rank(group);
  }
  at::Tensor& p = ps_[bucket];
  at::Tensor& q = qs_[bucket];
  const bool is_warm = options_.warm_start() && q.defined() && q.numel() == q_size;
  if (!is_warm) {
    p = at::empty({p_size}, like.options());
    q = at::empty({q_size}, like.options());
  }
  int64_t p_at = 0;
  int64_t q_at = 0;
  for (auto& group : groups) {
    const auto sizes = group.matrices.sizes();
    const auto part = [&](const at::Tensor& all, int64_t& at, int64_t rows) {
      const int64_t numel = sizes[0] * rows * rank(group);
      at += numel;
      return all.narrow(0, at - numel, numel).view({sizes[0], rows, rank(group)});
    };
    group.p = part(p, p_at, sizes[1]);
    group.q = part(q, q_at, sizes[2]);
  }
  return is_warm;
}

void PowerSGDHook::begin_q(std::vector<Group>& groups, bool is_warm) {
  if (!is_warm) {
    // The same on all ranks: they have drawn as often.
    auto generator = at::detail::createCPUGenerator(draw_seed(random_));
    for (auto& group : groups) {
      group.q.copy_(at::randn(group.q.sizes(), generator, group.q.options().device(at::kCPU)));
    }
  }
  for (auto& group : groups) {
    orthogonalize(group.q, options_.orthogonalization_epsilon());
  }
}

void PowerSGDHook::average_whole(const std::vector<at::Tensor>& tensors) {
  if (tensors.empty()) {
    return;
  }
  std::vector<at::Tensor> flat;
  for (const auto& tensor : tensors) {
    flat.push_back(tensor.reshape({-1}));
  }
  const auto all = at::cat(flat);
  sum(all);
  all.div_(state_->getSize());
  int64_t at = 0;
  for (const auto& tensor : tensors) {
    tensor.copy_(all.narrow(0, at, tensor.numel()).view(tensor.sizes()));
    at += tensor.numel();
  }
}

void PowerSGDHook::average_compressed(size_t bucket, std::vector<Group>& groups) {
  if (groups.empty()) {
    return;
  }
  sum(ps_[bucket]);
  for (auto& group : groups) {
    orthogonalize(group.p, options_.orthogonalization_epsilon());
    at::bmm_out(group.q, group.matrices.transpose(1, 2), group.p);
  }
  sum(qs_[bucket]);
  qs_[bucket].div_(state_->getSize());
  for (auto& group : groups) {
    const auto result = at::bmm(group.p, group.q.transpose(1, 2));
    for (size_t i = 0; i < group.parts.size(); ++i) {
      group.parts[i].copy_(result[static_cast<int64_t>(i)]);
    }
  }
}

} // namespace torch::distributed
