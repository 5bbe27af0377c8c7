#include <csrc/capture/lazy_graph.h>

#include <csrc/capture/backend.h>
#include <csrc/fx/coerce.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace torch::capture {

namespace {

using c10::IValue;

/// Values with the last node that takes each.
std::vector<size_t> last_uses(const LazyGraph& graph) {
  std::vector<size_t> last(graph.node_of.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const LazyArg& arg : graph.nodes[n].tensors) {
      if (arg.value >= 0) {
        last[arg.value] = n;
      }
    }
  }
  for (const uint32_t output : graph.outputs) {
    last[output] = graph.nodes.size();
  }
  return last;
}

/// The arguments of a node, with tensors for values.
torch::jit::Stack arguments_of(const LazyNode& node, const std::vector<at::Tensor>& values) {
  torch::jit::Stack stack = node.stack;
  std::map<uint32_t, std::vector<IValue>> lists;
  for (const LazyArg& arg : node.tensors) {
    IValue value = arg.value < 0 ? IValue(at::Tensor()) : IValue(values[arg.value]);
    if (arg.item < 0) {
      stack[arg.place] = std::move(value);
    } else {
      lists[arg.place].push_back(std::move(value));
    }
  }
  for (auto& [place, items] : lists) {
    const c10::TypePtr type = node.op.schema().arguments()[place].type();
    if (type->str().find('?') != std::string::npos && type->kind() == c10::TypeKind::ListType) {
      for (IValue& item : items) {
        item = item.toTensor().defined() ? item : IValue();
      }
    }
    stack[place] = fx::make_list(std::move(items), type);
  }
  return stack;
}

std::string text_of(const fx::Graph& graph) {
  try {
    return graph.to_string();
  } catch (const c10::Error&) {
    return graph.format_tabular(); // constants that have no text
  }
}

} // namespace

std::vector<at::Tensor> LazyGraph::run() const {
  std::vector<at::Tensor> values(node_of.size());
  for (size_t v = 0; v < values.size(); ++v) {
    if (input_of[v] >= 0) {
      values[v] = inputs[input_of[v]];
    }
  }
  const std::vector<size_t> last = last_uses(*this);
  for (size_t n = 0; n < nodes.size(); ++n) {
    const LazyNode& node = nodes[n];
    torch::jit::Stack stack = arguments_of(node, values);
    node.op.callBoxed(&stack);
    uint32_t value = node.first_value;
    for (size_t r = 0; r < node.lengths.size(); ++r) {
      if (node.lengths[r] < 0) {
        values[value] = stack[r].toTensor();
        value += 1;
        continue;
      }
      for (const IValue& item : stack[r].toListRef()) {
        values[value++] = item.toTensor();
      }
    }
    for (uint32_t made = node.first_value; made < value; ++made) {
      if (last[made] <= n) {
        values[made] = at::Tensor(); // nobody takes it
      }
    }
    for (const LazyArg& arg : node.tensors) {
      if (arg.value >= 0 && last[arg.value] == n) {
        values[arg.value] = at::Tensor();
      }
    }
  }
  std::vector<at::Tensor> results;
  for (const uint32_t output : outputs) {
    results.push_back(values[output]);
  }
  return results;
}

std::vector<fx::Arg> graph_args(const LazyNode& node, const std::function<fx::Value(uint32_t)>& value_of) {
  std::vector<fx::Arg> args;
  for (const IValue& constant : node.stack) {
    const bool is_number = constant.isTensor() && constant.toTensor().defined();
    args.push_back(
        is_number ? fx::Arg(constant.toTensor().item()) : fx::Arg(constant.isTensor() ? IValue() : constant));
  }
  std::map<uint32_t, std::vector<fx::Arg>> lists;
  for (const LazyArg& arg : node.tensors) {
    const fx::Arg value = arg.value < 0 ? fx::Arg() : fx::Arg(value_of(static_cast<uint32_t>(arg.value)));
    if (arg.item < 0) {
      args[arg.place] = value;
    } else {
      lists[arg.place].push_back(value);
    }
  }
  for (auto& [place, items] : lists) {
    args[place] = std::move(items);
  }
  return args;
}

