#include <csrc/capture/dynamic_export.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace torch::capture {

namespace {

using c10::IValue;

// A run at the greatest size that the caller allows is worth this many elements of inputs.
constexpr int64_t kMaxElementsTried = int64_t(1) << 22;
// Between the sizes that are tried: coincidences with other numbers in the code are rare.
constexpr int64_t kSteps[] = {3, 7, 5, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59};

/// The tensor at other sizes: its rows again and again, so that values stay what they may be (indices, masks).
at::Tensor resized(const at::Tensor& tensor, const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  const c10::NoGradGuard no_grad;
  at::Tensor made = tensor.detach();
  for (const auto& [dim, size] : sizes) {
    const at::Tensor rows =
        at::arange(size, at::TensorOptions(c10::kLong).device(tensor.device())).remainder(tensor.size(dim));
    made = made.index_select(dim, rows);
  }
  // With dimensions in the same order in memory.
  std::vector<int64_t> order(static_cast<size_t>(tensor.dim()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(
      order.begin(), order.end(), [&](int64_t a, int64_t b) { return tensor.stride(a) > tensor.stride(b); });
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  made = made.permute(order).contiguous().permute(back);
  return made.set_requires_grad(tensor.requires_grad());
}

/// How sizes for further runs are found.
enum class Choice : uint8_t {
  Steps, // some more
  Multiples // so that what divides the size goes on dividing it
};

class DynamicTracer {
 public:
  DynamicTracer(const Trace& first, const std::vector<WantedSize>& wanted, const Tracer& tracer)
      : first_(first), wanted_(wanted), tracer_(tracer) {
    for (const WantedSize& size : wanted) {
      sizes_.push_back(first.inputs[size.input].toTensor().size(size.dim));
    }
  }

  std::shared_ptr<fx::Graph> run() {
    std::string why;
    for (const bool tie_all : {false, true}) {
      for (const Choice choice : {Choice::Steps, Choice::Multiples}) {
        untie(tie_all);
        if (const auto graph = attempt(choice)) {
          return graph;
        }
        why = why.empty() ? why_ : why;
      }
    }
    TORCH_CHECK(
        false, "export_: ", wanted_.size() == 1 ? wanted_[0].name : names_of_all(), " cannot be dynamic: ", why);
  }

 private:
  std::string names_of_all() const {
    std::string names;
    for (const WantedSize& size : wanted_) {
      names += (names.empty() ? "" : ", ") + size.name;
    }
    return names;
  }

  // --- which sizes go together

  void untie(bool tie_all) {
    groups_.resize(wanted_.size());
    for (size_t i = 0; i < groups_.size(); ++i) {
      groups_[i] = i;
      for (size_t j = 0; tie_all && j < i; ++j) {
        if (sizes_[j] == sizes_[i]) {
          groups_[i] = groups_[j];
          break;
        }
      }
    }
  }

  /// Ties sizes that the operator which threw met, and which were equal in the first run. Gives whether there were
  /// some.
  bool tie_by(const Trace& failed, const std::vector<int64_t>& tried) {
    const auto is_met = [&](size_t i) {
      return std::find(failed.failed_sizes.begin(), failed.failed_sizes.end(), tried[i]) != failed.failed_sizes.end();
    };
    for (size_t i = 0; i < groups_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (groups_[i] != groups_[j] && sizes_[i] == sizes_[j] && is_met(i) && is_met(j)) {
          const auto [root, other] = std::minmax(groups_[i], groups_[j]);
          std::replace(groups_.begin(), groups_.end(), size_t(other), size_t(root));
          return true;
        }
      }
    }
    return false;
  }

  // --- sizes to be tried

  bool is_allowed(size_t group, int64_t size) const {
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i] == group && (size < wanted_[i].min.value_or(2) || (wanted_[i].max && size > *wanted_[i].max))) {
        return false;
      }
    }
    return size >= 2;
  }

  /// A size for each wanted one in the further run `round`; empty where there are no such.
  std::vector<int64_t> choose(Choice choice, int64_t round) const {
    std::vector<int64_t> chosen(groups_.size());
    std::vector<int64_t> used = sizes_;
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i] != i) {
        chosen[i] = chosen[groups_[i]];
        continue;
      }
      int64_t found = 0;
      for (int64_t step = 0; step < 64 && found == 0; ++step) {
        const int64_t at = (round + 2 * static_cast<int64_t>(i) + step);
        const int64_t larger = choice == Choice::Multiples
            ? sizes_[i] * (2 + at)
            : sizes_[i] + kSteps[at % int64_t(std::size(kSteps))] + step / 16 * 59;
        const int64_t smaller = choice == Choice::Multiples ? 0 : sizes_[i] - 1 - step;
        for (const int64_t candidate : {larger, smaller}) {
          const bool is_new = std::find(used.begin(), used.end(), candidate) == used.end();
          if (found == 0 && is_new && is_allowed(groups_[i], candidate)) {
            found = candidate;
          }
        }
      }
      if (found == 0) {
        return {};
      }
      used.push_back(found);
      chosen[i] = found;
    }
    return chosen;
  }

  Trace run_at(const std::vector<int64_t>& sizes) {
    std::vector<IValue> inputs = first_.inputs;
    for (size_t input = 0; input < inputs.size(); ++input) {
      std::vector<std::pair<int64_t, int64_t>> changes;
      for (size_t i = 0; i < wanted_.size(); ++i) {
        if (wanted_[i].input == input && sizes[i] != sizes_[i]) {
          changes.emplace_back(wanted_[i].dim, sizes[i]);
        }
      }
      if (!changes.empty()) {
        inputs[input] = resized(inputs[input].toTensor(), changes);
      }
    }
    return tracer_(inputs);
  }

  std::string show(const std::vector<int64_t>& sizes) const {
    std::string text;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", wanted_[i].name, sizes[i]);
    }
    return text;
  }

  // --- runs

  /// The graph, or empty: then why_ says what stands against it.
  std::shared_ptr<fx::Graph> attempt(Choice choice) {
    std::vector<Trace> traces;
    for (int64_t round = 0; round < 2;) {
      const std::vector<int64_t> sizes = choose(choice, round);
      if (sizes.empty()) {
        why_ = "no other size lies between its least and its greatest";
        if (round == 0) {
          return nullptr;
        }
        break;
      }
      Trace trace = run_at(sizes);
      if (!trace.graph) {
        why_ = describe(trace, sizes);
        if (!tie_by(trace, sizes)) {
          return nullptr;
        }
        traces.clear();
        round = 0;
        continue;
      }
      traces.push_back(std::move(trace));
      ++round;
    }
    return confirm(traces);
  }

  std::string describe(const Trace& trace, const std::vector<int64_t>& sizes) const {
    return fmt::format(
        "for {} {}: {}", show(sizes),
        trace.failed_operator.empty() ? std::string("the code throws") : trace.failed_operator + " throws",
        trace.error);
  }

  /// Runs at the ends of the ranges too.
  std::shared_ptr<fx::Graph> confirm(std::vector<Trace>& traces) {
    std::vector<int64_t> least(sizes_.size()), greatest = sizes_;
    int64_t elements = 1;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      least[i] = wanted_[i].min.value_or(2);
      greatest[i] = wanted_[i].max.value_or(sizes_[i]);
      elements = std::max(elements, elements_of(wanted_[i].input, wanted_[i].dim, greatest[i]));
    }
    least_ = least;
    tie(least);
    tie(greatest);
    std::shared_ptr<fx::Graph> graph = unified(traces);
    for (const auto* sizes : {&least, &greatest}) {
      if (!graph || *sizes == sizes_ || (sizes == &greatest && elements > kMaxElementsTried)) {
        continue;
      }
      Trace trace = run_at(*sizes);
      if (trace.graph) { // what throws here throws when the program runs
        traces.push_back(std::move(trace));
        graph = unified(traces);
      }
    }
    return graph ? with_ones(traces, graph) : nullptr;
  }

  int64_t elements_of(size_t input, int64_t dim, int64_t size) const {
    const at::Tensor& tensor = first_.inputs[input].toTensor();
    const int64_t others = tensor.numel() / tensor.size(dim);
    int64_t elements = 0;
    return __builtin_mul_overflow(others, size, &elements) ? INT64_MAX : elements;
  }

  /// Sizes of one group become the first one's.
  void tie(std::vector<int64_t>& sizes) const {
    for (size_t i = 0; i < sizes.size(); ++i) {
      sizes[i] = sizes[groups_[i]];
    }
  }

  /// Where no least size is given, 1 is taken if the code does the same for it.
  std::shared_ptr<fx::Graph> with_ones(std::vector<Trace>& traces, std::shared_ptr<fx::Graph> graph) {
    for (size_t group = 0; group < groups_.size(); ++group) {
      std::vector<int64_t> sizes = sizes_;
      bool is_open = groups_[group] == group;
      for (size_t i = 0; i < groups_.size(); ++i) {
        if (groups_[i] == group) {
          sizes[i] = 1;
          is_open = is_open && !wanted_[i].min;
        }
      }
      Trace trace = is_open ? run_at(sizes) : Trace();
      if (!trace.graph) {
        continue;
      }
      traces.push_back(std::move(trace));
      const std::vector<int64_t> least = least_;
      set_least(group, 1);
      if (const auto wider = unified(traces)) {
        graph = wider;
      } else {
        least_ = least;
        traces.pop_back();
      }
    }
    why_.clear();
    return graph;
  }

  void set_least(size_t group, int64_t size) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      least_[i] = groups_[i] == group ? size : least_[i];
    }
  }

  std::shared_ptr<fx::Graph> unified(const std::vector<Trace>& traces) {
    std::vector<const fx::Graph*> graphs{first_.graph.get()};
    for (const Trace& trace : traces) {
      graphs.push_back(trace.graph.get());
      why_ = difference_of_references(trace);
      if (!why_.empty()) {
        return nullptr;
      }
    }
    std::vector<DynamicSize> dynamic;
    for (const WantedSize& size : wanted_) {
      dynamic.push_back({size.input, static_cast<size_t>(size.dim), least_[dynamic.size()], size.max});
    }
    Unified made = unify(graphs, dynamic);
    why_ = made.why;
    return made.graph;
  }

  /// What the code refers to must be the same for all sizes.
  std::string difference_of_references(const Trace& trace) const {
    if (trace.references.size() != first_.references.size()) {
      return "the code refers to other tensors at other sizes";
    }
    for (size_t i = 0; i < trace.references.size(); ++i) {
      const at::Tensor &a = first_.references[i].second, &b = trace.references[i].second;
      const bool is_same = a.is_same(b) ||
          (a.scalar_type() == b.scalar_type() && a.sizes().equals(b.sizes()) && a.layout() == b.layout() &&
           a.layout() == c10::kStrided && a.device() == b.device() && a.detach().equal(b.detach()));
      if (!is_same) {
        return "a tensor that the code makes from values of its own (" + trace.references[i].first +
            ") is another at other sizes: make it by operators, as arange() and full()";
      }
    }
    return {};
  }

  const Trace& first_;
  const std::vector<WantedSize>& wanted_;
  const Tracer& tracer_;
  std::vector<int64_t> sizes_; // of the first run
  std::vector<int64_t> least_;
  std::vector<size_t> groups_; // by wanted size: the first one that it is tied to
  std::string why_;
};

