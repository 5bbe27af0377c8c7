// Graphs of operators: what torch.fx has in Python.
#pragma once

#include <csrc/fx/node.h>
#include <csrc/fx/size_table.h>

#include <deque>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch::fx {

/// Named arguments of call_operator.
using Kwargs = std::vector<std::pair<std::string, Arg>>;

// Note [Graphs]
// A graph is a list of nodes in the order in which they run. A node takes results of nodes before it. The first nodes
// may be placeholders, which stand for the graph's inputs; the last is the output, whose arguments are the results.
//
// Operators are those of the dispatcher, overload by overload. All arguments of the schema are there, so that a pass
// finds an argument at its place, and constants have the type that the schema says. Numbers, parts of lists and
// functions that run graphs (cond) are done by functions; see function.h.
//
// An operator may write to its arguments, and results may share memory with arguments, as its schema says. A pass that
// moves or merges nodes must heed it; see effects.h.
//
// A graph, its nodes and tables are used by one thread at a time; graphs that nobody changes by any number.

/// A graph of operators. Always held by a shared_ptr: nodes refer to it.
class TORCH_API Graph : public std::enable_shared_from_this<Graph> {
 public:
  /// An empty graph.
  static std::shared_ptr<Graph> create();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // --- making nodes, at the insert point: before the output, where nothing else is set

  /// An input, behind the other inputs.
  Node* placeholder(const std::string& name);
  /// A tensor or other value of the module, by its path: "layer.weight".
  Node* get_attr(const std::string& path);
  /// A call of "ns::name.overload". Throws if there is no such operator or the arguments do not fit its schema.
  Node* call_operator(std::string_view name, std::vector<Arg> args, Kwargs kwargs = {});
  Node* call_operator(const c10::OperatorHandle& op, std::vector<Arg> args, Kwargs kwargs = {});
  /// A call of a function, see function.h.
  Node* call_function(const std::string& name, std::vector<Arg> args, uint32_t num_results = 1);
  /// Ends the graph. There is one output; a second call replaces its results.
  Node* output(std::vector<Arg> results);
  /// A copy of a node of any graph, with `map_arg` for the results that it takes.
  Node* node_copy(const Node* node, const std::function<Arg(Value)>& map_arg);

  // --- the nodes

  class iterator;
  class Range;
  /// All nodes in order; the node at hand may be erased while going through them.
  Range nodes() const;
  Node* first() const {
    return first_;
  }
  Node* last() const {
    return last_;
  }
  size_t size() const {
    return size_;
  }
  /// Placeholders in order.
  std::vector<Node*> placeholders() const;
  /// nullptr while there is none.
  Node* output_node() const {
    return output_;
  }
  /// Calls of "ns::name", "ns::name.overload", or of a function.
  std::vector<Node*> find_nodes(std::string_view target) const;
  /// nullptr if no node is called so.
  Node* find_node(const std::string& name) const;
  /// Above the ids of all nodes.
  uint32_t num_ids() const {
    return static_cast<uint32_t>(arena_.size());
  }

  // --- changing it

  /// Where new nodes go, until it dies.
  class TORCH_API InsertPoint {
   public:
    InsertPoint(InsertPoint&& other) noexcept;
    ~InsertPoint();

   private:
    friend class Graph;
    InsertPoint(Graph* graph, Node* before);
    Graph* graph_;
    Node* saved_;
  };
  /// `const auto here = graph.inserting_before(node);`
  [[nodiscard]] InsertPoint inserting_before(Node* node);
  [[nodiscard]] InsertPoint inserting_after(Node* node);
  /// Throws while the node has users.
  void erase_node(Node* node);
  /// Puts a copy of `other`'s nodes at the insert point, with `inputs` for its placeholders; gives its results.
  std::vector<Arg> inline_graph(const Graph& other, const std::vector<Arg>& inputs);
  /// A copy of all.
  std::shared_ptr<Graph> copy() const;
  /// A graph of `nodes` (calls and attributes of this graph), whose inputs are the results that they take from
  /// elsewhere and whose results are those that others take. `inputs` and `outputs` get these values of this graph.
  std::shared_ptr<Graph> extract(
      const std::vector<Node*>& nodes, std::vector<Value>& inputs, std::vector<Value>& outputs) const;
  /// Erases what nothing uses and what has no effect; gives whether there was something. Placeholders stay.
  bool eliminate_dead_code();

  // --- looking at it

  /// Throws c10::Error when the graph breaks a rule of Note [Graphs].
  void lint() const;
  /// The text form, which parse() reads back.
  std::string to_string() const;
  /// The graph of a text; throws c10::Error with line and column where it is none.
  static std::shared_ptr<Graph> parse(std::string_view text);
  /// A table with a line for each node.
  std::string format_tabular() const;
  /// Prints format_tabular().
  void print_tabular() const;
  /// A picture in the language of Graphviz: `dot -Tsvg`.
  std::string to_dot() const;

  SizeTable& sizes() {
    return sizes_;
  }
  /// Another number after each change.
  uint64_t version() const {
    return version_;
  }
  const SizeTable& sizes() const {
    return sizes_;
  }

 private:
  friend class Node;
  Graph();
  Node* create_node(NodeKind kind, const std::string& name);
  void link_before(Node* node, Node* place);
  void unlink(Node* node);
  std::string unique_name(const std::string& wanted);
  void check_own(const std::vector<Arg>& args) const;
  Node::Use* new_use();

  std::deque<Node> arena_;
  std::deque<Node::Use> use_arena_;
  Node::Use* free_uses_ = nullptr;
  Node* first_ = nullptr;
  Node* last_ = nullptr;
  Node* output_ = nullptr;
  Node* last_placeholder_ = nullptr;
  Node* insert_before_ = nullptr;
  size_t size_ = 0;
  uint64_t version_ = 0;
  uint32_t depth_ = 1; // graphs in graphs
  SizeTable sizes_;
  std::unordered_map<std::string, Node*> names_;
  std::unordered_map<std::string, uint32_t> next_suffix_;
};

/// Goes through the nodes of a graph.
class Graph::iterator {
 public:
  explicit iterator(Node* node) : node_(node), next_(node ? node->next() : nullptr) {}
  Node* operator*() const {
    return node_;
  }
  iterator& operator++() {
    *this = iterator(next_);
    return *this;
  }
  bool operator!=(const iterator& other) const {
    return node_ != other.node_;
  }

 private:
  Node* node_;
  Node* next_;
};

/// The nodes of a graph, in order.
class Graph::Range {
 public:
  explicit Range(Node* first) : first_(first) {}
  iterator begin() const {
    return iterator(first_);
  }
  iterator end() const {
    return iterator(nullptr);
  }

 private:
  Node* first_;
};

inline Graph::Range Graph::nodes() const {
  return Range(first_);
}

/// Prints the text form.
TORCH_API std::ostream& operator<<(std::ostream& out, const Graph& graph);

} // namespace torch::fx
