#include <csrc/capture/unify.h>

#include <csrc/capture/size_fit.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>

namespace torch::capture {

namespace {

using c10::IValue;
using fx::Arg;
using fx::Dim;
using fx::NodeKind;
using fx::TensorInfo;

/// What makes unify() give up.
struct Mismatch {
  std::string why;
};

template <class... Args>
[[noreturn]] void give_up(fmt::format_string<Args...> text, Args&&... args) {
  throw Mismatch{fmt::format(text, std::forward<Args>(args)...)};
}

std::string shown(const IValue& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

class Unifier {
 public:
  Unifier(const std::vector<const fx::Graph*>& traces, const std::vector<DynamicSize>& dynamic)
      : traces_(traces), dynamic_(dynamic), graph_(fx::Graph::create()), fit_(*graph_) {}

  Unified run() {
    line_up();
    make_symbols();
    for (size_t row = 0; row < rows_.size(); ++row) {
      unify_row(row);
    }
    graph_->eliminate_dead_code();
    graph_->lint();
    return {graph_, "", names_};
  }

 private:
  using Row = std::vector<const fx::Node*>;

  // --- nodes by place

  /// One row for each place, of one node from each trace.
  void line_up() {
    places_.resize(traces_.size());
    std::vector<const fx::Node*> at;
    for (const fx::Graph* trace : traces_) {
      at.push_back(trace->first());
    }
    for (;;) {
      for (size_t t = 0; t < at.size(); ++t) {
        if (!at[t] != !at[0] || (at[t] && (at[t]->kind() != at[0]->kind() || at[t]->target() != at[0]->target()))) {
          const auto name = [](const fx::Node* node) { return node ? node->target() : std::string("nothing"); };
          give_up(
              "the code does something else at other sizes: after {} operations {} for {}, {} for {}", rows_.size(),
              name(at[0]), show_sizes(0), name(at[t]), show_sizes(t));
        }
      }
      if (!at[0]) {
        return;
      }
      for (size_t t = 0; t < at.size(); ++t) {
        places_[t].emplace(at[t], rows_.size());
      }
      rows_.push_back(at);
      for (const fx::Node*& node : at) {
        node = node->next();
      }
    }
  }

  /// "x [4, 3], y [4]": the sizes of a trace's inputs.
  std::string show_sizes(size_t trace) const {
    std::string text;
    for (const fx::Node* node = traces_[trace]->first(); node; node = node->next()) {
      if (node->kind() == NodeKind::Placeholder && node->info()) {
        std::vector<int64_t> sizes;
        for (const Dim dim : node->info()->sizes) {
          sizes.push_back(dim.value());
        }
        text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", node->name(), fmt::join(sizes, ", "));
      }
    }
    return text;
  }

  std::string show_all(const Row& row, const std::vector<std::string>& values) const {
    std::string text;
    for (size_t t = 0; t < row.size(); ++t) {
      text += fmt::format("{}{} for {}", t == 0 ? "" : ", ", values[t], show_sizes(t));
    }
    return text;
  }

  // --- sizes of inputs

  const TensorInfo* input_info(size_t trace, size_t input) const {
    return input < rows_.size() && rows_[input][trace]->kind() == NodeKind::Placeholder ? rows_[input][trace]->info()
                                                                                        : nullptr;
  }

  void make_symbols() {
    std::map<Observed, Dim> made;
    for (const DynamicSize& size : dynamic_) {
      Observed values;
      for (size_t t = 0; t < traces_.size(); ++t) {
        const TensorInfo* const info = input_info(t, size.input);
        TORCH_CHECK(
            info && size.dim < info->sizes.size(), "unify: there is no size ", size.dim, " of input ", size.input);
        values.push_back(info->sizes[size.dim].value());
      }
      const auto found = made.find(values);
      const std::string name =
          found == made.end() ? "s" + std::to_string(made.size()) : graph_->sizes().print(found->second);
      const Dim symbol = graph_->sizes().symbol(name, size.min, size.max);
      if (found == made.end()) {
        made.emplace(values, symbol);
        fit_.add_symbol(values, symbol);
      }
      names_.push_back(name);
      symbols_[{size.input, size.dim}] = symbol;
    }
  }

  // --- one place

  void unify_row(size_t place) {
    const Row& row = rows_[place];
    for (const fx::Node* node : row) {
      if (node->num_results() != row[0]->num_results()) {
        const std::string name =
            row[0]->all_input_nodes().empty() ? row[0]->target() : row[0]->all_input_nodes()[0]->target();
        give_up("{} gives a list of another length at other sizes", name);
      }
    }
    std::vector<Arg> args;
    for (size_t i = 0; i < row[0]->args().size(); ++i) {
      args.push_back(unify_arg(row, i));
    }
    fx::Node* node = nullptr;
    switch (row[0]->kind()) {
      case NodeKind::Placeholder:
        node = graph_->placeholder(row[0]->name());
        break;
      case NodeKind::GetAttr:
        node = graph_->get_attr(row[0]->target());
        break;
      case NodeKind::CallOperator:
        node = graph_->call_operator(row[0]->operator_handle(), std::move(args));
        break;
      case NodeKind::CallFunction:
        node = graph_->call_function(row[0]->function().name, std::move(args), row[0]->num_results());
        break;
      case NodeKind::Output:
        graph_->output(std::move(args));
        return;
    }
    node->set_name(row[0]->name());
    node->set_module_path(row[0]->module_path());
    nodes_.push_back(node);
    for (uint32_t result = 0; result < node->num_results(); ++result) {
      unify_info(place, node, result);
    }
  }

  Arg unify_arg(const Row& row, size_t index) {
    std::vector<const Arg*> args;
    for (const fx::Node* node : row) {
      if (index >= node->args().size()) {
        give_up("{} has another number of arguments at other sizes", row[0]->target());
      }
      args.push_back(&node->args()[index]);
    }
    return unify_args(row, index, args);
  }

  std::string name_of(const Row& row, size_t index) const {
    const fx::Node& node = *row[0];
    if (node.kind() == NodeKind::Output) {
      return fmt::format("result {}", index);
    }
    return node.is_operator()
        ? fmt::format("argument '{}' of {}", node.schema().arguments()[index].name(), node.target())
        : fmt::format("argument {} of {}", index, node.target());
  }

  Arg unify_args(const Row& row, size_t index, const std::vector<const Arg*>& args) {
    for (const Arg* arg : args) {
      if (arg->kind() != args[0]->kind() || (arg->is_list() && arg->list().size() != args[0]->list().size())) {
        give_up("{} is of another kind at other sizes", name_of(row, index));
      }
    }
    switch (args[0]->kind()) {
      case Arg::Kind::Value: {
        const size_t place = places_[0].at(args[0]->value().node);
        for (size_t t = 1; t < args.size(); ++t) {
          if (places_[t].at(args[t]->value().node) != place || args[t]->value().result != args[0]->value().result) {
            give_up("{} is another tensor at other sizes", name_of(row, index));
          }
        }
        return fx::Value{nodes_[place], args[0]->value().result};
      }
      case Arg::Kind::List: {
        std::vector<Arg> items;
        for (size_t i = 0; i < args[0]->list().size(); ++i) {
          std::vector<const Arg*> parts;
          for (const Arg* arg : args) {
            parts.push_back(&arg->list()[i]);
          }
          items.push_back(unify_args(row, index, parts));
        }
        return items;
      }
      case Arg::Kind::Constant: {
        std::vector<IValue> values;
        for (const Arg* arg : args) {
          values.push_back(arg->constant());
        }
        return unify_constants(row, index, values);
      }
      default:
        give_up("{} is a size or a graph already", name_of(row, index));
    }
  }

  template <class Is>
  static bool all(const std::vector<IValue>& values, const Is& is) {
    return std::all_of(values.begin(), values.end(), is);
  }

  Arg unify_constants(const Row& row, size_t index, const std::vector<IValue>& values) {
    if (all(values, [&](const IValue& value) { return fx::same_constant(value, values[0]); })) {
      return values[0];
    }
    std::optional<Arg> found;
    if (all(values, [](const IValue& value) { return value.isInt(); })) {
      Observed numbers;
      for (const IValue& value : values) {
        numbers.push_back(value.toInt());
      }
      found = fit_.fit(numbers);
    } else if (all(values, [](const IValue& value) { return value.isDouble(); })) {
      std::vector<double> numbers;
      for (const IValue& value : values) {
        numbers.push_back(value.toDouble());
      }
      found = fit_.fit_double(numbers);
    } else if (all(values, [&](const IValue& value) {
                 return value.isList() && value.toListRef().size() == values[0].toListRef().size();
               })) {
      std::vector<Arg> items;
      for (size_t i = 0; i < values[0].toListRef().size(); ++i) {
        std::vector<IValue> parts;
        for (const IValue& value : values) {
          parts.push_back(value.toListRef()[i]);
        }
        items.push_back(unify_constants(row, index, parts));
      }
      return items;
    }
    if (!found) {
      std::vector<std::string> texts;
      for (const IValue& value : values) {
        texts.push_back(shown(value));
      }
      give_up("{} is {}, which is no function of the sizes", name_of(row, index), show_all(row, texts));
    }
    return *found;
  }

  // --- what is known of results

  void unify_info(size_t place, fx::Node* node, uint32_t result) {
    std::vector<const TensorInfo*> infos;
    for (const fx::Node* each : rows_[place]) {
      infos.push_back(each->info(result));
    }
    const TensorInfo* const first = infos[0];
    for (const TensorInfo* info : infos) {
      const bool is_same = !info == !first &&
          (!info ||
           (info->dtype == first->dtype && info->device == first->device && info->layout == first->layout &&
            info->sizes.size() == first->sizes.size() && info->strides.size() == first->strides.size()));
      if (!is_same) {
        give_up("{} gives another kind of tensor at other sizes", node->target());
      }
    }
    if (!first) {
      return;
    }
    TensorInfo info = *first;
    const bool is_input = node->kind() == NodeKind::Placeholder;
    for (size_t dim = 0; dim < info.sizes.size(); ++dim) {
      const Observed sizes = observed(infos, &TensorInfo::sizes, dim);
      const auto symbol = symbols_.find({place, dim});
      if (is_input && symbol != symbols_.end()) {
        info.sizes[dim] = symbol->second;
      } else if (is_input || node->kind() == NodeKind::GetAttr) {
        if (std::any_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size != sizes[0]; })) {
          give_up("size {} of {} differs, which is not declared to be dynamic", dim, node->name());
        }
      } else if (const auto known = fit_.fit_size(sizes)) {
        info.sizes[dim] = *known;
      } else {
        info.sizes[dim] = own_size(sizes, {node, result}, static_cast<int64_t>(dim));
      }
    }
    unify_strides(infos, info);
    node->set_info(std::move(info), result);
  }

