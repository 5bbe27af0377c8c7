#include <autograd/forward/forward_grad.h>

#include <aten/Functions.h>
#include <autograd/autograd.h>
#include <autograd/autograd_meta_extras.h>
#include <autograd/forward/levels.h>
#include <autograd/variable.h>
#include <c10/core/SmallPool.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace torch::autograd {

// Note [Tangents and levels]
// A tensor holds its tangents, and a level must drop all of its tangents when it is left. So each tangent stands in two
// lists: that of its tensor, which owns it, and that of its level. One lock guards all these lists. It is taken for the
// length of a few pointers; tangents themselves, whose destructors are anybody's code, are freed outside of it.

struct ForwardGrad::Tangent {
  uint64_t level;
  at::Tensor value;
  ForwardGrad* holder;
  std::shared_ptr<forward_ad::Level> list;
  Tangent* previous = nullptr;
  Tangent* next = nullptr;
  std::unique_ptr<Tangent> lower = nullptr;

  static void* operator new(size_t bytes) {
    return c10::small_alloc(bytes);
  }
  static void operator delete(void* tangent, size_t bytes) {
    c10::small_free(tangent, bytes);
  }
};

namespace {

std::recursive_mutex& tangents_mutex() {
  static std::recursive_mutex& mutex = *new std::recursive_mutex();
  return mutex;
}

using Lock = std::lock_guard<std::recursive_mutex>;

const at::Tensor& undefined_tensor() {
  return c10::impl::GetAutogradMetaFactory()->undefined_tensor();
}

void refresh_key(c10::TensorImpl& tensor) {
  tensor._set_fw_grad(undefined_tensor(), undefined_tensor(), kAnyLevel, false);
}

} // namespace

namespace forward_ad {

// One level: who entered it, and its tangents.
class Level {
 public:
  explicit Level(std::thread::id thread) : thread(thread) {}

  void insert(ForwardGrad::Tangent& tangent) {
    tangent.next = first_;
    if (first_ != nullptr) {
      first_->previous = &tangent;
    }
    first_ = &tangent;
  }
  void erase(ForwardGrad::Tangent& tangent) {
    (tangent.previous != nullptr ? tangent.previous->next : first_) = tangent.next;
    if (tangent.next != nullptr) {
      tangent.next->previous = tangent.previous;
    }
    tangent.previous = tangent.next = nullptr;
  }
  void drop_all() {
    std::vector<std::unique_ptr<ForwardGrad::Tangent>> dropped;
    const Lock lock(tangents_mutex());
    while (first_ != nullptr) {
      ForwardGrad& holder = *first_->holder;
      dropped.push_back(holder.take(first_->level));
      if (holder.owner_ != nullptr) {
        refresh_key(*holder.owner_);
      }
    }
  }

  const std::thread::id thread;

 private:
  ForwardGrad::Tangent* first_ = nullptr;
};

namespace {

std::map<uint64_t, std::shared_ptr<Level>>& levels() {
  static auto& all = *new std::map<uint64_t, std::shared_ptr<Level>>();
  return all;
}

// The last level of this thread; levels().end() outside of all. Needs the lock.
auto last_of_thread() {
  auto place = levels().end();
  for (auto one = levels().begin(); one != levels().end(); ++one) {
    if (one->second->thread == std::this_thread::get_id()) {
      place = one;
    }
  }
  return place;
}

__thread const HiddenLevel* hidden_levels __attribute__((tls_model("initial-exec"))) = nullptr;
__thread bool dual_call_runs __attribute__((tls_model("initial-exec"))) = false;
__thread bool watching __attribute__((tls_model("initial-exec"))) = false;

} // namespace

std::atomic<int64_t> detail::live_levels{0};

uint64_t enter_dual_level() {
  const Lock lock(tangents_mutex());
  // Above all others, so that a level is always above those it is entered in.
  const uint64_t level = levels().empty() ? 0 : levels().rbegin()->first + 1;
  levels().emplace(level, std::make_shared<Level>(std::this_thread::get_id()));
  detail::live_levels.fetch_add(1, std::memory_order_relaxed);
  return level;
}

void exit_dual_level(uint64_t level) {
  std::shared_ptr<Level> left;
  {
    const Lock lock(tangents_mutex());
    const auto last = last_of_thread();
    TORCH_CHECK(
        last != levels().end() && last->first == level,
        "Exiting a forward AD level that is not the last that was created is not support. Ensure they are released in "
        "the reverse order they were created. Got level ",
        level, ", and the last of this thread is ",
        last == levels().end() ? std::string("none") : std::to_string(last->first));
    left = std::move(last->second);
    levels().erase(last);
    detail::live_levels.fetch_sub(1, std::memory_order_relaxed);
  }
  if (watching && !current_level().has_value()) {
    watching = false;
    c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::ForwardAD, false);
  }
  left->drop_all();
}

