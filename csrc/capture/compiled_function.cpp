#include <csrc/capture/compiled_function.h>

#include <csrc/aot/compiled_call.h>
#include <csrc/capture/backend.h>
#include <csrc/capture/guards.h>
#include <csrc/capture/lazy_mode.h>
#include <csrc/capture/recorder.h>
#include <csrc/capture/shape_class.h>
#include <csrc/capture/training_program.h>
#include <csrc/fx/interpreter.h>
#include <csrc/nn/module_changes.h>
#include <csrc/optim/optimizer.h>
#include <autograd/functions/basic_ops.h>
#include <autograd/functions/utils.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <set>

namespace torch::capture {

/// One recording. Does not change but for what is counted.
struct RecordedEntry {
  Guards guards;
  std::string shown_guards;
  std::string why; // it was recorded though there were others
  std::shared_ptr<fx::GraphModule> module; // null when it was refused
  std::string refused;
  std::shared_ptr<const aot::CompiledCall> compiled; // null where the graph runs as it was recorded
  std::string not_compiled; // why
  std::vector<std::pair<std::string, at::Tensor>> references;
  std::vector<uint32_t> checkpoints;
  Guards reference_guards;
  TrainingStep training;
  std::shared_ptr<TrainingProgram> program; // where backward() runs in the function
  std::vector<std::pair<at::Tensor, bool>> leaf_guards; // whether leaves have a gradient when a call begins
  std::vector<bool> requires_grad; // of the results, where backward() runs in the function
  std::vector<size_t> lengths;
  int64_t checks_left = 0;
  uint64_t replays = 0;

  std::string why_not_compiled() const {
    return program ? program->not_compiled() : not_compiled;
  }
};

namespace {

Guards guards_of_references(const std::vector<std::pair<std::string, at::Tensor>>& references) {
  Guards guards;
  for (const auto& [path, tensor] : references) {
    add_tensor(tensor, guards);
  }
  return guards;
}

/// Whether tensors that the function refers to are as they were.
bool references_match(const RecordedEntry& entry) {
  const int64_t* word = entry.reference_guards.data();
  return std::all_of(entry.references.begin(), entry.references.end(), [&](const auto& reference) {
    return has_words(reference.second, word);
  });
}

/// Graphs are compared by their texts; one with constants that have none counts as it stands.
std::string text_of(const RecordedEntry& entry) {
  try {
    return entry.module->graph().to_string();
  } catch (const c10::Error&) {
    return entry.module->graph().format_tabular();
  }
}

/// What a literal in the code holds must be the same each time.
bool same_references(const RecordedEntry& a, const RecordedEntry& b) {
  if (a.references.size() != b.references.size()) {
    return false;
  }
  for (size_t i = 0; i < a.references.size(); ++i) {
    const at::Tensor &x = a.references[i].second, &y = b.references[i].second;
    const bool same = x.is_same(y) ||
        (x.sizes().equals(y.sizes()) && x.scalar_type() == y.scalar_type() && x.device() == y.device() &&
         x.layout() == c10::kStrided && y.layout() == c10::kStrided && x.detach().equal(y.detach()));
    if (!same) {
      return false;
    }
  }
  return true;
}

bool leaves_match(const RecordedEntry& entry) {
  for (const auto& [leaf, has_gradient] : entry.leaf_guards) {
    if (leaf.grad().defined() != has_gradient) {
      return false;
    }
  }
  for (const auto& [leaf, grad] : entry.training.taken) {
    if (!leaf.grad().is_same(grad)) {
      return false;
    }
  }
  return true;
}

/// Results of a function that calls backward() have no history.
void cut_histories(const RecordedEntry& entry, std::vector<at::Tensor>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (entry.requires_grad[i]) {
      results[i] = results[i].detach();
      autograd::set_history(
          results[i],
          std::make_shared<autograd::Error>(
              "Trying to backward through the graph a second time: the compiled function calls backward() itself, and "
              "its results have no graph"));
    }
  }
}

/// Has the backend compile what was recorded. Where it cannot, the graph runs as it was recorded.
void compile_entry(
    RecordedEntry& entry,
    const std::vector<at::Tensor>& inputs,
    const std::vector<functionalize::History>& histories,
    const CompileOptions& options) {
  if (!entry.module) {
    return;
  }
  std::optional<aot::Options> wanted;
  if (options.backend != "eager") {
    wanted = {
        find_backend(options.backend), options.memory_budget, !entry.training.has_backward, options.freeze,
        options.backend == "fused"};
  }
  if (entry.training.has_backward) {
    entry.program = std::make_shared<TrainingProgram>(*entry.module, entry.references, entry.training, wanted);
    entry.program->compile_first(inputs, histories);
  } else if (wanted) {
    try {
      entry.compiled =
          aot::CompiledCall::make(*entry.module, inputs, histories, entry.references, entry.checkpoints, *wanted);
    } catch (const c10::Error& e) {
      entry.not_compiled = e.what_without_backtrace();
    }
  }
}

/// Parameters and buffers by name. Several modules may have some of the same.
KnownTensors names_of(const std::vector<std::shared_ptr<nn::Module>>& modules) {
  KnownTensors names;
  std::set<std::string> taken;
  for (const auto& module : modules) {
    for (const auto& list : {module->named_parameters(), module->named_buffers()}) {
      for (const auto& item : list) {
        std::string name = item.key();
        for (int number = 1; taken.count(name) != 0; ++number) {
          name = item.key() + "_" + std::to_string(number);
        }
        if (names.emplace(item.value().unsafeGetTensorImpl(), name).second) {
          taken.insert(name);
        }
      }
    }
  }
  return names;
}

std::vector<std::string> names_of(const Inputs& inputs) {
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    names.push_back("arg" + std::to_string(i));
  }
  return names;
}

} // namespace