  static Observed observed(
      const std::vector<const TensorInfo*>& infos, std::vector<Dim> TensorInfo::*member, size_t dim) {
    Observed values;
    for (const TensorInfo* info : infos) {
      values.push_back((info->*member)[dim].value());
    }
    return values;
  }

  /// A size that no function of the inputs' sizes is known for.
  Dim own_size(const Observed& sizes, fx::Value tensor, int64_t dim) {
    const auto found = own_sizes_.find(sizes);
    if (found != own_sizes_.end()) {
      return found->second;
    }
    const Dim symbol = graph_->sizes().symbol("u" + std::to_string(own_sizes_.size()));
    own_sizes_.emplace(sizes, symbol);
    fit_.add_result(sizes, tensor, dim);
    return symbol;
  }

  void unify_strides(const std::vector<const TensorInfo*>& infos, TensorInfo& info) {
    const bool is_contiguous =
        std::all_of(infos.begin(), infos.end(), [](const TensorInfo* each) { return is_packed(*each); });
    Dim next = 1;
    for (size_t i = info.strides.size(); i-- > 0;) {
      const auto known =
          is_contiguous ? std::optional<Dim>(next) : fit_.fit_size(observed(infos, &TensorInfo::strides, i));
      if (!known) {
        info.strides.clear();
        return;
      }
      info.strides[i] = *known;
      next = is_contiguous ? graph_->sizes().make(fx::SizeOp::Mul, next, info.sizes[i]) : next;
    }
  }

