// Random graphs against a reference: a tape of single numbers, which knows no tensors, views, nodes or threads.
#include "support.h"

#include <torch/autograd/graph.h>
#include <torch/utils/checkpoint.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

using namespace autograd_test;
using torch::autograd::Function;

namespace {

// ---- the reference -------------------------------------------------------------------------------------------------

// Each number ever computed, with its derivatives by the numbers it came from. Numbers never change.
class NumberTape {
 public:
  using Parents = std::vector<std::pair<int, double>>;

  int add(double value, Parents parents = {}) {
    numbers_.push_back({value, std::move(parents)});
    return static_cast<int>(numbers_.size()) - 1;
  }
  double value(int number) const {
    return numbers_[static_cast<size_t>(number)].value;
  }
  // The derivatives of `root` by all numbers.
  std::vector<double> backward(int root) const {
    std::vector<double> grads(numbers_.size(), 0.0);
    grads[static_cast<size_t>(root)] = 1.0;
    for (size_t i = static_cast<size_t>(root) + 1; i-- > 0;) {
      for (const auto& [parent, derivative] : numbers_[i].parents) {
        grads[static_cast<size_t>(parent)] += derivative * grads[i];
      }
    }
    return grads;
  }

 private:
  struct Number {
    double value;
    Parents parents;
  };
  std::vector<Number> numbers_;
};

// Memory holds numbers; a tensor is a list of places in it. So a view is a list of places in another's memory, and an
// in-place operator puts new numbers into places.
struct Memory {
  std::vector<int> numbers;
  bool frozen = false; // some node keeps a value from here, or a view that may not see changes exists
  bool shared = false; // there are views, or values were changed: its tensor has not the whole of a number's gradient
};

struct Traced {
  Tensor tensor;
  std::shared_ptr<Memory> memory;
  std::vector<size_t> places;
  bool changeable = true; // not a leaf that requires grad, nor a view of one

  size_t size() const {
    return places.size();
  }
  int number(size_t i) const {
    return memory->numbers[places[size() == 1 ? 0 : i]];
  }
};

// ---- nodes of our own ----------------------------------------------------------------------------------------------

// 2x; the 2 comes from passes within the backward pass, `depth` deep.
struct InnerPasses : Function<InnerPasses> {
  static Variable forward(AutogradContext* ctx, const Variable& x, int64_t depth) {
    ctx->saved_data["depth"] = depth;
    return x * 2;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const int64_t depth = ctx->saved_data["depth"].toInt();
    const torch::AutoGradMode record(true);
    const Tensor one = torch::ones({1}, doubles()).requires_grad_();
    const Tensor two = depth > 0 ? InnerPasses::apply(one, depth - 1) : one * one;
    const Tensor factor = torch::autograd::grad({two}, {one})[0];
    const torch::AutoGradMode back(false);
    return {grads[0] * factor, Variable()};
  }
};

// 2x in place.
struct DoubledInPlace : Function<DoubledInPlace> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * 2};
  }
};

