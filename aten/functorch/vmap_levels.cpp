#include <aten/functorch/vmap_levels.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace at::functorch {

namespace {

struct Levels {
  std::vector<VmapLevelPtr> all; // outermost first
  size_t visible = 0;
  std::vector<VmapLevelPtr> hidden; // never entered
};

constexpr int64_t kFirstHiddenLevel = int64_t{1} << 32;

Levels& levels() {
  static thread_local const auto levels = std::make_unique<Levels>();
  return *levels;
}

// Operators that draw random numbers have kernels for this key, which know of the levels.
void set_vmap_mode(bool on) {
  c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::FuncTorchVmapMode, on);
}

} // namespace

RandomnessType parse_randomness(std::string_view word) {
  if (word == "error") {
    return RandomnessType::Error;
  }
  if (word == "same") {
    return RandomnessType::Same;
  }
  TORCH_CHECK(
      word == "different", "Only allowed values for randomness are 'error', 'different', or 'same'. Got ", word);
  return RandomnessType::Different;
}

VmapGuard::VmapGuard(int64_t batch_size, RandomnessType randomness) {
  Levels& here = levels();
  level_ = c10::make_intrusive<VmapLevel>(static_cast<int64_t>(here.all.size()) + 1, batch_size, randomness);
  here.all.push_back(level_);
  here.visible = here.all.size();
  set_vmap_mode(true);
}

VmapGuard::~VmapGuard() {
  Levels& here = levels();
  level_->is_active = false;
  here.all.pop_back();
  here.visible = here.all.size();
  set_vmap_mode(here.visible != 0);
}

HiddenVmapLevel::HiddenVmapLevel(int64_t batch_size)
    : level_(c10::make_intrusive<VmapLevel>(
          kFirstHiddenLevel + static_cast<int64_t>(levels().hidden.size()), batch_size, RandomnessType::Error)) {
  levels().hidden.push_back(level_);
}

HiddenVmapLevel::~HiddenVmapLevel() {
  level_->is_active = false;
  levels().hidden.pop_back();
}

VmapLevelPtr current_vmap_level() {
  const Levels& here = levels();
  return here.visible == 0 ? VmapLevelPtr() : here.all[here.visible - 1];
}

VmapLevelPtr find_vmap_level(int64_t number) {
  if (number < 1) {
    return {};
  }
  const bool is_hidden = number >= kFirstHiddenLevel;
  const std::vector<VmapLevelPtr>& all = is_hidden ? levels().hidden : levels().all;
  const auto place = static_cast<size_t>(number - (is_hidden ? kFirstHiddenLevel : 1));
  return place < all.size() ? all[place] : VmapLevelPtr();
}

int64_t vmap_depth() {
  return static_cast<int64_t>(levels().all.size());
}

LevelsBelowGuard::LevelsBelowGuard(const VmapLevel& level)
    : visible_before_(levels().visible),
      mode_before_(c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchVmapMode)) {
  Levels& here = levels();
  here.visible = std::min(here.visible, static_cast<size_t>(level.number - 1));
  set_vmap_mode(here.visible != 0);
}

LevelsBelowGuard::~LevelsBelowGuard() {
  levels().visible = visible_before_;
  set_vmap_mode(mode_before_);
}

} // namespace at::functorch
