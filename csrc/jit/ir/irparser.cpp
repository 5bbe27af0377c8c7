#include <csrc/jit/ir/irparser.h>

#include <aten/core/tensor_type.h>
#include <aten/ops/scalar_tensor.h>
#include <aten/ops/zeros.h>
#include <csrc/jit/ir/ir_scanner.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace torch::jit {

namespace {

constexpr int kMaxNesting = 200;
// Tensors without contents in the text are given memory up to this size.
constexpr int64_t kMaxElements = 1 << 20;
constexpr size_t kMaxColumn = 4096;

struct ParsedOutput {
  std::string name;
  TypePtr type;
  bool is_typed = false;
};

class IRParser {
 public:
  IRParser(
      const std::string& text,
      Graph* graph,
      std::unordered_map<std::string, Value*>& values,
      bool parse_tensors,
      const IRTypeLookup& lookup)
      : scanner_(text), graph_(graph), values_(values), parse_tensors_(parse_tensors), types_{lookup, {}} {
    find_subgraph_names(text);
  }

  void parse() {
    scanner_.expect("graph");
    parse_graph();
    parse_subgraphs();
    scanner_.skip_space();
    if (!scanner_.at_end()) {
      scanner_.fail("expected the end of the text here");
    }
  }

 private:
  // ---- the graph
  void parse_graph() {
    scanner_.expect("(");
    parse_inputs(graph_->block());
    scanner_.expect(":");
    parse_nodes(graph_->block());
    scanner_.expect("return");
    parse_outputs(graph_->block());
  }

  // The names of all graphs that follow the first one.
  void find_subgraph_names(const std::string& text) {
    constexpr std::string_view kWith = "with ";
    for (size_t at = text.find(kWith); at != std::string::npos; at = text.find(kWith, at + 1)) {
      const size_t begin = at + kWith.size();
      const size_t end = text.find(' ', begin);
      if (end != std::string::npos && text.compare(end, 9, " = graph(") == 0) {
        subgraph_names_.insert(text.substr(begin, end - begin));
      }
    }
  }

  // with prim::Kind_0 = graph(...)
  void parse_subgraphs() {
    while (scanner_.take("with")) {
      scanner_.skip_space();
      const size_t begin = scanner_.position();
      const std::string name = kind_name();
      scanner_.expect("=");
      scanner_.expect("graph");
      const auto found = pending_subgraphs_.find(name);
      if (found == pending_subgraphs_.end() || found->second.empty()) {
        scanner_.fail("no node of the text has the graph " + name, begin);
      }
      Node* node = found->second.front();
      found->second.erase(found->second.begin());
      node->g_(attr::Subgraph, parse_subgraph());
    }
    for (const auto& [name, nodes] : pending_subgraphs_) {
      if (!nodes.empty()) {
        scanner_.fail("the graph " + name + " is missing: expected 'with " + name + " = graph(...)' here");
      }
    }
  }

  std::shared_ptr<Graph> parse_subgraph() {
    if (++depth_ > kMaxNesting) {
      scanner_.fail("graphs are nested too deeply here");
    }
    auto subgraph = std::make_shared<Graph>();
    std::unordered_map<std::string, Value*> values;
    std::swap(values_, values);
    Graph* outer = std::exchange(graph_, subgraph.get());
    parse_graph();
    graph_ = outer;
    std::swap(values_, values);
    --depth_;
    return subgraph;
  }

  // ---- values
  std::string value_name() {
    scanner_.expect("%");
    const char c = scanner_.peek();
    if (c == ' ' || c == '\n') {
      scanner_.fail("expected the name of a value here");
    }
    return scanner_.name(true, "the name of a value");
  }

  ParsedOutput typed_value() {
    ParsedOutput value{value_name(), TensorType::get()};
    if (scanner_.take(":")) {
      value.type = parseIRType(scanner_, types_);
      value.is_typed = true;
    }
    return value;
  }

  // A name may be given again: what follows means the last value.
  void define(Value* value, const ParsedOutput& parsed) {
    value->setType(parsed.type);
    values_.insert_or_assign(parsed.name, value);
  }

  Value* use(size_t& at) {
    scanner_.skip_space();
    at = scanner_.position();
    const std::string name = value_name();
    const auto found = values_.find(name);
    if (found == values_.end()) {
      scanner_.fail("Cannot find a variable with name '" + name + "'", at);
    }
    return found->second;
  }

