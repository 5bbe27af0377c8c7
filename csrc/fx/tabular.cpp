// Graphs for people: a table, and a picture.
#include <csrc/fx/graph.h>

#include <csrc/fx/print.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace torch::fx {

namespace {

using Row = std::array<std::string, 5>;

std::string args_text(const Node& node) {
  std::string text;
  for (const Arg& arg : node.args()) {
    const bool is_graph = arg.kind() == Arg::Kind::Graph;
    text += (text.empty() ? "(" : ", ") + (is_graph ? "graph" : print_arg(arg, node.graph().sizes()));
  }
  return text.empty() ? "()" : text + ")";
}

std::string result_text(const Node& node) {
  std::string text;
  for (uint32_t i = 0; i < node.num_results(); ++i) {
    const TensorInfo* info = node.info(i);
    text += (i == 0 ? "" : ", ") + (info ? print_info(*info, node.graph().sizes()) : std::string("?"));
  }
  return text == "?" ? "" : text;
}

std::string dot_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '{' || c == '}' || c == '|' || c == '<' || c == '>') {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

} // namespace

std::string Graph::format_tabular() const {
  std::vector<Row> rows{{"opcode", "name", "target", "args", "result"}};
  for (const Node* node : nodes()) {
    rows.push_back({node->op(), node->name(), node->target(), args_text(*node), result_text(*node)});
  }
  std::array<size_t, 5> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) {
      line += fmt::format("{:<{}}", rows[r][i], widths[i]) + (i + 1 < widths.size() ? "  " : "");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r == 0) {
      for (size_t i = 0; i < widths.size(); ++i) {
        text += std::string(widths[i], '-') + (i + 1 < widths.size() ? "  " : "\n");
      }
    }
  }
  return text;
}

void Graph::print_tabular() const {
  const std::string text = format_tabular();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string Graph::to_dot() const {
  std::string text = "digraph {\n  node [shape=record, fontname=\"monospace\"];\n";
  for (const Node* node : nodes()) {
    const std::string shown = result_text(*node);
    text += fmt::format(
        "  n{} [label=\"{{{}|{}{}}}\"];\n", node->id(), dot_escaped("%" + node->name()), dot_escaped(node->target()),
        shown.empty() ? "" : "|" + dot_escaped(shown));
    for (const Node* input : node->all_input_nodes()) {
      text += fmt::format("  n{} -> n{};\n", input->id(), node->id());
    }
  }
  return text + "}\n";
}

} // namespace torch::fx