/// Recordings at several sizes.
struct SizedEntry {
  Guards key;
  std::vector<size_t> lengths;
  ShapeClass shapes;
  std::shared_ptr<RecordedEntry> entry; // with sizes as symbols; null before there are two
};

struct CompiledFunction::State {
  CompileOptions options;
  mutable std::mutex mutex;
  std::list<std::shared_ptr<RecordedEntry>> entries; // last used first
  std::list<SizedEntry> classes; // last used first
  uint64_t replays = 0;
  uint64_t recordings = 0;
  bool has_warned = false;
  std::vector<at::Tensor> leaves; // that got gradients in recordings
  std::vector<optim::OptimizerHookHandle> hooks;
  std::unique_ptr<LazyGraphs> lazy; // in mode lazy
  Guards guards; // of a call, under the mutex
  Guards training; // of the modules, as long as `module_changes` is what it was
  uint64_t module_changes = 0;

  std::shared_ptr<RecordedEntry> find(const Guards& guards);
  std::shared_ptr<RecordedEntry> find_sized(const Inputs& inputs, bool& is_worth_compiling);
  bool join_sized(const RecordedEntry& made, const Inputs& inputs, const Guards& key);
  const Guards& training_words();
  bool has_symbols() const {
    return options.dynamic && options.mode == CompileMode::replay;
  }
  std::shared_ptr<RecordedEntry> record(const Inputs& inputs, Outputs& outputs, const Run& run);
  void add(std::shared_ptr<RecordedEntry> entry, const Inputs& inputs);
  std::vector<bool> leaves_with_gradients() const;
  bool guard_leaves(RecordedEntry& entry, const std::vector<bool>& had_gradients);
  void report(const std::string& why);
};

CompiledFunction::CompiledFunction(CompileOptions options) : state_(std::make_unique<State>()) {
  TORCH_CHECK(options.cache_size > 0, "compile: cache_size must be positive");
  for (const auto& module : options.modules) {
    TORCH_CHECK(module != nullptr, "compile: a module is null");
  }
  if (options.backend != "eager") {
    find_backend(options.backend); // throws where there is none
  }
  TORCH_CHECK(
      options.memory_budget >= 0 && options.memory_budget <= 1, "compile: memory_budget must be in [0, 1], got ",
      options.memory_budget);
  for (size_t i = 0; i < options.optimizers.size(); ++i) {
    optim::Optimizer* const optimizer = options.optimizers[i];
    TORCH_CHECK(optimizer != nullptr, "compile: an optimizer is null");
    state_->hooks.push_back(optimizer->register_step_pre_hook([i](optim::Optimizer&) {
      if (DispatchMode* const mode = DispatchMode::current()) {
        mode->begin_step(i);
      }
    }));
    state_->hooks.push_back(optimizer->register_step_post_hook([](optim::Optimizer&) {
      if (DispatchMode* const mode = DispatchMode::current()) {
        mode->end_step();
      }
    }));
  }
  if (options.mode == CompileMode::lazy) {
    state_->lazy = std::make_unique<LazyGraphs>(options.backend, options.memory_budget, options.cache_size);
  }
  state_->options = std::move(options);
}