std::optional<uint64_t> current_level() {
  const Lock lock(tangents_mutex());
  const auto last = last_of_thread();
  return last == levels().end() ? std::nullopt : std::optional<uint64_t>(last->first);
}

void watch_all_tensors() {
  watching = true;
  c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::ForwardAD, true);
}

bool watches_all_tensors() {
  return watching;
}

HiddenLevel::HiddenLevel(uint64_t level) : level_(level), outer_(hidden_levels) {
  hidden_levels = this;
}

HiddenLevel::~HiddenLevel() {
  hidden_levels = outer_;
}

const HiddenLevel* HiddenLevel::innermost() {
  return hidden_levels;
}

const HiddenLevel* HiddenLevel::exchange(const HiddenLevel* innermost) {
  return std::exchange(hidden_levels, innermost);
}

bool HiddenLevel::contains(uint64_t level) {
  const HiddenLevel* hidden = hidden_levels;
  while (hidden != nullptr && hidden->level_ != level) {
    hidden = hidden->outer_;
  }
  return hidden != nullptr;
}

DualCall::DualCall(bool runs) : previous_(std::exchange(dual_call_runs, runs)) {}

DualCall::~DualCall() {
  dual_call_runs = previous_;
}

bool DualCall::is_running() {
  return dual_call_runs;
}

} // namespace forward_ad

ForwardGrad::ForwardGrad(c10::TensorImpl* owner) : owner_(owner) {}

ForwardGrad::~ForwardGrad() {
  std::unique_ptr<Tangent> dropped; // freed after the lock
  const Lock lock(tangents_mutex());
  for (Tangent* tangent = highest_.get(); tangent != nullptr; tangent = tangent->lower.get()) {
    tangent->list->erase(*tangent);
  }
  dropped = std::move(highest_);
}

const at::Tensor& ForwardGrad::value(uint64_t level) const {
  const Lock lock(tangents_mutex());
  const Tangent* tangent = highest_.get();
  while (tangent != nullptr && level != kAnyLevel && tangent->level != level) {
    tangent = tangent->lower.get();
  }
  return tangent != nullptr ? tangent->value : undefined_tensor();
}

std::optional<uint64_t> ForwardGrad::highest_visible() const {
  const Lock lock(tangents_mutex());
  for (const Tangent* tangent = highest_.get(); tangent != nullptr; tangent = tangent->lower.get()) {
    if (!forward_ad::HiddenLevel::contains(tangent->level)) {
      return tangent->level;
    }
  }
  return std::nullopt;
}

std::optional<ForwardGrad::Highest> ForwardGrad::read_highest(
    c10::ArrayRef<const ForwardGrad*> grads, c10::ArrayRef<at::Tensor*> tangents) {
  const Lock lock(tangents_mutex());
  std::optional<uint64_t> level; // none is less than any
  for (const ForwardGrad* const grad : grads) {
    level = std::max(level, grad->highest_visible());
  }
  if (!level.has_value()) {
    return std::nullopt;
  }
  Highest highest{*level, false};
  for (size_t i = 0; i < grads.size(); ++i) {
    for (const Tangent* tangent = grads[i]->highest_.get(); tangent != nullptr; tangent = tangent->lower.get()) {
      if (tangent->level == *level) {
        *tangents[i] = tangent->value;
      } else {
        highest.visible_besides |= !forward_ad::HiddenLevel::contains(tangent->level);
      }
    }
  }
  return highest;
}

std::vector<uint64_t> ForwardGrad::all_levels() const {
  std::vector<uint64_t> levels;
  const Lock lock(tangents_mutex());
  for (const Tangent* tangent = highest_.get(); tangent != nullptr; tangent = tangent->lower.get()) {
    levels.push_back(tangent->level);
  }
  return levels;
}

bool ForwardGrad::empty() const {
  const Lock lock(tangents_mutex());
  return highest_ == nullptr;
}

void ForwardGrad::set(uint64_t level, at::Tensor tangent) {
  std::unique_ptr<Tangent> dropped; // freed after the lock
  const Lock lock(tangents_mutex());
  dropped = take(level);
  const auto found = forward_ad::levels().find(level);
  TORCH_CHECK(
      found != forward_ad::levels().end(),
      "Trying to access a forward AD level with an invalid index. This index was either not created or is already "
      "deleted. Got level ",
      level, "; enter one by torch::autograd::forward_ad::enter_dual_level()");
  std::unique_ptr<Tangent>* place = &highest_;
  while (*place != nullptr && (*place)->level > level) {
    place = &(*place)->lower;
  }
  auto made = std::unique_ptr<Tangent>(new Tangent{level, std::move(tangent), this, found->second});
  made->lower = std::move(*place);
  *place = std::move(made);
  found->second->insert(**place);
}

