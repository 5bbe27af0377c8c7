#include <csrc/jit/passes/freeze_module.h>

#include <aten/core/interface_type.h>
#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/constant_propagation.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/inliner.h>
#include <csrc/jit/passes/lower_tuples.h>
#include <csrc/jit/passes/optimize.h>
#include <csrc/jit/passes/peephole.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace torch::jit {

namespace {

/// An attribute of one object.
using Place = std::pair<const c10::ivalue::Object*, std::string>;

struct Frozen {
  GraphFunction* function;
  std::shared_ptr<Graph> graph;
};

class Freezer {
 public:
  Freezer(Module& module, std::vector<std::string> preserved, bool freeze_interfaces, bool preserve_parameters)
      : module_(module), freeze_interfaces_(freeze_interfaces), preserve_parameters_(preserve_parameters) {
    if (module.find_method("forward")) {
      preserved.insert(preserved.begin(), "forward");
    }
    for (const std::string& name : preserved) {
      preserve(name);
    }
  }

  void run() {
    for (const std::string& name : methods_) {
      GraphFunction& function = toGraphFunction(module_.get_method(name).function());
      Frozen frozen{&function, function.graph()->copy()};
      inline_all(frozen.graph);
      frozen_.push_back(std::move(frozen));
    }
    find_set_attributes();
    fold_all(/*immutable_only=*/true);
    find_written_attributes();
    fold_all(/*immutable_only=*/false);
    remove_unused();
    for (const Frozen& frozen : frozen_) {
      frozen.function->set_graph(frozen.graph);
    }
  }

 private:
  using Objects = std::unordered_map<const Value*, c10::intrusive_ptr<c10::ivalue::Object>>;

  // ---- names
  void preserve(const std::string& name) {
    if (name.find('.') == std::string::npos && module_.find_method(name)) {
      if (std::find(methods_.begin(), methods_.end(), name) == methods_.end()) {
        methods_.push_back(name);
      }
      return;
    }
    // Each module on the way stays, too.
    c10::intrusive_ptr<c10::ivalue::Object> object = module_._ivalue();
    for (size_t begin = 0; begin <= name.size();) {
      const size_t end = std::min(name.find('.', begin), name.size());
      const std::string part = name.substr(begin, end - begin);
      TORCH_CHECK(object && object->type()->hasAttribute(part), "Unknown name: ", name);
      kept_.insert({object.get(), part});
      if (begin == 0) {
        kept_names_.insert(part);
      }
      const IValue value = object->getAttr(part);
      object = value.isObject() ? value.toObject() : nullptr;
      begin = end + 1;
    }
    if (object && object->type()->is_module()) {
      keep_all(*object);
    }
  }

  void keep_all(const c10::ivalue::Object& object) {
    if (!kept_whole_.insert(&object).second) {
      return;
    }
    for (const c10::ClassAttribute& attribute : object.type()->getAttributes()) {
      kept_.insert({&object, attribute.getName()});
      const IValue value = object.getAttr(attribute.getName());
      if (value.isObject()) {
        keep_all(value.toObjectRef());
      }
    }
  }

  // ---- calls
  // Behind an interface is one module, which is known. What it does may again be behind interfaces.
  void inline_all(std::shared_ptr<Graph>& graph) {
    constexpr int kMaxRounds = 100;
    for (int round = 0; round < kMaxRounds; ++round) {
      Inline(*graph);
      if (!freeze_interfaces_ || !resolve_interfaces(*graph)) {
        break;
      }
    }
    refuse_choices(*graph);
  }

  bool resolve_interfaces(Graph& graph) {
    bool changed = false;
    for (const auto& [value, object] : objects_of(graph)) {
      if (value->type()->kind() == TypeKind::InterfaceType && !is_set(graph, value)) {
        const_cast<Value*>(value)->setType(object->type());
        changed = true;
      }
    }
    return changed;
  }

  // Whether the attribute that holds the module is given another one.
  static bool is_set(Graph& graph, const Value* value) {
    const std::string& name = value->node()->s(attr::name);
    for (const Node* node : graph.findAllNodes(prim::SetAttr)) {
      if (node->s(attr::name) == name) {
        return true;
      }
    }
    return false;
  }

  static void refuse_choices(Graph& graph) {
    TORCH_CHECK(
        graph.findAllNodes(prim::ModuleContainerIndex).empty(),
        "Freezing modules containing prim::ModuleContainerIndex is not supported: a module is chosen by an index or "
        "key "
        "that is known only at run time");
  }

  // ---- which values are which modules
  Objects objects_of(Graph& graph) const {
    Objects objects;
    if (!graph.inputs().empty()) {
      objects[graph.inputs()[0]] = module_._ivalue();
      collect_objects(graph.block(), objects);
    }
    return objects;
  }