  static bool is_packed(const TensorInfo& info) {
    int64_t next = 1;
    for (size_t i = info.strides.size(); i-- > 0;) {
      if (info.strides[i].value() != next) {
        return false;
      }
      next *= info.sizes[i].value();
    }
    return next != 0;
  }

  const std::vector<const fx::Graph*>& traces_;
  const std::vector<DynamicSize>& dynamic_;
  std::shared_ptr<fx::Graph> graph_;
  SizeFit fit_;
  std::vector<Row> rows_;
  std::vector<std::unordered_map<const fx::Node*, size_t>> places_; // by trace
  std::vector<fx::Node*> nodes_; // by place
  std::map<std::pair<size_t, size_t>, Dim> symbols_; // by input and dimension
  std::vector<std::string> names_;
  std::map<Observed, Dim> own_sizes_;
};

} // namespace

Unified unify(const std::vector<const fx::Graph*>& traces, const std::vector<DynamicSize>& dynamic) {
  TORCH_CHECK(!traces.empty(), "unify: there are no traces");
  try {
    return Unifier(traces, dynamic).run();
  } catch (const Mismatch& mismatch) {
    return {nullptr, mismatch.why, {}};
  } catch (const c10::Error& e) {
    return {nullptr, e.what_without_backtrace(), {}};
  }
}

std::vector<DynamicSize> differing_sizes(const std::vector<const fx::Graph*>& traces) {
  std::vector<std::vector<fx::Node*>> inputs;
  for (const fx::Graph* trace : traces) {
    inputs.push_back(trace->placeholders());
  }
  std::vector<DynamicSize> found;
  for (size_t i = 0; i < inputs[0].size(); ++i) {
    const TensorInfo* const first = inputs[0][i]->info();
    for (size_t dim = 0; first && dim < first->sizes.size(); ++dim) {
      const bool differs = std::any_of(inputs.begin(), inputs.end(), [&](const std::vector<fx::Node*>& nodes) {
        const TensorInfo* const info = i < nodes.size() ? nodes[i]->info() : nullptr;
        return info && dim < info->sizes.size() && info->sizes[dim] != first->sizes[dim];
      });
      if (differs) {
        found.push_back({i, dim});
      }
    }
  }
  return found;
}

} // namespace torch::capture