CompiledFunction::~CompiledFunction() {
  for (optim::OptimizerHookHandle& hook : state_->hooks) {
    hook.remove();
  }
}

const Guards& CompiledFunction::State::training_words() {
  const uint64_t now = nn::module_changes();
  if (training.size() != options.modules.size() || module_changes != now) {
    training = training_guards(options.modules);
    module_changes = now;
  }
  return training;
}

std::shared_ptr<RecordedEntry> CompiledFunction::State::find(const Guards& guards) {
  for (auto it = entries.begin(); it != entries.end(); ++it) {
    if ((*it)->guards == guards && leaves_match(**it)) {
      entries.splice(entries.begin(), entries, it);
      return entries.front();
    }
  }
  return nullptr;
}

/// A graph for all sizes that was confirmed for these. Where a backend makes more of a graph, sizes that come often are
/// worth a recording and a compiled graph of their own.
std::shared_ptr<RecordedEntry> CompiledFunction::State::find_sized(const Inputs& inputs, bool& is_worth_compiling) {
  if (!has_symbols() || classes.empty()) {
    return nullptr;
  }
  const Guards key = guards_but_sizes(inputs, training_words());
  for (auto it = classes.begin(); it != classes.end(); ++it) {
    if (it->entry && it->key == key && it->shapes.holds(inputs.tensors)) {
      if (!references_match(*it->entry)) {
        classes.erase(it);
        return nullptr;
      }
      classes.splice(classes.begin(), classes, it);
      is_worth_compiling = options.backend != "eager" && it->shapes.is_worth_compiling(inputs.tensors);
      return is_worth_compiling ? nullptr : classes.front().entry;
    }
  }
  return nullptr;
}

/// Makes a recording part of a graph for all sizes; gives whether it is.
bool CompiledFunction::State::join_sized(const RecordedEntry& made, const Inputs& inputs, const Guards& key) {
  if (!has_symbols() || !made.module || made.training.has_backward) {
    return false;
  }
  auto found = classes.begin();
  while (found != classes.end() && found->key != key) {
    ++found;
  }
  if (found == classes.end()) {
    classes.push_front({key, made.lengths, {}, nullptr});
    while (classes.size() > options.cache_size) {
      classes.pop_back();
    }
  } else {
    classes.splice(classes.begin(), classes, found);
  }
  SizedEntry& sized = classes.front();
  if (sized.shapes.is_hopeless() || sized.lengths != made.lengths || !sized.shapes.add(made.module, inputs.tensors)) {
    return false;
  }
  if (!sized.entry || sized.entry->module != sized.shapes.module()) {
    const uint64_t replays_before = sized.entry ? sized.entry->replays : 0;
    sized.entry = std::make_shared<RecordedEntry>(made);
    sized.entry->module = sized.shapes.module();
    sized.entry->checks_left = 0;
    sized.entry->replays = replays_before;
  }
  ++recordings;
  return true;
}

std::shared_ptr<RecordedEntry> CompiledFunction::State::record(const Inputs& inputs, Outputs& outputs, const Run& run) {
  auto entry = std::make_shared<RecordedEntry>();
  // Before the function runs: it may change what they are about.
  guards_of(inputs, training_guards(options.modules), entry->guards);
  entry->shown_guards = show_guards(inputs);
  const KnownTensors names = names_of(options.modules);
  Recorder recorder(inputs.tensors, names_of(inputs), names);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    recorder.record_training(leaves);
  }
  Recording recording = recorder.record([&] {
    run(outputs);
    return outputs.tensors;
  });
  entry->module = std::move(recording.module);
  entry->refused = std::move(recording.refused);
  entry->references = std::move(recording.references);
  entry->checkpoints = std::move(recording.checkpoints);
  entry->training = std::move(recording.training);
  for (const at::Tensor& result : outputs.tensors) {
    entry->requires_grad.push_back(result.defined() && result.requires_grad());
  }
  entry->reference_guards = guards_of_references(entry->references);
  entry->lengths = outputs.lengths;
  entry->checks_left = options.check_calls;
  return entry;
}