void ForwardGrad::reset(uint64_t level) {
  std::unique_ptr<Tangent> dropped;
  const Lock lock(tangents_mutex());
  dropped = take(level);
}

std::unique_ptr<ForwardGrad::Tangent> ForwardGrad::take(uint64_t level) {
  std::unique_ptr<Tangent>* place = &highest_;
  while (*place != nullptr && (*place)->level != level) {
    place = &(*place)->lower;
  }
  std::unique_ptr<Tangent> taken = std::move(*place);
  if (taken != nullptr) {
    *place = std::move(taken->lower);
    taken->list->erase(*taken);
  }
  return taken;
}

void ForwardGrad::forget_owner() {
  const Lock lock(tangents_mutex());
  owner_ = nullptr;
}

bool forward_ad::has_tangent(const at::TensorBase& self) {
  const std::shared_ptr<ForwardGrad>& grad = impl::forward_grad(self);
  return grad != nullptr && grad->highest_visible().has_value();
}

namespace impl {

const std::shared_ptr<ForwardGrad>& forward_grad(const at::TensorBase& self) {
  static const std::shared_ptr<ForwardGrad> none;
  const AutogradMeta* meta = self.defined() ? get_autograd_meta(self) : nullptr;
  return meta != nullptr && meta->extras_ ? meta->extras_->forward_grad : none;
}

const std::shared_ptr<ForwardGrad>& materialize_forward_grad(const at::TensorBase& self) {
  AutogradMeta::Extras& extras = materialize_autograd_meta(self)->extras();
  if (extras.forward_grad == nullptr) {
    extras.forward_grad =
        std::allocate_shared<ForwardGrad>(c10::PoolAllocator<ForwardGrad>(), self.unsafeGetTensorImpl());
    extras.owns_forward_grad = true;
  }
  return extras.forward_grad;
}

void share_forward_grad(const at::TensorBase& self, std::shared_ptr<ForwardGrad> forward_grad) {
  materialize_autograd_meta(self)->extras().forward_grad = std::move(forward_grad);
  refresh_key(*self.unsafeGetTensorImpl());
}

} // namespace impl

// ---- what tensors say of their tangents ----------------------------------------------------------------------------

namespace {

void check_tangent(const at::Tensor& tangent, const at::Tensor& self, uint64_t level) {
  TORCH_CHECK(
      tangent.sizes() == self.sizes(),
      "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
      "supported. Tensor is of size ",
      self.sizes(), " while the given forward gradient is of size ", tangent.sizes(), ".");
  TORCH_CHECK(
      isDifferentiableType(self.scalar_type()),
      "Expected primal to be floating point or complex, but got: ", self.scalar_type(),
      ". Only such tensors have a tangent");
  TORCH_CHECK(
      isDifferentiableType(tangent.scalar_type()) && (self.is_complex() || !tangent.is_complex()),
      "Expected tangent to be floating point or complex", " like the primal, which is ", self.scalar_type(),
      ", but got: ", tangent.scalar_type());
  TORCH_CHECK(
      tangent.device() == self.device(), "Expected the tangent to be on the device of the primal, ", self.device(),
      ", but got one on ", tangent.device(), ". Move it there by to()");
  const std::shared_ptr<ForwardGrad>& grad_of_tangent = impl::forward_grad(tangent);
  if (grad_of_tangent != nullptr) {
    const std::optional<uint64_t> highest = grad_of_tangent->highest_visible();
    TORCH_CHECK(
        !highest.has_value() || *highest < level,
        "Setting a forward grad that itself has a forward gradient at the same level ", level,
        " is not supported, nor at a higher one: it has one at level ", highest.value_or(0),
        ". Take what unpack_dual gives");
  }
}

bool may_restride(const at::Tensor& self) {
  return self.layout() == at::kStrided && self.is_non_overlapping_and_dense();
}

// Whether each element has a place of its own, with gaps between them or not.
bool has_elements_apart(const at::Tensor& self) {
  std::vector<std::pair<int64_t, int64_t>> steps; // with how often each is taken
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) > 1) {
      steps.emplace_back(self.stride(d), self.size(d) - 1);
    }
  }
  std::sort(steps.begin(), steps.end());
  int64_t reach = 0;
  for (const auto& [stride, count] : steps) {
    if (stride <= reach) {
      return false;
    }
    reach += stride * count;
  }
  return true;
}

