// What an AliasDb answers.
#include <csrc/jit/ir/alias_analysis.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace torch::jit {

// ---- memory ---------------------------------------------------------------------------------------------------------

const MemoryLocations& AliasDb::locationsOf(const Value* value, bool contents) const {
  static const MemoryLocations kNone;
  const auto found = elements_.find(value);
  if (found == elements_.end() && !isMutableType(value)) {
    return kNone;
  }
  const Element element = found == elements_.end() ? unknown_ : found->second;
  return contents ? memory_.all_locations(element) : memory_.locations(element);
}

MemoryLocations AliasDb::locationsOf(at::ArrayRef<Value*> values, bool contents) const {
  MemoryLocations all;
  for (const Value* value : values) {
    all.insert(locationsOf(value, contents));
  }
  return all;
}

const MemoryLocations& AliasDb::wildcardLocations() const {
  return memory_.locations(unknown_);
}

bool AliasDb::mayAlias(const Value* a, const Value* b) const {
  return isMutableType(a) && isMutableType(b) && locationsOf(a, false).intersects(locationsOf(b, false));
}

bool AliasDb::mayAlias(const ValueSet& a, const ValueSet& b) const {
  MemoryLocations first;
  for (const Value* value : a) {
    first.insert(locationsOf(value, false));
  }
  return std::any_of(
      b.begin(), b.end(), [&](const Value* value) { return first.intersects(locationsOf(value, false)); });
}

bool AliasDb::mayContainAlias(Value* a, Value* b) const {
  return locationsOf(a, true).intersects(locationsOf(b, true));
}

bool AliasDb::mayContainAlias(Value* a, at::ArrayRef<Value*> b) const {
  return mayContainAlias(at::ArrayRef<Value*>(a), b);
}

bool AliasDb::mayContainAlias(at::ArrayRef<Value*> a, at::ArrayRef<Value*> b) const {
  return locationsOf(a, true).intersects(locationsOf(b, true));
}

bool AliasDb::escapesScope(const at::ArrayRef<Value*>& values) const {
  const MemoryLocations all = locationsOf(values, false);
  return all.intersects(wildcardLocations()) || all.intersects(locationsOf(graph_->inputs(), true)) ||
      all.intersects(locationsOf(graph_->outputs(), true));
}

bool AliasDb::safeToChangeAliasingRelationship(const at::ArrayRef<Value*>& a, const at::ArrayRef<Value*>& b) const {
  return !hasWriters(a) && !hasWriters(b) && !(escapesScope(a) && escapesScope(b));
}

// ---- writes ---------------------------------------------------------------------------------------------------------

void AliasDb::collectWrites(const Node* node, MemoryLocations& found) const {
  const auto writes = writes_.find(node);
  if (writes != writes_.end()) {
    for (const Write& write : writes->second) {
      found.insert(locationsOf(write.value, write.contents));
    }
  }
  if (writes_to_all_wildcards_.count(node) > 0) {
    found.insert(wildcardLocations());
  }
  for (const Block* block : node->blocks()) {
    for (const Node* inner : block->nodes()) {
      collectWrites(inner, found);
    }
  }
}

void AliasDb::collectReads(const Node* node, MemoryLocations& found) const {
  for (const Value* input : node->inputs()) {
    found.insert(locationsOf(input, true));
  }
  for (const Block* block : node->blocks()) {
    for (const Node* inner : block->nodes()) {
      collectReads(inner, found);
    }
  }
}

MemoryLocations AliasDb::writesOf(const Node* node) const {
  MemoryLocations found;
  collectWrites(node, found);
  return found;
}

MemoryLocations AliasDb::readsOf(const Node* node) const {
  MemoryLocations found;
  collectReads(node, found);
  return found;
}

bool AliasDb::writesToWildcard(Node* node) const {
  return writesOf(node).intersects(wildcardLocations());
}

bool AliasDb::writesToAlias(Node* node, const ValueSet& values) const {
  const MemoryLocations written = writesOf(node);
  return !written.empty() && std::any_of(values.begin(), values.end(), [&](const Value* value) {
    return written.intersects(locationsOf(value, false));
  });
}

bool AliasDb::writesToAlias(Node* node, const ValueAndMemoryLocationSet& values) const {
  return writesOf(node).intersects(values.locations_);
}

ValueAndMemoryLocationSet AliasDb::getValueAndMemoryLocationSet() const {
  return ValueAndMemoryLocationSet(this);
}

void ValueAndMemoryLocationSet::insert(Value* value) {
  if (values_.insert(value).second) {
    locations_.insert(db_->locationsOf(value, false));
  }
}