// ---- the graph -----------------------------------------------------------------------------------------------------

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed), bomb_(std::make_shared<std::atomic<bool>>(false)) {
    for (int i = 0; i < 3; ++i) {
      make_leaf(/*requires_grad=*/true);
    }
    make_leaf(false);
    make_leaf(false);
  }

  void grow(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
    }
    finish();
  }

  // What is wrong; empty if nothing.
  std::string compare_grads(const variable_list& grads, const char* when) const {
    const std::vector<double> want = tape_.backward(root_number_);
    std::string wrong;
    for (size_t i = 0; i < leaves_.size(); ++i) {
      wrong += compare(grads[i], leaf_numbers_[i], want, c10::str(when, ": leaf ", i));
    }
    return wrong;
  }

  // The same for what the graph keeps in the results that have memory of their own.
  std::string compare_retained() const {
    const std::vector<double> want = tape_.backward(root_number_);
    std::string wrong;
    for (size_t i = 0; i < inner_.size(); ++i) {
      if (!inner_[i].memory->shared) {
        wrong += compare(inner_[i].tensor.grad(), inner_[i].numbers, want, c10::str("retained: result ", i));
      }
    }
    return wrong;
  }
  // Passes for one such result alone: a pass for several gives those that lead to others without the changes of hooks.
  std::string compare_chosen(size_t count) const {
    const std::vector<double> want = tape_.backward(root_number_);
    std::string wrong;
    for (size_t i = 0; i < inner_.size() && count > 0; ++i) {
      if (!inner_[i].memory->shared) {
        --count;
        const Tensor grad = grads_of({inner_[i].tensor})[0];
        wrong += compare(grad, inner_[i].numbers, want, c10::str("chosen: result ", i));
      }
    }
    return wrong;
  }

  std::string compare_value() const {
    const double got = root_.item<double>();
    const double want = tape_.value(root_number_);
    std::ostringstream wrong;
    if (!(std::abs(got - want) <= 1e-9 * (1 + std::abs(want)))) {
      wrong << "value: got " << got << ", want " << want << "\n";
    }
    return wrong.str();
  }

  variable_list leaf_tensors() const {
    variable_list list;
    for (const Traced& leaf : leaves_) {
      list.push_back(leaf.tensor);
    }
    return list;
  }
  variable_list inner_tensors() const {
    variable_list list;
    for (const Inner& inner : inner_) {
      list.push_back(inner.tensor);
    }
    return list;
  }
  variable_list grads_kept() const {
    return grads_of(leaf_tensors());
  }
  variable_list grads_of(const variable_list& tensors, bool create_graph = false) const {
    return torch::autograd::grad({root_}, tensors, {}, /*retain_graph=*/true, create_graph, /*allow_unused=*/true);
  }
  // A pass that a hook ends by an exception, if one is in its way.
  bool explode() const {
    bomb_->store(true);
    bool thrown = false;
    try {
      grads_kept();
    } catch (const std::domain_error&) {
      thrown = true;
    }
    bomb_->store(false);
    return thrown;
  }
  const Tensor& root() const {
    return root_;
  }

 private:
  struct Inner {
    Tensor tensor;
    std::shared_ptr<Memory> memory;
    std::vector<int> numbers; // before hooks changed what flows into them
  };

  static std::string compare(
      const Tensor& grad, const std::vector<int>& numbers, const std::vector<double>& want, const std::string& what) {
    std::ostringstream wrong;
    for (size_t k = 0; k < numbers.size(); ++k) {
      const double expected = want[static_cast<size_t>(numbers[k])];
      const double got = grad.defined() ? grad.select(0, static_cast<int64_t>(k)).item<double>() : 0.0;
      if (!(std::abs(got - expected) <= 1e-9 * (1 + std::abs(expected)))) {
        wrong << what << " element " << k << ": got " << got << ", want " << expected << "\n";
      }
    }
    return wrong.str();
  }

  size_t below(size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random_);
  }
  double factor() {
    return std::uniform_real_distribution<double>(-1, 1)(random_);
  }
  Traced& any() {
    return all_[below(all_.size())];
  }

  void make_leaf(bool requires_grad) {
    constexpr size_t kSize = 6;
    Traced leaf;
    leaf.memory = std::make_shared<Memory>();
    std::vector<double> data;
    std::vector<int> numbers;
    for (size_t i = 0; i < kSize; ++i) {
      data.push_back(factor());
      numbers.push_back(tape_.add(data.back()));
      leaf.places.push_back(i);
    }
    leaf.memory->numbers = numbers;
    leaf.tensor = torch::tensor(data, doubles()).set_requires_grad(requires_grad);
    leaf.changeable = !requires_grad;
    if (requires_grad) {
      leaves_.push_back(leaf);
      leaf_numbers_.push_back(numbers);
    }
    all_.push_back(leaf);
  }

  // A result in memory of its own.
  void add_result(const Tensor& tensor, std::vector<int> numbers) {
    Traced result;
    result.tensor = tensor;
    result.memory = std::make_shared<Memory>();
    for (size_t i = 0; i < numbers.size(); ++i) {
      result.places.push_back(i);
    }
    if (tensor.requires_grad()) {
      inner_.push_back({tensor, result.memory, numbers});
      if (below(4) == 0) {
        add_hook(tensor, numbers);
      }
    }
    result.memory->numbers = std::move(numbers);
    all_.push_back(std::move(result));
  }

  // A hook changes what flows on, which is to say: multiplies the derivatives by what comes before.
  void add_hook(const Tensor& tensor, std::vector<int>& numbers) {
    switch (below(3)) {
      case 0: {
        const double f = factor();
        tensor.register_hook([f](const torch::Tensor& g) { return g * f; });
        for (int& number : numbers) {
          number = tape_.add(tape_.value(number), {{number, f}});
        }
        break;
      }
      case 1: // a pass over a part of the same graph
        tensor.register_hook([part = Tensor(all_[below(leaves_.size())].tensor)](const torch::Tensor&) {
          const torch::AutoGradMode record(true);
          torch::autograd::grad({(part * part).sum()}, {part});
        });
        break;
      default:
        tensor.register_hook([bomb = bomb_](const torch::Tensor&) {
          if (bomb->load()) {
            throw std::domain_error("bomb");
          }
        });
    }
  }

  template <class Value, class Derivative>
  std::vector<int> unary(const Traced& x, Value value, Derivative derivative) {
    std::vector<int> numbers;
    for (size_t i = 0; i < x.size(); ++i) {
      const double v = tape_.value(x.number(i));
      numbers.push_back(tape_.add(value(v), {{x.number(i), derivative(v)}}));
    }
    return numbers;
  }

  // value(a, b) with derivatives da(a, b) and db(a, b), broadcast where one has a single element.
  template <class Value, class Da, class Db>
  std::vector<int> binary(const Traced& x, const Traced& y, Value value, Da da, Db db) {
    std::vector<int> numbers;
    for (size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
      const double a = tape_.value(x.number(i));
      const double b = tape_.value(y.number(i));
      numbers.push_back(tape_.add(value(a, b), {{x.number(i), da(a, b)}, {y.number(i), db(a, b)}}));
    }
    return numbers;
  }

  std::vector<int> product(const Traced& x, const Traced& y) {
    return binary(
        x, y, [](double a, double b) { return a * b; }, [](double, double b) { return b; },
        [](double a, double) { return a; });
  }
  std::vector<int> sum(const Traced& x, const Traced& y) {
    const auto one = [](double, double) { return 1.0; };
    return binary(
        x, y, [](double a, double b) { return a + b; }, one, one);
  }
  std::vector<int> sine(const Traced& x) {
    return unary(
        x, [](double v) { return std::sin(v); }, [](double v) { return std::cos(v); });
  }
  std::vector<int> scaled(const Traced& x, double f) {
    return unary(
        x, [f](double v) { return f * v; }, [f](double) { return f; });
  }
  static bool fit(const Traced& x, const Traced& y) {
    return x.size() == y.size() || x.size() == 1 || y.size() == 1;
  }

  void step() {
    const Traced x = any();
    const Traced y = any();
    switch (below(17)) {
      case 0:
        if (fit(x, y)) {
          add_result(x.tensor + y.tensor, sum(x, y));
        }
        break;
      case 1:
        if (fit(x, y)) {
          x.memory->frozen = y.memory->frozen = true;
          add_result(x.tensor * y.tensor, product(x, y));
        }
        break;
      case 2:
        x.memory->frozen = true;
        add_result(x.tensor.sin(), sine(x));
        break;
      case 3:
        add_result(
            x.tensor.tanh(),
            unary(
                x, [](double v) { return std::tanh(v); }, [](double v) { return 1 - std::tanh(v) * std::tanh(v); }));
        all_.back().memory->frozen = true;
        break;
      case 4: {
        const double f = factor();
        add_result(x.tensor * f, scaled(x, f));
        break;
      }
      case 5: {
        NumberTape::Parents parents;
        double total = 0;
        for (size_t i = 0; i < x.size(); ++i) {
          parents.emplace_back(x.number(i), 1.0);
          total += tape_.value(x.number(i));
        }
        add_result(x.tensor.sum({0}, /*keepdim=*/true), {tape_.add(total, std::move(parents))});
        break;
      }
      case 6:
        add_slice(x);
        break;
      case 7: {
        const int64_t depth = static_cast<int64_t>(below(3));
        add_result(InnerPasses::apply(x.tensor, depth), scaled(x, 2));
        break;
      }
      case 8: {
        // A checkpoint keeps its input.
        x.memory->frozen = true;
        const auto f = [](const Tensor& t) { return t * t.sin(); };
        add_result(
            torch::utils::checkpoint(f, x.tensor),
            unary(
                x, [](double v) { return v * std::sin(v); }, [](double v) { return std::sin(v) + v * std::cos(v); }));
        break;
      }
      case 9:
        add_parts(x);
        break;
      case 10:
        add_reshaped(x);
        break;
      case 11:
        if (fit(x, y)) {
          // What the node keeps is a copy, so later changes do no harm.
          const torch::autograd::SavedTensorHooksGuard guard(
              [](const Tensor& t) { return t.clone(); }, [](const Tensor& t) { return t; });
          add_result(x.tensor * y.tensor, product(x, y));
        }
        break;
      default:
        change(x, y);
    }
  }

  // A view whose sizes are changed in place, there and back.
  void add_reshaped(const Traced& x) {
    x.memory->shared = true;
    Traced view = x;
    view.tensor = x.tensor.view({-1});
    if (x.changeable && !x.memory->frozen) { // it counts as a change
      view.tensor.unsqueeze_(0);
      view.tensor.t_();
      view.tensor.squeeze_(1);
    }
    all_.push_back(std::move(view));
  }

  void add_slice(const Traced& x) {
    x.memory->shared = true;
    const size_t begin = below(x.size());
    const size_t end = begin + 1 + below(x.size() - begin);
    Traced view;
    view.tensor = x.tensor.slice(0, static_cast<int64_t>(begin), static_cast<int64_t>(end));
    view.memory = x.memory;
    view.places.assign(
        x.places.begin() + static_cast<std::ptrdiff_t>(begin), x.places.begin() + static_cast<std::ptrdiff_t>(end));
    view.changeable = x.changeable;
    all_.push_back(std::move(view));
  }

  // Several views from one operator, which may not be changed, nor may their base.
  void add_parts(const Traced& x) {
    x.memory->frozen = x.memory->shared = true;
    const std::vector<Tensor> parts = x.tensor.split(1, 0);
    const size_t k = below(parts.size());
    Traced view;
    view.tensor = parts[k];
    view.memory = x.memory;
    view.places = {x.places[k]};
    view.changeable = false;
    all_.push_back(std::move(view));
  }

  void change(const Traced& x, const Traced& y) {
    const bool y_fits = (y.size() == x.size() || y.size() == 1) && y.memory != x.memory;
    if (!x.changeable || x.memory->frozen) {
      return;
    }
    x.memory->shared = true;
    Tensor target = x.tensor;
    std::vector<int> numbers;
    switch (below(6)) {
      case 0: {
        const double f = factor();
        target.mul_(f);
        numbers = scaled(x, f);
        break;
      }
      case 1:
        target.sin_();
        numbers = sine(x);
        break;
      case 4:
        DoubledInPlace::apply(target);
        numbers = scaled(x, 2);
        break;
      case 2:
        if (!y_fits) {
          return;
        }
        target.add_(y.tensor);
        numbers = sum(x, y);
        break;
      case 3:
        if (!y_fits) {
          return;
        }
        y.memory->frozen = true;
        target.mul_(y.tensor);
        numbers = product(x, y);
        break;
      default:
        if (!y_fits) {
          return;
        }
        target.copy_(y.tensor);
        for (size_t i = 0; i < x.size(); ++i) {
          numbers.push_back(y.number(i));
        }
    }
    for (size_t i = 0; i < x.size(); ++i) {
      x.memory->numbers[x.places[i]] = numbers[i];
    }
  }

  void finish() {
    NumberTape::Parents parents;
    double total = 0;
    root_ = leaves_[0].tensor.sum() * 0;
    for (const Traced& x : all_) {
      root_ = root_ + x.tensor.sum();
      for (size_t i = 0; i < x.size(); ++i) {
        parents.emplace_back(x.number(i), 1.0);
        total += tape_.value(x.number(i));
      }
    }
    root_number_ = tape_.add(total, std::move(parents));
  }

  std::mt19937_64 random_;
  NumberTape tape_;
  std::vector<Traced> all_;
  std::vector<Traced> leaves_;
  std::vector<std::vector<int>> leaf_numbers_;
  std::vector<Inner> inner_;
  std::shared_ptr<std::atomic<bool>> bomb_;
  Tensor root_;
  int root_number_ = -1;
};