  static void collect_objects(Block* block, Objects& objects) {
    for (Node* node : block->nodes()) {
      if (node->kind() == prim::GetAttr) {
        const auto owner = objects.find(node->input(0));
        if (owner != objects.end() && node->output()->type()->is_module()) {
          const IValue value = owner->second->getAttr(node->s(attr::name));
          if (value.isObject()) {
            objects[node->output()] = value.toObject();
          }
        }
      }
      for (Block* inner : node->blocks()) {
        collect_objects(inner, objects);
      }
    }
  }

  // ---- what changes
  // Where a module is used as a whole, by a call or an operator, anything in it may be read and written.
  void find_set_attributes() {
    for (const Frozen& frozen : frozen_) {
      for (const auto& [value, object] : objects_of(*frozen.graph)) {
        for (const Use& use : value->uses()) {
          if (use.user->kind() == prim::SetAttr && use.offset == 0) {
            const std::string& name = use.user->s(attr::name);
            kept_.insert({object.get(), name});
            keep_value(object->getAttr(name));
          } else if (use.user->kind() != prim::GetAttr) {
            keep_all(*object);
            escaped_.insert(object.get());
          }
        }
      }
    }
    keep_shared();
  }

  void find_written_attributes() {
    for (const Frozen& frozen : frozen_) {
      const AliasDb alias_db(frozen.graph, /*isFrozen=*/true);
      for (const auto& [value, object] : objects_of(*frozen.graph)) {
        for (const Use& use : value->uses()) {
          if (use.user->kind() == prim::GetAttr && alias_db.hasOutputWriters(use.user)) {
            const std::string& name = use.user->s(attr::name);
            kept_.insert({object.get(), name});
            keep_value(object->getAttr(name));
          }
        }
      }
    }
    keep_shared();
  }

  void keep_value(const IValue& value) {
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().has_storage()) {
      written_storages_.insert(value.toTensor().storage().unsafeGetStorageImpl());
    } else if (value.isPtrType() && !value.isString()) {
      written_values_.push_back(value);
    }
  }

  // Attributes that share memory with one that changes, change with it.
  void keep_shared() {
    for (const Module& each : module_.modules()) {
      const auto object = each._ivalue();
      for (const c10::ClassAttribute& attribute : object->type()->getAttributes()) {
        const IValue value = object->getAttr(attribute.getName());
        if (shares_memory(value)) {
          kept_.insert({object.get(), attribute.getName()});
        }
      }
    }
  }

  bool shares_memory(const IValue& value) const {
    if (value.isTensor()) {
      return value.toTensor().defined() && value.toTensor().has_storage() &&
          written_storages_.count(value.toTensor().storage().unsafeGetStorageImpl()) > 0;
    }
    if (value.isList() || value.isTuple() || value.isGenericDict()) {
      const bool same = std::any_of(
          written_values_.begin(), written_values_.end(), [&](const IValue& each) { return each.is(value); });
      return same || members_share_memory(value);
    }
    return false;
  }

  bool members_share_memory(const IValue& value) const {
    if (value.isList()) {
      const auto members = value.toListRef();
      return std::any_of(members.begin(), members.end(), [this](const IValue& each) { return shares_memory(each); });
    }
    if (value.isTuple()) {
      const auto& members = value.toTupleRef().elements();
      return std::any_of(members.begin(), members.end(), [this](const IValue& each) { return shares_memory(each); });
    }
    for (const auto& entry : value.toGenericDict()) {
      if (shares_memory(entry.value())) {
        return true;
      }
    }
    return false;
  }

  // ---- constants
  void fold_all(bool immutable_only) {
    for (Frozen& frozen : frozen_) {
      const Objects objects = objects_of(*frozen.graph);
      fold(frozen.graph->block(), objects, immutable_only);
      PeepholeOptimize(frozen.graph, true);
      if (immutable_only) {
        ConstantPropagationImmutableTypes(frozen.graph);
      } else {
        ConstantPropagation(frozen.graph, /*ignore_custom_classes=*/true);
      }
      LowerSimpleTuples(frozen.graph);
      EliminateDeadCode(frozen.graph);
    }
  }