bool AliasDb::hasWriters(const Value* value) const {
  if (value->mustBeNone()) {
    return false;
  }
  if (!written_) {
    MemoryLocations written;
    for (const auto& [node, writes] : writes_) {
      for (const Write& write : writes) {
        written.insert(locationsOf(write.value, write.contents));
      }
    }
    if (!writes_to_all_wildcards_.empty()) {
      written.insert(wildcardLocations());
    }
    written_ = std::move(written);
  }
  return written_->intersects(locationsOf(value, false));
}

bool AliasDb::hasWriters(const at::ArrayRef<Value*>& values) const {
  return std::any_of(values.begin(), values.end(), [this](const Value* value) { return hasWriters(value); });
}

bool AliasDb::hasInputWriters(const Node* node) const {
  const auto inputs = node->inputs();
  return std::any_of(inputs.begin(), inputs.end(), [this](const Value* value) { return hasWriters(value); });
}

bool AliasDb::hasOutputWriters(const Node* node) const {
  const auto outputs = node->outputs();
  return std::any_of(outputs.begin(), outputs.end(), [this](const Value* value) { return hasWriters(value); });
}

bool AliasDb::hasWriters(const Node* node) const {
  return hasInputWriters(node) || hasOutputWriters(node);
}

bool AliasDb::isMutable(Node* node) const {
  return !writesOf(node).empty();
}

// ---- after changes --------------------------------------------------------------------------------------------------

void AliasDb::copyValue(Value* from, Value* to) {
  const auto found = elements_.find(from);
  if (found != elements_.end()) {
    const Element element = found->second;
    memory_.copy(element, elementOf(to));
    written_ = std::nullopt;
  }
}

void AliasDb::replaceWithNewValue(Value* existing, Value* new_value) {
  const auto found = elements_.find(existing);
  if (found == elements_.end()) {
    return;
  }
  const Element element = found->second;
  elements_.erase(found);
  elements_[new_value] = element;
  for (auto& [node, writes] : writes_) {
    for (Write& write : writes) {
      if (write.value == existing) {
        write.value = new_value;
      }
    }
  }
}

void AliasDb::createValue(const Value* value) {
  giveFresh(value, false);
}

void AliasDb::forgetWrites(const Node* node) {
  writes_.erase(node);
  writes_to_all_wildcards_.erase(node);
  written_ = std::nullopt;
}

void AliasDb::moveWrites(const Node* from, const Node* to) {
  if (const auto found = writes_.find(from); found != writes_.end()) {
    const std::vector<Write> moved = std::move(found->second);
    writes_.erase(found);
    std::vector<Write>& target = writes_[to];
    target.insert(target.end(), moved.begin(), moved.end());
  }
  if (writes_to_all_wildcards_.erase(from) > 0) {
    writes_to_all_wildcards_.insert(to);
  }
  for (const Block* block : from->blocks()) {
    for (const Node* inner : block->nodes()) {
      moveWrites(inner, to);
    }
  }
}

// ---- text -----------------------------------------------------------------------------------------------------------

std::string AliasDb::toString() const {
  std::map<std::string, const Value*> values;
  for (const auto& [value, element] : elements_) {
    values.emplace(value->debugName(), value);
  }
  std::ostringstream out;
  out << "\n===1. GRAPH===\n" << graph_->toString() << "\n===2. ALIAS DB===\n";
  for (const auto& [name, value] : values) {
    out << '%' << name << " lies in:";
    for (const uint32_t place : locationsOf(value, false).places()) {
      out << ' ' << place;
    }
    out << '\n';
  }
  out << "\n===3. Writes===\n";
  for (const auto& [node, writes] : writes_) {
    out << node->kind().toQualString();
    for (const Write& write : writes) {
      out << " %" << write.value->debugName();
    }
    out << '\n';
  }
  return out.str();
}

void AliasDb::dump() const {
  std::cout << toString();
}

std::string AliasDb::toGraphviz() const {
  std::ostringstream out;
  out << "digraph alias_db {\n";
  for (const auto& [value, element] : elements_) {
    for (const uint32_t place : memory_.locations(element).places()) {
      out << "  \"%" << value->debugName() << "\" -> \"" << place << "\"\n";
    }
  }
  out << "}\n";
  return out.str();
}

bool AliasDb::dumpToGraphvizFile(const char* filename) const {
  std::ofstream file(filename);
  file << toGraphviz();
  return file.good();
}

void Lint(const AliasDb* db) {
  for (const auto& [value, element] : db->elements_) {
    TORCH_INTERNAL_ASSERT(element < db->memory_.size(), "AliasDb: %", value->debugName(), " has no element");
  }
  for (const auto& [node, writes] : db->writes_) {
    TORCH_INTERNAL_ASSERT(!writes.empty(), "AliasDb: a node is listed that writes to nothing");
  }
}

} // namespace torch::jit
