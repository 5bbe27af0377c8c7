// Reads the text form; its grammar is in Note [Text form].
#include <csrc/fx/graph.h>

#include <csrc/fx/print.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace torch::fx {

namespace {

using c10::IValue;

constexpr int kMaxNesting = 64;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The characters of a text, with places for messages.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[noreturn]] void fail(const std::string& what) const {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < position_ && i < text_.size(); ++i) {
      column = text_[i] == '\n' ? 1 : column + 1;
      line += text_[i] == '\n' ? 1 : 0;
    }
    TORCH_CHECK(false, "graph text, line ", line, ", column ", column, ": ", what);
  }
  void skip_spaces() {
    while (position_ < text_.size() &&
           (text_[position_] == ' ' || text_[position_] == '\n' || text_[position_] == '\t' ||
            text_[position_] == '\r' || text_[position_] == '#')) {
      if (text_[position_] == '#') {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else {
        ++position_;
      }
    }
  }
  bool at_end() {
    skip_spaces();
    return position_ >= text_.size();
  }
  char peek(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  char next() {
    skip_spaces();
    return peek();
  }
  bool accept(std::string_view token) {
    skip_spaces();
    if (text_.substr(position_, token.size()) != token) {
      return false;
    }
    // A word is not the beginning of a longer one.
    if (is_word(token.back()) && is_word(peek(token.size()))) {
      return false;
    }
    position_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) {
      fail(fmt::format("'{}' must stand here", token));
    }
  }
  std::string word() {
    skip_spaces();
    const size_t begin = position_;
    while (is_word(peek())) {
      ++position_;
    }
    if (begin == position_) {
      fail("a name must stand here");
    }
    return std::string(text_.substr(begin, position_ - begin));
  }
  /// "aten::add.Tensor", "cond", "_operator.add".
  std::string dotted() {
    std::string text = word();
    while (peek() == '.' || (peek() == ':' && peek(1) == ':')) {
      const size_t length = peek() == '.' ? 1 : 2;
      text += text_.substr(position_, length);
      position_ += length;
      text += word();
    }
    return text;
  }
  std::string_view number() {
    skip_spaces();
    const size_t begin = position_;
    position_ += peek() == '-' ? 1 : 0;
    while (is_digit(peek()) || peek() == '.' ||
           (peek() == 'e' && (is_digit(peek(1)) || peek(1) == '-' || peek(1) == '+'))) {
      position_ += peek() == 'e' ? 2 : 1;
    }
    return text_.substr(begin, position_ - begin);
  }
  std::string string() {
    expect("\"");
    std::string out;
    for (;;) {
      if (position_ >= text_.size()) {
        fail("a string does not end");
      }
      const char c = text_[position_++];
      if (c == '"') {
        return out;
      }
      out += c == '\\' ? escape() : c;
    }
  }
  size_t position() const {
    return position_;
  }
  void go_back(size_t position) {
    position_ = position;
  }

 private:
  char escape() {
    const char c = peek();
    ++position_;
    if (c == 'n') {
      return '\n';
    }
    if (c == 'x') {
      const std::string_view digits = text_.substr(std::min(position_, text_.size()), 2);
      int value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
      if (error != std::errc() || end != digits.data() + 2) {
        fail("\\x must be followed by two hexadecimal digits");
      }
      position_ += 2;
      return static_cast<char>(value);
    }
    if (c != '"' && c != '\\') {
      fail("a backslash must be followed by one of \"\\nx");
    }
    return c;
  }

  std::string_view text_;
  size_t position_ = 0;
};

class GraphParser {
 public:
  explicit GraphParser(std::string_view text) : scan_(text) {}

  std::shared_ptr<Graph> run() {
    std::shared_ptr<Graph> graph = parse_graph();
    if (!scan_.at_end()) {
      scan_.fail("text follows the graph");
    }
    return graph;
  }

 private:
  /// What belongs to the graph that is being read.
  struct Level {
    std::shared_ptr<Graph> graph = Graph::create();
    std::unordered_map<std::string, Node*> names;
  };

  std::shared_ptr<Graph> parse_graph() {
    nest();
    Level level;
    Level* const outer = level_;
    level_ = &level;
    scan_.expect("graph");
    if (scan_.accept("[")) {
      do {
        parse_symbol();
      } while (scan_.accept(","));
      scan_.expect("]");
    }
    scan_.expect("(");
    if (!scan_.accept(")")) {
      do {
        Node* const node = level.graph->placeholder(new_name());
        finish(node, parse_infos());
      } while (scan_.accept(","));
      scan_.expect(")");
    }
    scan_.expect("{");
    while (!scan_.accept("return")) {
      parse_node();
    }
    scan_.expect("(");
    level.graph->output(parse_list(")"));
    scan_.expect("}");
    level_ = outer;
    --nesting_;
    return level.graph;
  }