  void fold(Block* block, const Objects& objects, bool immutable_only) {
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node* node = *it++;
      for (Block* inner : node->blocks()) {
        fold(inner, objects, immutable_only);
      }
      if (node->kind() != prim::GetAttr || (immutable_only && AliasDb::isMutableType(node->output()))) {
        continue;
      }
      const auto owner = objects.find(node->input(0));
      if (owner != objects.end() && !node->output()->type()->is_module()) {
        fold_attribute(node, *owner->second);
      }
    }
  }

  void fold_attribute(Node* node, const c10::ivalue::Object& object) {
    const std::string& name = node->s(attr::name);
    if (kept_.count({&object, name}) > 0 ||
        (preserve_parameters_ && object.type()->is_parameter(object.type()->getAttributeSlot(name)))) {
      return;
    }
    const IValue value = without_gradient(object.getAttr(name));
    std::optional<WithInsertPoint> guard(std::in_place, node);
    const std::optional<Value*> constant =
        tryInsertConstant(*node->owningGraph(), value, node->sourceRange(), node->scope());
    guard.reset();
    if (!constant) {
      return;
    }
    if (value.isNone()) {
      (*constant)->setType(node->output()->type());
    }
    if (node->output()->hasDebugName()) {
      (*constant)->setDebugName(std::string(node->output()->debugName()));
    }
    node->output()->replaceAllUsesWith(*constant);
    node->destroy();
  }

  static IValue without_gradient(const IValue& value) {
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      return tensor.defined() && tensor.requires_grad() ? IValue(tensor.detach()) : value;
    }
    if (value.isTuple()) {
      std::vector<IValue> elements;
      for (const IValue& each : value.toTupleRef().elements()) {
        elements.push_back(without_gradient(each));
      }
      const TupleTypePtr type = value.type()->expect<TupleType>();
      return type->schema() ? IValue(c10::ivalue::Tuple::createNamed(std::move(elements), type))
                            : IValue(c10::ivalue::Tuple::create(std::move(elements)));
    }
    if (value.isList() && value.toList().elementType()->kind() == TypeKind::TensorType) {
      c10::impl::GenericList list(TensorType::get());
      for (const IValue& each : value.toListRef()) {
        list.push_back(without_gradient(each));
      }
      return list;
    }
    return value;
  }

  // ---- what is left of the module
  void remove_unused() {
    std::set<std::string> used = kept_names_;
    bool whole = escaped_.count(module_._ivalue().get()) > 0;
    for (const Frozen& frozen : frozen_) {
      if (frozen.graph->inputs().empty()) {
        continue;
      }
      for (const Use& use : frozen.graph->inputs()[0]->uses()) {
        if (use.user->kind() == prim::GetAttr || use.user->kind() == prim::SetAttr) {
          used.insert(use.user->s(attr::name));
        } else {
          whole = true;
        }
      }
    }
    const ClassTypePtr type = module_.type();
    for (const Module& each : module_.modules()) {
      whole = whole || (each._ivalue() != module_._ivalue() && each.type() == type);
    }
    if (whole) {
      return;
    }
    remove_attributes(*type, used);
    std::vector<std::string> unused;
    for (const Function* method : type->methods()) {
      if (std::find(methods_.begin(), methods_.end(), method->name()) == methods_.end()) {
        unused.push_back(method->name());
      }
    }
    for (const std::string& name : unused) {
      type->unsafeRemoveMethod(name);
    }
  }

  void remove_attributes(ClassType& type, const std::set<std::string>& used) {
    std::vector<std::string> unused;
    for (const c10::ClassAttribute& attribute : type.getAttributes()) {
      const bool parameter = preserve_parameters_ && attribute.getKind() == c10::AttributeKind::PARAMETER;
      if (used.count(attribute.getName()) == 0 && !parameter &&
          !(preserve_parameters_ && attribute.getType()->is_module())) {
        unused.push_back(attribute.getName());
      }
    }
    for (const std::string& name : unused) {
      module_._ivalue()->unsafeRemoveSlot(type.getAttributeSlot(name));
      type.unsafeRemoveAttribute(name);
    }
  }

  Module& module_;
  bool freeze_interfaces_;
  bool preserve_parameters_;
  std::vector<std::string> methods_;
  std::vector<Frozen> frozen_;
  std::set<Place> kept_;
  std::set<std::string> kept_names_;
  std::unordered_set<const c10::ivalue::Object*> kept_whole_;
  std::unordered_set<const c10::ivalue::Object*> escaped_;
  std::unordered_set<const c10::StorageImpl*> written_storages_;
  std::vector<IValue> written_values_;
};

} // namespace

void freeze_module_inplace(
    Module* module, std::vector<std::string> preservedAttrs, bool freezeInterfaces, bool preserveParameters) {
  TORCH_CHECK(module, "freeze_module_inplace: there is no module");
  Freezer(*module, std::move(preservedAttrs), freezeInterfaces, preserveParameters).run();
}

Module freeze_module(
    const Module& module, std::vector<std::string> preservedAttrs, bool freezeInterfaces, bool preserveParameters) {
  Module frozen = module.clone(/*inplace=*/true);
  freeze_module_inplace(&frozen, std::move(preservedAttrs), freezeInterfaces, preserveParameters);
  return frozen;
}

} // namespace torch::jit