// Passes of several threads at once.
std::string walk_on_threads(const RandomGraph& graph, int threads) {
  std::string wrong;
  std::mutex mutex;
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i) {
    team.emplace_back([&] {
      std::string mine;
      try {
        mine = graph.compare_grads(graph.grads_kept(), "on a thread");
      } catch (const std::exception& e) {
        mine = e.what();
      }
      const std::lock_guard<std::mutex> lock(mutex);
      wrong += mine;
    });
  }
  for (std::thread& thread : team) {
    thread.join();
  }
  return wrong;
}

// The pass that frees the graph, watched by all kinds of hooks.
std::string accumulate(const RandomGraph& graph) {
  const variable_list leaves = graph.leaf_tensors();
  variable_list together;
  int calls = 0;
  size_t accumulated = 0;
  torch::autograd::graph::register_multi_grad_hook(leaves, [&](const variable_list& grads) {
    // Hooks run passes of their own over single leaves.
    if (std::all_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); })) {
      ++calls;
      together = grads;
    }
  });
  for (const Tensor& leaf : leaves) {
    torch::autograd::graph::register_post_accumulate_grad_hook(
        leaf, [&](const Tensor& t) { accumulated += t.grad().defined() ? 1 : 0; });
  }
  for (const Tensor& tensor : graph.inner_tensors()) {
    tensor.retain_grad();
  }
  graph.root().backward();

  variable_list grads;
  for (const Tensor& leaf : leaves) {
    grads.push_back(leaf.grad());
  }
  std::string wrong = graph.compare_grads(grads, "accumulated");
  wrong += graph.compare_retained();
  wrong +=
      calls == 1 ? graph.compare_grads(together, "at the hook of all leaves") : "the hook of all leaves did not run";
  wrong += accumulated == leaves.size() ? "" : "hooks after accumulation did not run";
  return wrong;
}