std::shared_ptr<fx::GraphModule> LazyGraph::to_module(const LazyEntry& seen) const {
  auto graph = fx::Graph::create();
  std::vector<fx::Value> values(node_of.size());
  for (size_t v = 0; v < values.size(); ++v) {
    if (input_of[v] >= 0) {
      fx::Node* const input = graph->placeholder("input_" + std::to_string(input_of[v]));
      input->set_info(fx::TensorInfo::of(inputs[input_of[v]]));
      values[v] = {input, 0};
    }
  }
  for (size_t n = 0; n < nodes.size(); ++n) {
    fx::Node* const call =
        graph->call_operator(nodes[n].op, graph_args(nodes[n], [&](uint32_t value) { return values[value]; }));
    uint32_t value = nodes[n].first_value;
    for (uint32_t r = 0; r < nodes[n].lengths.size(); ++r) {
      const int32_t length = nodes[n].lengths[r];
      if (length < 0) {
        values[value++] = {call, r};
        continue;
      }
      fx::Node* const unpack = graph->call_function("unpack", {fx::Value{call, r}}, static_cast<uint32_t>(length));
      for (uint32_t i = 0; i < static_cast<uint32_t>(length); ++i) {
        values[value++] = {unpack, i};
      }
    }
    for (size_t i = 0; seen.kinds[n] == LazyKind::Gives && i < seen.results[n].size(); ++i) {
      const LazySpec& spec = seen.results[n][i];
      const fx::Value made = values[nodes[n].first_value + i];
      if (spec.is_defined) {
        fx::TensorInfo info;
        info.dtype = spec.dtype;
        info.sizes.assign(spec.sizes.begin(), spec.sizes.end());
        info.strides.assign(spec.strides.begin(), spec.strides.end());
        made.node->set_info(std::move(info), made.result);
      }
    }
  }
  std::vector<fx::Arg> outputs_of_graph;
  for (const uint32_t output : outputs) {
    outputs_of_graph.emplace_back(values[output]);
  }
  graph->output(std::move(outputs_of_graph));
  graph->eliminate_dead_code();
  return std::make_shared<fx::GraphModule>(graph, "Lazy");
}

std::shared_ptr<LazyEntry> LazyGraphs::find_or_add(const std::shared_ptr<LazyEntry>& seen) {
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (*it == seen || (*it)->key == seen->key) {
      entries_.splice(entries_.begin(), entries_, it);
      return entries_.front();
    }
  }
  entries_.push_front(seen);
  while (entries_.size() > capacity_) {
    entries_.pop_back();
  }
  return seen;
}

void LazyGraphs::compile(const LazyGraph& graph, LazyEntry& entry) {
  std::shared_ptr<const aot::CompiledCall> compiled;
  std::string not_compiled, text;
  try {
    const auto module = graph.to_module(entry);
    text = text_of(module->graph());
    if (backend_ != "eager") {
      compiled = aot::CompiledCall::make(
          *module, graph.inputs, {}, {}, {}, {find_backend(backend_), memory_budget_, /*has_gradients=*/false});
    }
  } catch (const c10::Error& e) {
    not_compiled = e.what_without_backtrace();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  entry.compiled = std::move(compiled);
  entry.not_compiled = std::move(not_compiled);
  entry.text = std::move(text);
}

std::vector<at::Tensor> LazyGraphs::run(const LazyGraph& graph, std::shared_ptr<LazyEntry>& seen) {
  bool is_new = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    seen = find_or_add(seen);
    is_new = ++seen->runs == 2 && !std::exchange(seen->was_tried, true);
    ++runs_;
  }
  const c10::NoGradGuard no_grad;
  if (is_new) {
    compile(graph, *seen);
  }
  std::shared_ptr<const aot::CompiledCall> compiled;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    compiled = seen->compiled;
  }
  std::vector<at::Tensor> results;
  if (compiled && compiled->run(graph.inputs, results)) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++compiled_runs_;
    return results;
  }
  return graph.run();
}

void LazyGraphs::note_break(const std::string& why) {
  constexpr size_t kMostReasons = 64;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (breaks_.size() < kMostReasons || breaks_.count(why) != 0) {
    ++breaks_[why];
  }
}

std::vector<std::shared_ptr<LazyEntry>> LazyGraphs::last_call() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_call_;
}

void LazyGraphs::set_last_call(std::vector<std::shared_ptr<LazyEntry>> entries) {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_call_ = std::move(entries);
}

std::string LazyGraphs::explain() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string text =
      fmt::format("mode lazy: {} graphs kept, {} runs, {} of them compiled\n", entries_.size(), runs_, compiled_runs_);
  for (const auto& [why, times] : breaks_) {
    text += fmt::format("  graph break, {} times: {}\n", times, why);
  }
  size_t number = 0;
  for (const auto& entry : entries_) {
    text += fmt::format("graph {} of {} operators, run {} times\n", number++, entry->ends.size(), entry->runs);
    text += entry->text.empty() ? "" : entry->text + "\n";
    if (entry->compiled) {
      text += "compiled to\n" + entry->compiled->describe() + "\n";
    } else if (!entry->not_compiled.empty()) {
      text += "  runs operator by operator: " + entry->not_compiled + "\n";
    }
  }
  return text;
}

void LazyGraphs::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.clear();
  breaks_.clear();
  last_call_.clear();
}

size_t LazyGraphs::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

uint64_t LazyGraphs::num_compiled_runs() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return compiled_runs_;
}

} // namespace torch::capture