void CompiledFunction::State::add(std::shared_ptr<RecordedEntry> entry, const Inputs& inputs) {
  ++recordings;
  if (!entries.empty() && entry->why.empty()) {
    entry->why = difference_of_guards(entries.front()->guards, entry->guards, inputs, options.modules.size());
  }
  entries.push_front(std::move(entry));
  while (entries.size() > options.cache_size) {
    entries.pop_back();
  }
}

std::vector<bool> CompiledFunction::State::leaves_with_gradients() const {
  std::vector<bool> flags;
  for (const at::Tensor& leaf : leaves) {
    flags.push_back(leaf.grad().defined());
  }
  return flags;
}

/// A recording holds for leaves that had no gradient when it began, as those that get a new one in place of another may
/// have one or not. False where it is not known which had one: the next call is recorded again.
bool CompiledFunction::State::guard_leaves(RecordedEntry& entry, const std::vector<bool>& had_gradients) {
  bool known = true;
  const auto guard = [&](const at::Tensor& leaf) {
    size_t number = 0;
    while (number < leaves.size() && !leaves[number].is_same(leaf)) {
      ++number;
    }
    if (number == leaves.size()) {
      leaves.push_back(leaf);
      known = false;
    } else if (number >= had_gradients.size()) {
      known = false;
    } else if (!had_gradients[number]) {
      entry.leaf_guards.emplace_back(leaf, false);
    }
  };
  for (const TrainingStep::Stop& stop : entry.training.stops) {
    for (const TrainingStep::Grad& grad : stop.grads) {
      guard(grad.leaf);
    }
  }
  return known;
}

void CompiledFunction::State::report(const std::string& why) {
  TORCH_CHECK(!options.fullgraph, "compile: the function cannot be captured: ", why);
  if (!has_warned) {
    has_warned = true;
    TORCH_WARN("compile: the function runs as it is, since it cannot be captured: ", why);
  }
}

void CompiledFunction::call(const Inputs& inputs, Outputs& outputs, const Run& run) {
  if (DispatchMode::current()) {
    run(outputs); // becomes part of what is recorded
    return;
  }
  State& state = *state_;
  if (state.lazy) {
    LazyMode mode(*state.lazy, state.options.fullgraph);
    {
      const DispatchMode::Scope scope(&mode);
      run(outputs);
    }
    mode.finish();
    return;
  }
  std::shared_ptr<RecordedEntry> entry;
  std::string outdated;
  Guards key;
  bool check = false, is_worth_compiling = false;
  std::vector<bool> had_gradients;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    guards_of(inputs, state.training_words(), state.guards);
    entry = state.find(state.guards);
    if (entry && entry->module && !references_match(*entry)) {
      state.entries.remove(entry);
      entry = nullptr;
      outdated = "a tensor that it refers to has other sizes, dtype or requires_grad";
    }
    if (!entry && outdated.empty()) {
      entry = state.find_sized(inputs, is_worth_compiling);
    }
    if (!entry) {
      had_gradients = state.leaves_with_gradients();
      key = state.has_symbols() ? guards_but_sizes(inputs, state.training_words()) : Guards();
    }
    if (entry && entry->module) {
      check = state.options.mode == CompileMode::checked || entry->checks_left > 0;
      entry->checks_left -= check ? 1 : 0;
      if (!check) {
        ++entry->replays;
        ++state.replays;
      }
    }
  }
  if (!entry) {
    const auto histories = functionalize::histories_of(inputs.tensors); // the function may change them
    std::shared_ptr<RecordedEntry> made = state.record(inputs, outputs, run);
    made->why = outdated;
    {
      const std::lock_guard<std::mutex> lock(state.mutex);
      if (made->module && !state.guard_leaves(*made, had_gradients)) {
        ++state.recordings;
        return;
      }
      if (is_worth_compiling) {
        made->checks_left = 0; // it was recorded before
      } else if (state.join_sized(*made, inputs, key)) {
        return;
      }
    }
    compile_entry(*made, inputs.tensors, histories, state.options);
    const std::lock_guard<std::mutex> lock(state.mutex);
    const std::string refused = made->refused;
    state.add(std::move(made), inputs);
    if (!refused.empty()) {
      state.report(refused);
    }
    return;
  }
  if (!entry->module) {
    run(outputs);
    return;
  }
  if (check) {
    const std::shared_ptr<RecordedEntry> again = state.record(inputs, outputs, run);
    const bool same = again->module && text_of(*again) == text_of(*entry) && same_references(*again, *entry);
    if (!same) {
      const std::lock_guard<std::mutex> lock(state.mutex);
      auto refused = std::make_shared<RecordedEntry>(*entry);
      refused->module = nullptr;
      refused->refused = again->module ? "it does something else each time: what it keeps between calls is no argument"
                                       : again->refused;
      state.entries.remove(entry);
      state.entries.push_front(refused);
      TORCH_CHECK(
          state.options.mode != CompileMode::checked, "compile: the function cannot be captured: ", refused->refused);
      state.report(refused->refused);
    }
    return;
  }
  // Casts that autocast made are in the graph.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const c10::AutoGradMode mode(c10::GradMode::is_enabled());
  if (entry->program) {
    outputs.tensors = entry->program->run(inputs.tensors, state.options.optimizers);
    cut_histories(*entry, outputs.tensors);
    outputs.lengths = entry->lengths;
    return;
  }
  const bool is_done = entry->compiled && entry->compiled->run(inputs.tensors, outputs.tensors);
  if (!is_done) {
    for (c10::IValue& result :
         entry->module->forward(std::vector<c10::IValue>(inputs.tensors.begin(), inputs.tensors.end()))) {
      outputs.tensors.push_back(result.isTensor() ? std::move(result).toTensor() : at::Tensor());
    }
  }
  outputs.lengths = entry->lengths;
}