// One graph: built, walked by several threads at once, blown up, walked again, and freed. Says what went wrong.
std::string try_graph(uint64_t seed, int steps, int threads) {
  std::string wrong;
  try {
    RandomGraph graph(seed);
    graph.grow(steps);
    wrong += graph.compare_value();
    wrong += walk_on_threads(graph, threads);
    graph.explode();
    wrong += graph.compare_grads(graph.grads_kept(), "after an exception");
    wrong += graph.compare_grads(graph.grads_of(graph.leaf_tensors(), /*create_graph=*/true), "recorded");
    wrong += graph.compare_chosen(4);
    wrong += accumulate(graph);
  } catch (const std::exception& e) {
    wrong += e.what();
  }
  return wrong.empty() ? wrong : "seed " + std::to_string(seed) + ", " + std::to_string(steps) + " steps\n" + wrong;
}

} // namespace

TEST_CASE("random graphs give the gradients of a tape of numbers", "[autograd][random]") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CHECK(try_graph(seed, 10 + static_cast<int>(seed), seed % 4 == 0 ? 2 : 0) == "");
  }
}

TEST_CASE("a hook that throws ends passes over a random graph", "[autograd][random]") {
  int thrown = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomGraph graph(seed);
    graph.grow(60);
    thrown += graph.explode() ? 1 : 0;
  }
  CHECK(thrown > 10);
}

// Other graphs with another --rng-seed.
TEST_CASE("many random graphs, on several threads", "[autograd][random][slow]") {
  const uint64_t first = uint64_t{Catch::rngSeed()} * 10000;
  std::mutex mutex;
  std::string wrong;
  std::vector<std::thread> team;
  for (uint64_t worker = 0; worker < 4; ++worker) {
    team.emplace_back([&, worker] {
      for (uint64_t i = 0; i < 500; ++i) {
        const uint64_t seed = first + worker * 1000 + i;
        const std::string mine = try_graph(seed, 20 + static_cast<int>(seed % 150), static_cast<int>(seed % 3));
        const std::lock_guard<std::mutex> lock(mutex);
        wrong += mine;
      }
    });
  }
  for (std::thread& thread : team) {
    thread.join();
  }
  CHECK(wrong == "");
}
