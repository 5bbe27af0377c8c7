// Values of the interpreter that hold each other, generators, views without end, and backward passes inside of each
// other.
#include <aten/core/weak_ivalue.h>

#include <sstream>

#include "test/fuzz/memory_limit.h"
#include "test/fuzz/modules/draw.h"

namespace fuzz::modules {
namespace {

using c10::IValue;
using torch::Tensor;

/// Values of which some hold others of them, or themselves. Cycles are cut in the end, as nobody else would free them.
class Values {
 public:
  explicit Values(Random& r) {
    for (int64_t n = r.between(2, 8); n > 0; --n) {
      add(r);
    }
    for (int64_t links = r.between(0, 8); links > 0; --links) {
      link(r);
    }
  }
  Values(const Values&) = delete;
  ~Values() {
    for (const IValue& value : values_) {
      if (value.isList()) {
        value.toList().clear();
      } else if (value.isGenericDict()) {
        value.toGenericDict().clear();
      }
    }
  }

  const IValue& any(Random& r) const {
    return values_[r.below(values_.size())];
  }

 private:
  void add(Random& r) {
    switch (r.below(6)) {
      case 0:
        values_.emplace_back(r.between(-3, 3));
        break;
      case 1:
        values_.emplace_back(r.chance(90) ? IValue(torch::ones({2})) : IValue(Tensor()));
        break;
      case 2:
        values_.emplace_back(std::string("text"));
        break;
      case 3:
        values_.emplace_back(c10::impl::GenericList(c10::AnyType::get()));
        break;
      case 4:
        values_.emplace_back(c10::impl::GenericDict(c10::StringType::get(), c10::AnyType::get()));
        break;
      default: {
        std::vector<IValue> elements;
        for (int64_t n = values_.empty() ? 0 : r.between(0, 3); n > 0; --n) {
          elements.push_back(any(r));
        }
        values_.emplace_back(c10::ivalue::Tuple::create(std::move(elements)));
      }
    }
  }
  void link(Random& r) {
    const IValue& holder = any(r);
    if (holder.isList()) {
      holder.toList().push_back(any(r));
    } else if (holder.isGenericDict()) {
      holder.toGenericDict().insert_or_assign(std::string(1, static_cast<char>('a' + r.below(3))), any(r));
    }
  }

  std::vector<IValue> values_;
};

/// The copy's own cycles are cut as well.
void copy(const IValue& value) {
  const IValue copied = value.deepcopy();
  std::vector<IValue> containers;
  copied.visit([&](const IValue& inside) {
    if (inside.isList() || inside.isGenericDict()) {
      containers.push_back(inside);
    }
    return containers.size() > 1000;
  });
  for (const IValue& container : containers) {
    if (container.isList()) {
      container.toList().clear();
    } else {
      container.toGenericDict().clear();
    }
  }
}

void use_values(Random& r) {
  const Values values(r);
  const IValue &one = values.any(r), &other = values.any(r);
  std::ostringstream out;
  switch (r.below(9)) {
    case 0:
      out << one;
      break;
    case 1:
      one.repr(out, [](std::ostream&, const IValue&) { return false; });
      break;
    case 2:
      copy(one);
      break;
    case 3:
      (void)one.overlaps(other);
      break;
    case 4:
      (void)(one == other);
      break;
    case 5:
      (void)IValue::hash(one);
      break;
    case 6:
      (void)torch::pickle_save(one);
      break;
    case 7: {
      const c10::WeakIValue weak(one);
      (void)(weak.use_count() + weak.weak_use_count());
      (void)weak.lock();
      break;
    }
    default:
      (void)(one.isAliasOf(other) || one.is(other));
  }
}

void use_generator(Random& r) {
  at::Generator generator = r.chance(70) ? at::Generator() : at::detail::createCPUGenerator();
  const at::Generator other = flag(r) ? at::Generator() : at::detail::createCPUGenerator();
  switch (r.below(9)) {
    case 0:
      generator.seed();
      break;
    case 1:
      generator.set_current_seed(static_cast<uint64_t>(odd_integer(r)));
      break;
    case 2:
      (void)generator.clone();
      break;
    case 3:
      generator.set_state(other.get_state());
      break;
    case 4:
      generator.graphsafe_set_state(other);
      break;
    case 5:
      generator.set_offset(static_cast<uint64_t>(odd_integer(r)));
      break;
    case 6:
      (void)generator.device();
      break;
    case 7:
      (void)generator.mutex();
      break;
    default:
      (void)at::normal(0.0, 1.0, {size(r)}, generator);
  }
}

/// Many views, and kernels whose working memory is as long as a dimension that costs no memory itself.
void use_wide_view(Random& r) {
  constexpr int64_t kLong[] = {int64_t{1} << 34, int64_t{1} << 40, int64_t{1} << 50, int64_t{1} << 61, INT64_MAX};
  const int64_t length = r.pick(kLong);
  // Few parts, or more than there is memory for: what lies between would only take long.
  constexpr int64_t kParts[] = {-1, 0, 1, 3, 1000, int64_t{1} << 40, INT64_MAX};
  const Tensor wide = torch::ones({1}).expand({length});
  if (!kCanLimitMemory) {
    return;
  }
  const MemoryLimit limit(size_t{256} << 20);
  switch (r.below(7)) {
    case 0:
      (void)wide.unbind();
      break;
    case 1:
      (void)wide.split(r.between(1, 4));
      break;
    case 2:
      (void)wide.chunk(r.pick(kParts));
      break;
    case 3:
      (void)wide.tensor_split(r.pick(kParts));
      break;
    case 4:
      (void)at::kthvalue(wide, 1);
      break;
    case 5:
      (void)at::median(wide);
      break;
    default:
      (void)at::sort(wide);
  }
}

struct Nested : torch::autograd::Function<Nested> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, int64_t depth) {
    context->saved_data["depth"] = depth;
    return x * 2;
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    const int64_t depth = context->saved_data["depth"].toInt();
    if (depth > 0) {
      const at::AutoGradMode recording(true);
      Nested::apply(torch::ones({1}, torch::requires_grad()), depth - 1).sum().backward();
    }
    return {grads[0] * 2, Tensor()};
  }
};

void nest_passes(Random& r) {
  const int64_t depth =
      r.chance(90) ? r.between(0, 130) : r.between(1000, 20000); // the latter need more stacks than there is memory for
  Nested::apply(torch::ones({1}, torch::requires_grad()), depth).sum().backward();
}

} // namespace

void add_values(std::vector<Case>& cases) {
  cases.push_back({"values", use_values});
  cases.push_back({"generator", use_generator});
  cases.push_back({"wide_view", use_wide_view});
  cases.push_back({"nested_passes", nest_passes});
}

} // namespace fuzz::modules