// A tangent is laid out as its primal, so that what holds for strides of one holds for the other: a view of the primal
// by strides has the tangent by the same strides.
at::Tensor laid_out_as(const at::Tensor& self, at::Tensor tangent) {
  if (tangent.scalar_type() != self.scalar_type()) {
    tangent = tangent.to(self.scalar_type());
  }
  // A view of the primal as other numbers has the same of the tangent.
  if (tangent.is_conj() && !self.is_conj()) {
    tangent = tangent.resolve_conj();
  }
  if (tangent.is_neg() && !self.is_neg()) {
    tangent = tangent.resolve_neg();
  }
  if (self.layout() != at::kStrided || tangent.layout() != at::kStrided) {
    return tangent;
  }
  // A batched tangent has no memory of its own to compare.
  if (tangent.has_storage() ? utils::has_same_meta(self, tangent) : tangent.strides() == self.strides()) {
    return tangent;
  }
  if (may_restride(self) && self.storage_offset() == 0 &&
      self.storage().nbytes() == static_cast<size_t>(self.numel()) * self.element_size()) {
    return tangent.new_empty_strided(self.sizes(), self.strides()).copy_(tangent);
  }
  if (!self.has_storage() || !has_elements_apart(self)) {
    return tangent;
  }
  const auto elements = static_cast<int64_t>(self.storage().nbytes() / self.element_size());
  at::Tensor view = tangent.new_zeros({elements}).as_strided(self.sizes(), self.strides(), self.storage_offset());
  view.copy_(tangent);
  return view;
}

// A tangent for `self` to write `part` into: batched if that is.
at::Tensor zeros_laid_out_as(const at::Tensor& self, const at::Tensor& part) {
  return laid_out_as(self, part.new_zeros(self.sizes(), self.options()));
}

// What `info` makes of the base, made of the tangent of the base.
at::Tensor view_of_tangent(const ViewInfo& info, const at::Tensor& self, const at::Tensor& tangent_of_base) {
  if (info.has_view_fn()) {
    return info.view_fn()(tangent_of_base);
  }
  return tangent_of_base.as_strided(self.sizes(), self.strides(), self.storage_offset());
}

} // namespace

void impl::adopt_tangents_of_base(const at::TensorBase& self) {
  const DifferentiableViewMeta* meta = get_view_autograd_meta(self);
  if (meta == nullptr || (meta->extras_ && meta->extras_->forward_grad)) {
    return;
  }
  const ViewInfo& info = meta->get_backward_view();
  const std::shared_ptr<ForwardGrad> of_base = forward_grad(info.base_);
  if (of_base == nullptr || of_base->empty()) {
    return;
  }
  const std::shared_ptr<ForwardGrad> own = materialize_forward_grad(self);
  for (const uint64_t level : of_base->all_levels()) {
    const forward_ad::HiddenLevel hidden(level);
    own->set(level, view_of_tangent(info, at::Tensor(self), of_base->value(level)));
  }
  refresh_key(*self.unsafeGetTensorImpl());
}

const at::Tensor& AutogradMeta::fw_grad(uint64_t level, const at::TensorBase& self) const {
  if (is_view_ && level != kAnyLevel && forward_ad::watches_all_tensors()) {
    impl::adopt_tangents_of_base(self);
  }
  return extras_ && extras_->forward_grad ? extras_->forward_grad->value(level) : undefined_tensor();
}

void AutogradMeta::set_fw_grad(
    const at::TensorBase& new_grad, const at::TensorBase& self_base, uint64_t level, bool is_inplace_op) {
  if (level == kAnyLevel) {
    return; // the tensor brings its dispatch key up to date
  }
  if (!new_grad.defined()) {
    if (extras_ && extras_->forward_grad) {
      extras_->forward_grad->reset(level);
    }
    return;
  }
  const at::Tensor self(self_base);
  at::Tensor tangent(new_grad);
  check_tangent(tangent, self, level);
  const forward_ad::HiddenLevel hidden(level);
  if (is_inplace_op && is_view_) {
    // What was written into a view has a tangent, so its base has.
    const ViewInfo& info = static_cast<DifferentiableViewMeta*>(this)->get_backward_view();
    if (!info.base_._fw_grad(level).defined()) {
      info.base_._set_fw_grad(zeros_laid_out_as(info.base_, tangent), level, false);
    }
    const at::Tensor view = view_of_tangent(info, self, info.base_._fw_grad(level));
    view.copy_(tangent);
    tangent = view;
  } else {
    tangent = laid_out_as(self, std::move(tangent));
  }
  if (is_inplace_op && self.has_storage() && self.storage().use_count() > 1) {
    forward_ad::watch_all_tensors();
  }
  impl::materialize_forward_grad(self)->set(level, std::move(tangent));
}

} // namespace torch::autograd