  void parse_inputs(Block* block) {
    if (scanner_.take(")")) {
      return;
    }
    do {
      scanner_.skip_space();
      const ParsedOutput parsed = typed_value();
      // Inputs keep names that are no numbers. Outputs of nodes are numbered, as in libtorch.
      define(block->addInput(Value::isValidName(parsed.name) ? parsed.name : ""), parsed);
    } while (scanner_.take(","));
    scanner_.expect(")");
  }

  void parse_outputs(Block* block) {
    scanner_.expect("(");
    for (Value* value : used_values(block->return_node())) {
      block->registerOutput(value);
    }
  }

  // Names up to the closing parenthesis. Each must be known where `node` stands.
  std::vector<Value*> used_values(const Node* node) {
    std::vector<Value*> values;
    if (scanner_.take(")")) {
      return values;
    }
    do {
      size_t at = 0;
      Value* value = use(at);
      if (!is_visible(value, node->owningBlock())) {
        scanner_.fail("%" + value->debugName() + " is defined in a block that has ended", at);
      }
      values.push_back(value);
    } while (scanner_.take(","));
    scanner_.expect(")");
    return values;
  }

  bool is_visible(const Value* value, const Block* block) const {
    const Block* home = value->node()->owningBlock();
    for (; block; block = block->owningNode() ? block->owningNode()->owningBlock() : nullptr) {
      if (block == home) {
        return true;
      }
    }
    return false;
  }

  // ---- nodes
  void parse_nodes(Block* block) {
    if (++depth_ > kMaxNesting) {
      scanner_.fail("blocks are nested too deeply here");
    }
    while (!scanner_.looking_at("return") && !scanner_.looking_at("->")) {
      if (scanner_.at_end()) {
        scanner_.fail("expected a node, '->' or 'return', but the text ends here");
      }
      parse_node(block);
    }
    --depth_;
  }

  std::string kind_name() {
    scanner_.skip_space();
    std::string name;
    if (scanner_.take("^")) {
      scanner_.fail("functions of Python cannot be read from text");
    }
    name = scanner_.name(false, "the name of an operator");
    while (scanner_.peek() == ':' && scanner_.peek(1) == ':') {
      scanner_.expect("::");
      name += "::" + scanner_.name(true, "the name of an operator");
    }
    return name;
  }

  void parse_node(Block* block) {
    std::vector<ParsedOutput> outputs;
    scanner_.skip_space();
    while (scanner_.peek() == '%') {
      outputs.push_back(typed_value());
      if (!scanner_.take(",")) {
        break;
      }
      scanner_.skip_space();
    }
    if (!outputs.empty() || scanner_.looking_at("=")) {
      scanner_.expect("=");
    }
    scanner_.skip_space();
    const size_t at = scanner_.position();
    const std::string name = kind_name();
    if (name.find("::") == std::string::npos) {
      scanner_.fail("an operator has a namespace: 'aten::" + name + "'?", at);
    }
    Node* node = create_node(name, outputs.size());
    // What errors mark, as in libtorch: the namespace.
    node->setSourceRange(scanner_.range(at, at + name.find("::")));
    block->appendNode(node);
    if (scanner_.peek() == '[') {
      parse_attributes(node, outputs);
    }
    scanner_.expect("(");
    for (Value* input : used_values(node)) {
      node->addInput(input);
    }
    parse_place(node);
    for (size_t i = 0; i < outputs.size(); ++i) {
      define(node->output(i), outputs[i]);
    }
    parse_blocks(node);
  }

  // A kind with a number behind it stands for a node with a graph, which follows under that name.
  Node* create_node(const std::string& name, size_t outputs) {
    if (subgraph_names_.count(name) > 0 && name.find('_') != std::string::npos) {
      const size_t underscore = name.rfind('_');
      Node* node = graph_->create(Symbol::fromQualString(name.substr(0, underscore)), outputs);
      pending_subgraphs_[name].push_back(node);
      return node;
    }
    return graph_->create(Symbol::fromQualString(name), outputs);
  }