std::string CompiledFunction::explain() const {
  if (state_->lazy) {
    return state_->lazy->explain();
  }
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::string text = fmt::format(
      "{} recordings, {} kept, {} calls run as graphs\n", state_->recordings, state_->entries.size(), state_->replays);
  size_t number = 0;
  for (const auto& entry : state_->entries) {
    text += fmt::format(
        "recording {}, run {} times{}\n", number++, entry->replays,
        entry->why.empty() ? "" : ", made because " + entry->why);
    text += "  for\n" + entry->shown_guards;
    for (const auto& [path, tensor] : entry->references) {
      text += fmt::format(
          "  refers to {}: {} [{}]\n", path, c10::toString(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "));
    }
    text += entry->module ? text_of(*entry) + "\n" : "  cannot be captured: " + entry->refused + "\n";
    if (entry->compiled || entry->program) {
      text += "compiled to\n" + (entry->program ? entry->program->describe() : entry->compiled->describe()) + "\n";
    }
    if (const std::string why = entry->why_not_compiled(); !why.empty()) {
      text += "  runs as it was recorded: " + why + "\n";
    }
  }
  for (const SizedEntry& sized : state_->classes) {
    if (sized.entry) {
      text += fmt::format(
          "recordings with sizes as symbols, confirmed for {} further ones, run {} times\n{}\n",
          sized.shapes.num_confirmed(), sized.entry->replays, text_of(*sized.entry));
    }
  }
  return text;
}

void CompiledFunction::reset() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->entries.clear();
  state_->classes.clear();
  if (state_->lazy) {
    state_->lazy->clear();
  }
}

std::string CompiledFunction::last_not_compiled() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->entries.empty() ? "" : state_->entries.front()->why_not_compiled();
}

size_t CompiledFunction::num_entries() const {
  if (state_->lazy) {
    return state_->lazy->size();
  }
  const std::lock_guard<std::mutex> lock(state_->mutex);
  size_t count = state_->entries.size();
  for (const SizedEntry& sized : state_->classes) {
    count += sized.entry ? 1 : 0;
  }
  return count;
}

uint64_t CompiledFunction::num_replays() const {
  if (state_->lazy) {
    return state_->lazy->num_compiled_runs();
  }
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->replays;
}

std::string CompiledFunction::last_graph() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->entries.empty() || !state_->entries.front()->module ? "" : text_of(*state_->entries.front());
}

} // namespace torch::capture