size_t find_leaf(const Leaves& inputs, const std::string& arg) {
  const auto found = std::find(inputs.paths.begin(), inputs.paths.end(), arg);
  if (found != inputs.paths.end()) {
    return static_cast<size_t>(found - inputs.paths.begin());
  }
  const bool is_number = !arg.empty() && arg.size() < 6 &&
      std::all_of(arg.begin(), arg.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (is_number && std::stoul(arg) < inputs.paths.size()) {
    return std::stoul(arg);
  }
  std::string paths;
  for (const std::string& path : inputs.paths) {
    paths += (paths.empty() ? "" : ", ") + path;
  }
  TORCH_CHECK(false, "export_: there is no input '", arg, "' to have a dynamic size; there are: ", paths);
}

} // namespace

std::vector<WantedSize> wanted_sizes(const std::vector<DynamicDim>& dynamic, const Leaves& inputs) {
  std::vector<WantedSize> wanted;
  for (const DynamicDim& each : dynamic) {
    const size_t input = find_leaf(inputs, each.arg);
    const std::string& path = inputs.paths[input];
    TORCH_CHECK(
        inputs.values[input].isTensor() && inputs.values[input].toTensor().layout() == c10::kStrided, "export_: '",
        path, "' is no dense tensor: it has no dynamic size");
    const at::Tensor& tensor = inputs.values[input].toTensor();
    TORCH_CHECK(
        each.dim >= -tensor.dim() && each.dim < tensor.dim(), "Dimension out of range: export_: '", path, "' has ",
        tensor.dim(), " dimensions, got ", each.dim);
    const int64_t dim = each.dim < 0 ? each.dim + tensor.dim() : each.dim;
    const int64_t size = tensor.size(dim);
    const std::string name = fmt::format("size {} of '{}'", dim, path);
    TORCH_CHECK(
        size >= 2, "export_: ", name, " is ", size, " in the example, and code treats the sizes 0 and 1 in ways of ",
        "their own: give an example in which it is 2 or more");
    const bool is_inside = (!each.min || *each.min <= size) && (!each.max || *each.max >= size);
    TORCH_CHECK(
        is_inside && each.min.value_or(0) >= 0, "export_: ", name, " is ", size,
        " in the example, which does not lie between the least and the greatest size that are given");
    const bool is_new = std::none_of(wanted.begin(), wanted.end(), [&](const WantedSize& other) {
      return other.input == input && other.dim == dim;
    });
    TORCH_CHECK(is_new, "export_: ", name, " is named twice as dynamic");
    wanted.push_back({input, dim, name, each.min, each.max});
  }
  return wanted;
}

std::shared_ptr<fx::Graph> trace_dynamic(
    const Trace& first, const std::vector<WantedSize>& wanted, const Tracer& tracer) {
  return DynamicTracer(first, wanted, tracer).run();
}

} // namespace torch::capture