  void nest() {
    if (++nesting_ > kMaxNesting) {
      scan_.fail(fmt::format("graphs and lists are nested more than {} deep", kMaxNesting));
    }
  }

  Graph& graph() {
    return *level_->graph;
  }

  /// Runs what makes part of a graph, so that its errors tell the place.
  template <class Make>
  auto make(const Make& make) {
    try {
      return make();
    } catch (const c10::Error& e) {
      scan_.fail(e.what_without_backtrace());
    }
  }

  void parse_symbol() {
    const std::string name = scan_.word();
    std::optional<int64_t> min, max;
    if (scan_.accept("in")) {
      scan_.expect("[");
      min = parse_bound();
      scan_.expect(",");
      max = parse_bound();
      scan_.expect("]");
    }
    graph().sizes().symbol(name, min, max);
  }

  std::optional<int64_t> parse_bound() {
    if (scan_.accept("-inf") || scan_.accept("inf")) {
      return std::nullopt;
    }
    return integer(scan_.number());
  }

  int64_t integer(std::string_view digits) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      scan_.fail("an integer of 64 bits must stand here");
    }
    return value;
  }

  std::string new_name() {
    scan_.expect("%");
    std::string name = scan_.word();
    if (level_->names.count(name) != 0) {
      scan_.fail(fmt::format("the name %{} stands for two nodes", name));
    }
    return name;
  }

  void finish(Node* node, const std::vector<std::optional<TensorInfo>>& infos) {
    if (infos.size() > node->num_results()) {
      scan_.fail(fmt::format("node %{} has {} results", node->name(), node->num_results()));
    }
    for (uint32_t i = 0; i < infos.size(); ++i) {
      node->set_info(infos[i], i);
    }
    level_->names[node->name()] = node;
  }

  void parse_node() {
    const std::string name = new_name();
    const auto infos = parse_infos();
    scan_.expect("=");
    const std::string target = scan_.dotted();
    Node* node = nullptr;
    if (target == "get_attr") {
      scan_.expect("(");
      node = graph().get_attr(scan_.string());
      scan_.expect(")");
    } else if (target.find("::") != std::string::npos) {
      node = parse_operator(target);
    } else {
      const int64_t results = scan_.accept("->") ? integer(scan_.number()) : 1;
      if (results < 0 || results > 100000) {
        scan_.fail("a function has from 0 to 100000 results");
      }
      scan_.expect("(");
      std::vector<Arg> args = parse_list(")");
      node = make([&] { return graph().call_function(target, std::move(args), static_cast<uint32_t>(results)); });
    }
    if (scan_.accept("@")) {
      node->set_module_path(scan_.string());
    }
    node->set_name(name);
    finish(node, infos);
  }

  Node* parse_operator(const std::string& target) {
    scan_.expect("(");
    std::vector<Arg> args;
    Kwargs kwargs;
    if (!scan_.accept(")")) {
      do {
        if (const std::string keyword = accept_keyword(); !keyword.empty()) {
          kwargs.emplace_back(keyword, parse_arg());
        } else if (kwargs.empty()) {
          args.push_back(parse_arg());
        } else {
          scan_.fail("an argument without a name follows one with a name");
        }
      } while (scan_.accept(","));
      scan_.expect(")");
    }
    return make([&] { return graph().call_operator(target, std::move(args), std::move(kwargs)); });
  }

  /// "dim=" as "dim"; empty if no keyword stands here.
  std::string accept_keyword() {
    scan_.skip_spaces();
    const size_t begin = scan_.position();
    if (is_word(scan_.peek()) && !is_digit(scan_.peek())) {
      std::string word = scan_.word();
      if (scan_.accept("=")) {
        return word;
      }
    }
    scan_.go_back(begin);
    return "";
  }

  std::vector<std::optional<TensorInfo>> parse_infos() {
    std::vector<std::optional<TensorInfo>> infos;
    if (scan_.accept(":")) {
      do {
        // After the last result of an input the next input follows.
        infos.push_back(scan_.accept("?") ? std::nullopt : std::optional<TensorInfo>(parse_info()));
        const size_t here = scan_.position();
        if (scan_.accept(",") && scan_.next() != '%') {
          continue;
        }
        scan_.go_back(here);
        break;
      } while (true);
    }
    return infos;
  }

  TensorInfo parse_info() {
    TensorInfo info;
    const std::string name = scan_.word();
    const auto dtype = find_dtype(name);
    if (!dtype) {
      scan_.fail(fmt::format("'{}' is no dtype", name));
    }
    info.dtype = *dtype;
    info.sizes = parse_dims();
    bool has_strides = false;
    if (scan_.accept("strides")) {
      info.strides = parse_dims();
      has_strides = true;
    }
    for (const auto& [word, layout] :
         {std::pair("sparse_coo", c10::kSparse), std::pair("sparse_csr", c10::kSparseCsr),
          std::pair("sparse_csc", c10::kSparseCsc), std::pair("sparse_bsr", c10::kSparseBsr),
          std::pair("sparse_bsc", c10::kSparseBsc), std::pair("_mkldnn", c10::kMkldnn)}) {
      info.layout = scan_.accept(word) ? layout : info.layout;
    }
    if (scan_.accept("device")) {
      info.device = parse_device();
    }
    if (!has_strides && info.layout == c10::kStrided) {
      add_plain_strides(info);
    }
    return info;
  }

  static void add_plain_strides(TensorInfo& info) {
    std::vector<Dim> strides(info.sizes.size());
    int64_t stride = 1;
    for (size_t i = info.sizes.size(); i-- > 0;) {
      strides[i] = stride;
      if (info.sizes[i].is_expression() ||
          __builtin_mul_overflow(stride, std::max<int64_t>(1, info.sizes[i].value()), &stride)) {
        return;
      }
    }
    info.strides = std::move(strides);
  }

  c10::Device parse_device() {
    scan_.expect("(");
    const std::string name = scan_.string();
    scan_.expect(")");
    return make([&] { return c10::Device(name); });
  }

  std::vector<Dim> parse_dims() {
    std::vector<Dim> dims;
    scan_.expect("[");
    if (scan_.accept("]")) {
      return dims;
    }
    do {
      dims.push_back(parse_size());
    } while (scan_.accept(","));
    scan_.expect("]");
    return dims;
  }

  Dim parse_size() {
    nest();
    Dim dim = parse_product();
    for (;;) {
      if (scan_.accept("+")) {
        dim = make_size(SizeOp::Add, dim, parse_product());
      } else if (scan_.next() == '-') {
        scan_.expect("-");
        dim = make_size(SizeOp::Sub, dim, parse_product());
      } else {
        --nesting_;
        return dim;
      }
    }
  }

  Dim parse_product() {
    Dim dim = parse_size_atom();
    for (;;) {
      if (scan_.accept("*")) {
        dim = make_size(SizeOp::Mul, dim, parse_size_atom());
      } else if (scan_.accept("//")) {
        dim = make_size(SizeOp::FloorDiv, dim, parse_size_atom());
      } else if (scan_.next() == '%') {
        scan_.expect("%");
        dim = make_size(SizeOp::Mod, dim, parse_size_atom());
      } else {
        return dim;
      }
    }
  }

  Dim parse_size_atom() {
    if (scan_.accept("(")) {
      const Dim dim = parse_size();
      scan_.expect(")");
      return dim;
    }
    if (scan_.next() == '-' || is_digit(scan_.next())) {
      return integer(scan_.number());
    }
    for (const auto& [word, op] :
         {std::pair("ceil_div", SizeOp::CeilDiv), std::pair("min", SizeOp::Min), std::pair("max", SizeOp::Max)}) {
      if (scan_.accept(word)) {
        scan_.expect("(");
        const Dim a = parse_size();
        scan_.expect(",");
        const Dim b = parse_size();
        scan_.expect(")");
        return make_size(op, a, b);
      }
    }
    const std::string name = scan_.word();
    return make([&] { return graph().sizes().find_symbol(name); });
  }

  Dim make_size(SizeOp op, Dim a, Dim b) {
    return make([&] { return graph().sizes().make(op, a, b); });
  }

  std::vector<Arg> parse_list(std::string_view close) {
    nest();
    std::vector<Arg> items;
    if (!scan_.accept(close)) {
      do {
        items.push_back(parse_arg());
      } while (scan_.accept(","));
      scan_.expect(close);
    }
    --nesting_;
    return items;
  }

  Arg parse_arg() {
    const char c = scan_.next();
    if (c == '%') {
      return parse_value();
    }
    if (c == '"') {
      return Arg(IValue(scan_.string()));
    }
    if (c == '[') {
      scan_.expect("[");
      return Arg(parse_list("]"));
    }
    if (c == '{') {
      scan_.expect("{");
      const Dim dim = parse_size();
      scan_.expect("}");
      return Arg(dim);
    }
    if (c == '(') {
      return parse_complex();
    }
    if (scan_.accept("-inf")) {
      return Arg(IValue(-std::numeric_limits<double>::infinity()));
    }
    if (is_digit(c) || c == '-') {
      return parse_number();
    }
    return parse_word();
  }

  Arg parse_value() {
    scan_.expect("%");
    const std::string name = scan_.word();
    const auto found = level_->names.find(name);
    if (found == level_->names.end()) {
      scan_.fail(fmt::format("there is no node %{} before", name));
    }
    uint32_t result = 0;
    if (scan_.peek() == '.') {
      scan_.expect(".");
      result = static_cast<uint32_t>(std::min<int64_t>(integer(scan_.number()), UINT32_MAX));
    }
    if (result >= found->second->num_results()) {
      scan_.fail(fmt::format("node %{} has {} results", name, found->second->num_results()));
    }
    return Value{found->second, result};
  }

  double parse_double(std::string_view digits) {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      scan_.fail("a number must stand here");
    }
    return value;
  }

  Arg parse_number() {
    const std::string_view digits = scan_.number();
    if (digits.find_first_of(".e") == std::string_view::npos) {
      return Arg(IValue(integer(digits)));
    }
    return Arg(IValue(parse_double(digits)));
  }

  double parse_part() {
    if (scan_.accept("nan")) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (scan_.accept("-inf")) {
      return -std::numeric_limits<double>::infinity();
    }
    if (scan_.accept("inf")) {
      return std::numeric_limits<double>::infinity();
    }
    return parse_double(scan_.number());
  }

  /// "(1.0+2.0j)". The imaginary part may be "infj" or "nanj".
  Arg parse_complex() {
    scan_.expect("(");
    const double real = parse_part();
    const bool minus = scan_.next() == '-';
    scan_.expect(minus ? "-" : "+");
    double imag = 0;
    if (scan_.accept("nanj")) {
      imag = std::numeric_limits<double>::quiet_NaN();
    } else if (scan_.accept("infj")) {
      imag = std::numeric_limits<double>::infinity();
    } else {
      imag = parse_double(scan_.number());
      scan_.expect("j");
    }
    scan_.expect(")");
    return Arg(IValue(c10::complex<double>(real, minus ? -imag : imag)));
  }

  Arg parse_word() {
    scan_.skip_spaces();
    const size_t begin = scan_.position();
    const std::string word = scan_.word();
    if (word == "graph") {
      scan_.go_back(begin);
      return Arg(parse_graph());
    }
    if (word == "None") {
      return Arg();
    }
    if (word == "True" || word == "False") {
      return Arg(IValue(word == "True"));
    }
    if (word == "nan") {
      return Arg(IValue(std::numeric_limits<double>::quiet_NaN()));
    }
    if (word == "inf") {
      return Arg(IValue(std::numeric_limits<double>::infinity()));
    }
    if (word == "device") {
      return Arg(IValue(parse_device()));
    }
    if (scan_.accept("[")) {
      return parse_typed_list(word);
    }
    if (const auto number = find_word(word)) {
      return Arg(IValue(*number));
    }
    scan_.fail(fmt::format("'{}' is no argument", word));
  }

  /// "int[1, 2]"; the bracket is read.
  Arg parse_typed_list(const std::string& element) {
    const std::vector<Arg> items = parse_list("]");
    const auto fill = [&](auto list) {
      for (const Arg& item : items) {
        if (!item.is_constant()) {
          scan_.fail("a list with a type holds constants");
        }
        list.push_back(make([&] { return item.constant().template to<typename decltype(list)::value_type>(); }));
      }
      return Arg(IValue(std::move(list)));
    };
    if (element == "int") {
      return fill(c10::List<int64_t>());
    }
    if (element == "float") {
      return fill(c10::List<double>());
    }
    if (element == "bool") {
      return fill(c10::List<bool>());
    }
    if (element == "str") {
      return fill(c10::List<std::string>());
    }
    scan_.fail(fmt::format("lists of constants are of int, float, bool or str, not of {}", element));
  }

  Scanner scan_;
  Level* level_ = nullptr;
  int nesting_ = 0;
};

} // namespace

std::shared_ptr<Graph> Graph::parse(std::string_view text) {
  return GraphParser(text).run();
}

} // namespace torch::fx