  void parse_blocks(Node* node) {
    while (true) {
      scanner_.skip_space();
      const std::string_view rest = scanner_.rest();
      size_t digits = 5;
      if (rest.substr(0, 5) != "block") {
        return;
      }
      while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') {
        ++digits;
      }
      if (digits >= rest.size() || rest[digits] != '(') {
        return;
      }
      scanner_.name(false, "a block");
      scanner_.expect("(");
      Block* block = node->addBlock();
      parse_inputs(block);
      scanner_.expect(":");
      parse_nodes(block);
      scanner_.expect("->");
      parse_outputs(block);
    }
  }

  // , scope: a/b # file.py:3:4
  void parse_place(Node* node) {
    scanner_.skip_blanks();
    if (scanner_.peek() == ',') {
      scanner_.expect(",");
      scanner_.expect("scope");
      scanner_.expect(":");
      scanner_.skip_blanks();
      parse_scope(node, std::string(scanner_.until('#')));
    }
    scanner_.skip_blanks();
    if (scanner_.peek() == '#') {
      parse_source_range(node, std::string(scanner_.until('\0')));
    }
  }

  void parse_scope(Node* node, std::string text) {
    while (!text.empty() && text.back() == ' ') {
      text.pop_back();
    }
    if (text.empty()) {
      return;
    }
    ScopePtr& scope = scopes_[text];
    if (!scope) {
      scope = c10::make_intrusive<Scope>();
      for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('/', begin), text.size());
        scope = scope->push(Symbol::scope(text.substr(begin, end - begin)));
        begin = end + 1;
      }
    }
    node->setScope(scope);
  }

  // What is no place is a comment.
  static void parse_source_range(Node* node, const std::string& comment) {
    const size_t column_at = comment.rfind(':');
    const size_t line_at =
        column_at == std::string::npos || column_at == 0 ? std::string::npos : comment.rfind(':', column_at - 1);
    if (line_at == std::string::npos || comment.size() < 4) {
      return;
    }
    const std::optional<size_t> line = natural(comment.substr(line_at + 1, column_at - line_at - 1));
    const std::optional<size_t> column = natural(comment.substr(column_at + 1));
    if (!line || !column || *column > kMaxColumn) {
      return;
    }
    const std::string file = comment.substr(2, line_at - 2);
    node->setSourceRange(
        SourceRange(std::make_shared<Source>(std::string(*column + 1, ' '), file, *line), *column, *column + 1));
  }

  static std::optional<size_t> natural(const std::string& text) {
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) {
      return std::nullopt;
    }
    return std::stoul(text);
  }

  // ---- attributes
  void parse_attributes(Node* node, const std::vector<ParsedOutput>& outputs) {
    scanner_.expect("[");
    if (scanner_.take("]")) {
      return;
    }
    do {
      scanner_.skip_space();
      const Symbol name = Symbol::attr(scanner_.name(true, "the name of an attribute"));
      scanner_.expect("=");
      const bool of_constant = node->kind() == prim::Constant && name == attr::value && outputs.size() == 1;
      parse_attribute(node, name, of_constant && outputs[0].is_typed ? outputs[0].type : nullptr);
    } while (scanner_.take(","));
    scanner_.expect("]");
  }

  void parse_attribute(Node* node, Symbol name, const TypePtr& type) {
    const size_t before = scanner_.position();
    scanner_.skip_space();
    const size_t at = scanner_.position();
    if (type && type->kind() == TypeKind::TensorType) {
      scanner_.set_position(before);
      node->t_(name, parse_tensor(type->expectRef<TensorType>()));
      return;
    }
    const char c = scanner_.peek();
    if (c == '{') {
      node->t_(name, one_element(TensorType::get()->expectRef<TensorType>()));
    } else if (c == '<') {
      parse_opaque(node, name, at);
    } else if (c == '[') {
      parse_list_attribute(node, name, type);
    } else if (!type && looksLikeType(scanner_)) {
      node->ty_(name, parseIRType(scanner_, types_));
    } else {
      set_value(node, name, parse_value(type), type);
    }
  }

  static void set_value(Node* node, Symbol name, const IValue& value, const TypePtr& type) {
    const bool is_bool = type && type->kind() == TypeKind::BoolType;
    if (value.isInt() && type && type->kind() == TypeKind::FloatType) {
      node->f_(name, static_cast<double>(value.toInt()));
    } else if (value.isInt()) {
      node->i_(name, is_bool ? static_cast<int64_t>(value.toInt() != 0) : value.toInt());
    } else if (value.isBool() && (!type || is_bool)) {
      node->i_(name, value.toBool() ? 1 : 0);
    } else if (value.isDouble() && type && type->kind() == TypeKind::ComplexType) {
      node->c_(name, value.toDouble());
    } else if (value.isDouble()) {
      node->f_(name, value.toDouble());
    } else if (value.isComplexDouble()) {
      node->c_(name, value.toComplexDouble());
    } else if (value.isString()) {
      node->s_(name, value.toStringRef());
    } else {
      node->ival_(name, value);
    }
  }

  void parse_opaque(Node* node, Symbol name, size_t at) {
    scanner_.expect("<");
    const std::string what(scanner_.until('>'));
    scanner_.expect(">");
    if (what == "Tensor") {
      node->t_(name, missing_tensor(TensorType::get()->expectRef<TensorType>(), at));
    } else {
      scanner_.fail("<" + what + "> is not in the text, and cannot be read", at);
    }
  }

  // Of constants a value; of other nodes a list of numbers, strings, tensors or types.
  void parse_list_attribute(Node* node, Symbol name, const TypePtr& type) {
    if (type) {
      node->ival_(name, parse_value(type));
      return;
    }
    const size_t begin = scanner_.position();
    scanner_.expect("[");
    if (scanner_.looking_at("]")) {
      scanner_.expect("]");
      node->is_(name, {});
      return;
    }
    if (looksLikeType(scanner_)) {
      std::vector<TypePtr> types;
      do {
        types.push_back(parseIRType(scanner_, types_));
      } while (scanner_.take(","));
      scanner_.expect("]");
      node->tys_(name, std::move(types));
      return;
    }
    scanner_.set_position(begin);
    const IValue list = parse_value(nullptr);
    if (list.isIntList()) {
      node->is_(name, list.toIntVector());
    } else if (list.isDoubleList()) {
      node->fs_(name, list.toDoubleVector());
    } else if (list.isList() && list.toList().elementType()->kind() == TypeKind::StringType) {
      std::vector<std::string> strings;
      for (const IValue& each : list.toListRef()) {
        strings.push_back(each.toStringRef());
      }
      node->ss_(name, std::move(strings));
    } else {
      node->ival_(name, list);
    }
  }

  // ---- values of any type
  IValue parse_value(const TypePtr& type) {
    if (++depth_ > kMaxNesting) {
      scanner_.fail("values are nested too deeply here");
    }
    IValue value = parse_one_value(type);
    --depth_;
    return value;
  }

  IValue parse_one_value(const TypePtr& type) {
    scanner_.skip_space();
    const size_t at = scanner_.position();
    const char c = scanner_.peek();
    if (c == '"' || c == '\'') {
      std::string text = scanner_.quoted();
      return text;
    }
    if (c == '[') {
      return parse_list(type);
    }
    if (c == '(') {
      return parse_tuple(type);
    }
    if (c == '{') {
      return parse_dict_or_tensor(type);
    }
    if (scanner_.take("None")) {
      return IValue();
    }
    if (scanner_.take("True")) {
      return true;
    }
    if (scanner_.take("False")) {
      return false;
    }
    if (scanner_.take("annotate")) {
      scanner_.expect("(");
      const TypePtr annotated = annotation(at);
      scanner_.expect(",");
      IValue value = parse_value(annotated ? annotated : type);
      scanner_.expect(")");
      return value;
    }
    if (scanner_.take("torch.device")) {
      scanner_.expect("(");
      const std::string device = scanner_.quoted();
      scanner_.expect(")");
      return to_device(device, at);
    }
    if (scanner_.take("<Tensor>")) {
      return missing_tensor(TensorType::get()->expectRef<TensorType>(), at);
    }
    if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'i' || c == 'n') {
      IValue number = scanner_.number();
      return number.isInt() && type && type->kind() == TypeKind::FloatType ? IValue(static_cast<double>(number.toInt()))
                                                                           : number;
    }
    scanner_.fail("this is no value of a constant", at);
  }

  // The types of annotate(...) are written as in Python; the value's own type is known where it is needed.
  TypePtr annotation(size_t) {
    int open = 0;
    while (!scanner_.at_end()) {
      const char c = scanner_.peek();
      if ((c == ',' && open == 0) || c == '\n') {
        break;
      }
      open += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
      scanner_.set_position(scanner_.position() + 1);
    }
    return nullptr;
  }

  IValue to_device(const std::string& name, size_t at) {
    try {
      return c10::Device(name);
    } catch (const c10::Error& error) {
      scanner_.fail(error.what_without_backtrace(), at);
    }
  }

  static TypePtr contained(const TypePtr& type, TypeKind kind, size_t i) {
    if (type && type->kind() == TypeKind::OptionalType) {
      return contained(type->containedType(0), kind, i);
    }
    return type && type->kind() == kind && i < type->containedTypes().size() ? type->containedType(i) : nullptr;
  }

  IValue parse_list(const TypePtr& type) {
    const size_t at = scanner_.position();
    const TypePtr element = contained(type, TypeKind::ListType, 0);
    std::vector<IValue> elements;
    scanner_.expect("[");
    if (!scanner_.take("]")) {
      do {
        elements.push_back(parse_value(element));
      } while (scanner_.take(","));
      scanner_.expect("]");
    }
    TypePtr element_type = element ? element : elements.empty() ? TypePtr(IntType::get()) : elements[0].type();
    const auto mixed = [&](const IValue& each) { return each.type()->kind() != element_type->kind(); };
    if (!element && std::any_of(elements.begin(), elements.end(), mixed)) {
      element_type = AnyType::get();
    }
    c10::impl::GenericList list(element_type);
    for (IValue& each : elements) {
      if (!each.type()->isSubtypeOf(*element_type)) {
        scanner_.fail("the list holds a value that is no " + element_type->repr_str(), at);
      }
      list.push_back(std::move(each));
    }
    return list;
  }

  IValue parse_tuple(const TypePtr& type) {
    const size_t at = scanner_.position();
    std::vector<IValue> elements;
    bool is_tuple = false;
    scanner_.expect("(");
    if (scanner_.take(")")) {
      return c10::ivalue::Tuple::create(std::move(elements));
    }
    while (true) {
      elements.push_back(parse_value(contained(type, TypeKind::TupleType, elements.size())));
      if (!scanner_.take(",")) {
        break;
      }
      is_tuple = true;
      if (scanner_.looking_at(")")) {
        break;
      }
    }
    scanner_.expect(")");
    if (elements.size() == 1 && !is_tuple) {
      return elements[0]; // (1+2j)
    }
    const TupleTypePtr tuple_type = type ? type->cast<TupleType>() : nullptr;
    if (tuple_type && tuple_type->schema()) {
      if (tuple_type->elements().size() != elements.size()) {
        scanner_.fail("the tuple has another number of elements than its type", at);
      }
      return c10::ivalue::Tuple::createNamed(std::move(elements), tuple_type);
    }
    return c10::ivalue::Tuple::create(std::move(elements));
  }

  IValue parse_dict_or_tensor(const TypePtr& type) {
    const size_t at = scanner_.position();
    const bool is_dict = !type || type->kind() != TypeKind::TensorType;
    scanner_.expect("{");
    std::vector<std::pair<IValue, IValue>> entries;
    if (!scanner_.take("}")) {
      do {
        IValue key = parse_value(contained(type, TypeKind::DictType, 0));
        if (!scanner_.take(":")) {
          scanner_.set_position(at);
          return one_element(TensorType::get()->expectRef<TensorType>());
        }
        entries.emplace_back(std::move(key), parse_value(contained(type, TypeKind::DictType, 1)));
      } while (scanner_.take(","));
      scanner_.expect("}");
    }
    TypePtr key_type = contained(type, TypeKind::DictType, 0);
    TypePtr value_type = contained(type, TypeKind::DictType, 1);
    if (!is_dict || (entries.empty() && !key_type)) {
      scanner_.fail("the types of this dict are not known", at);
    }
    key_type = key_type ? key_type : entries[0].first.type();
    value_type = value_type ? value_type : entries[0].second.type();
    try {
      c10::impl::GenericDict dict(key_type, value_type);
      for (auto& [key, value] : entries) {
        TORCH_CHECK(
            key.type()->isSubtypeOf(*key_type) && value.type()->isSubtypeOf(*value_type),
            "the dict holds an entry of other types");
        dict.insert_or_assign(std::move(key), std::move(value));
      }
      return dict;
    } catch (const c10::Error& error) {
      scanner_.fail(error.what_without_backtrace(), at);
    }
  }

  // ---- tensors
  at::Tensor parse_tensor(const TensorType& type) {
    const size_t at = scanner_.position();
    if (scanner_.peek() == '{') {
      return one_element(type);
    }
    if (scanner_.take("<Tensor>")) {
      return type.undefined() == true ? at::Tensor() : missing_tensor(type, at);
    }
    // As tensors are printed: up to "[ CPUFloatType{2,3} ]".
    const std::string_view rest = scanner_.rest();
    const size_t line_end = std::min(rest.find('\n'), rest.size());
    const size_t brace = rest.substr(0, line_end).find("Type{");
    const size_t end = brace == std::string_view::npos ? brace : rest.substr(0, line_end).find(" ]", brace);
    if (end == std::string_view::npos) {
      scanner_.fail("expected a tensor here", at);
    }
    scanner_.set_position(scanner_.position() + end + 2);
    return missing_tensor(type, at);
  }

  static at::TensorOptions options_of(const TensorType& type) {
    return at::TensorOptions().dtype(type.scalarType().value_or(at::kFloat));
  }

  at::Tensor one_element(const TensorType& type) {
    const size_t at = scanner_.position();
    scanner_.expect("{");
    const IValue number = scanner_.number();
    scanner_.expect("}");
    const auto sizes = type.sizes().concrete_sizes().value_or(std::vector<int64_t>());
    if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size != 1; })) {
      scanner_.fail("a tensor of these sizes does not have one element", at);
    }
    try {
      const bool integral = number.isInt() && !type.scalarType();
      const at::TensorOptions options = integral ? at::TensorOptions().dtype(at::kLong) : options_of(type);
      return at::scalar_tensor(number.toScalar(), options).view(sizes);
    } catch (const c10::Error& error) {
      scanner_.fail(error.what_without_backtrace(), at);
    }
  }

  at::Tensor missing_tensor(const TensorType& type, size_t at) {
    if (!parse_tensors_) {
      scanner_.fail("Tensor constant encountered but `parse_tensor_constants` set to false", at);
    }
    const auto sizes = type.sizes().concrete_sizes().value_or(std::vector<int64_t>{1});
    int64_t elements = 1;
    for (const int64_t size : sizes) {
      elements = size > 0 && elements > kMaxElements / size ? kMaxElements + 1 : elements * size;
    }
    try {
      if (elements > kMaxElements) {
        return at::zeros({}, options_of(type)).expand(sizes);
      }
      return at::zeros(sizes, options_of(type));
    } catch (const c10::Error& error) {
      scanner_.fail(error.what_without_backtrace(), at);
    }
  }

  IRScanner scanner_;
  Graph* graph_;
  std::unordered_map<std::string, Value*>& values_;
  bool parse_tensors_;
  IRTypes types_;
  int depth_ = 0;
  std::unordered_map<std::string, ScopePtr> scopes_;
  std::unordered_set<std::string> subgraph_names_;
  std::unordered_map<std::string, std::vector<Node*>> pending_subgraphs_;
};

} // namespace

void parseIR(
    const std::string& str,
    Graph* graph,
    std::unordered_map<std::string, Value*>& vmap,
    bool parse_tensor_constants,
    const std::function<TypePtr(const std::string& qualified_name)>& lookup) {
  TORCH_CHECK(graph, "parseIR: there is no graph to read into");
  IRParser(str, graph, vmap, parse_tensor_constants, lookup).parse();
  graph->lint();
}

void parseIR(
    const std::string& str, Graph* graph, std::unordered_map<std::string, Value*>& vmap, bool parse_tensor_constants) {
  parseIR(str, graph, vmap, parse_tensor_constants, nullptr);
}

void parseIR(const std::string& str, Graph* graph, bool parse_tensor_constants) {
  std::unordered_map<std::string, Value*> vmap;
  parseIR(str, graph, vmap, parse_tensor_constants);
}

} // namespace torch::jit
