// Nodes of graphs.
#pragma once

#include <aten/core/dispatch/Dispatcher.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/ScalarType.h>
#include <c10/util/SmallVector.h>
#include <csrc/fx/arg.h>
#include <csrc/fx/function.h>

#include <optional>
#include <string>
#include <vector>

namespace torch::fx {

/// What is known of a tensor before the graph runs.
struct TORCH_API TensorInfo {
  c10::ScalarType dtype = c10::ScalarType::Float;
  c10::Device device = c10::kCPU;
  c10::Layout layout = c10::kStrided;
  std::vector<Dim> sizes;
  /// Empty when not known.
  std::vector<Dim> strides;

  /// Of a tensor.
  static TensorInfo of(const at::Tensor& tensor);
  bool operator==(const TensorInfo& other) const;
  bool operator!=(const TensorInfo& other) const {
    return !(*this == other);
  }
};

/// What a node is. FX has call_function, call_method and call_module for what is here an operator or a function.
enum class NodeKind : uint8_t { Placeholder, GetAttr, CallOperator, CallFunction, Output };

/// One step of a graph. Belongs to its graph and lives as long as it, even when it was erased.
class TORCH_API Node {
 public:
  // By graphs alone.
  class Made {
    friend class Graph;
    Made() {}
  };
  Node(Made, Graph* graph, uint32_t id, NodeKind kind) : graph_(graph), id_(id), kind_(kind) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  NodeKind kind() const {
    return kind_;
  }
  /// "placeholder", "get_attr", "call_operator", "call_function" or "output".
  const char* op() const;
  /// Unique in its graph.
  const std::string& name() const {
    return name_;
  }
  /// Renames it; another name is made where this one is taken or is no identifier.
  void set_name(const std::string& name);
  /// A number that no other node of the graph has or had, below Graph::num_ids().
  uint32_t id() const {
    return id_;
  }
  Graph& graph() const {
    return *graph_;
  }
  bool is_erased() const {
    return is_erased_;
  }

  /// "aten::add.Tensor", a function's name, the path of an attribute, the name of an input.
  std::string target() const;
  bool is_operator() const {
    return kind_ == NodeKind::CallOperator;
  }
  /// Whether it calls the operator "ns::name" or "ns::name.overload".
  bool is_operator(std::string_view name) const;
  bool is_function(std::string_view name) const;
  /// Throws unless it is_operator().
  const c10::OperatorHandle& operator_handle() const;
  const c10::FunctionSchema& schema() const {
    return operator_handle().schema();
  }
  /// Throws unless it calls a function.
  const Function& function() const;

  /// Of operators one for each argument of the schema, defaults filled in; of the output the graph's results.
  const std::vector<Arg>& args() const {
    return args_;
  }
  const Arg& arg(size_t index) const;
  /// By its name in the schema. Throws if there is none.
  const Arg& arg(std::string_view name) const;
  /// Constants become what the schema says. Throws if one cannot.
  void set_arg(size_t index, Arg arg);
  void set_args(std::vector<Arg> args);
  /// Puts `with` where `old` is in the arguments.
  void replace_input_with(Node* old, Node* with);

  /// Nodes whose results it takes, each once.
  std::vector<Node*> all_input_nodes() const;
  /// Nodes that take its results, each once, in the order in which they came to use them.
  std::vector<Node*> users() const;
  size_t num_users() const {
    return num_users_;
  }

  uint32_t num_results() const {
    return num_results_;
  }
  /// What is known of a result; nullptr if nothing is.
  const TensorInfo* info(uint32_t result = 0) const;
  void set_info(std::optional<TensorInfo> info, uint32_t result = 0);
  /// The module it came from, as a path; for people.
  const std::string& module_path() const {
    return module_path_;
  }
  void set_module_path(std::string path) {
    module_path_ = std::move(path);
  }

  /// The neighbours in the graph; nullptr at its ends.
  Node* prev() const {
    return prev_;
  }
  Node* next() const {
    return next_;
  }
  /// Moves this node before (behind) another of the graph.
  void prepend(Node* node);
  void append(Node* node);
  /// Lets all users take `with` instead, result by result, but for `with` itself. Gives the users.
  std::vector<Node*> replace_all_uses_with(Node* with);
  std::vector<Node*> replace_all_uses_with(const std::vector<Arg>& with);
  /// "%y = aten::add.Tensor(%x, 1)".
  std::string format_node() const;

 private:
  friend class Graph;
  /// Of one user and one node that it uses; in the list of that node.
  struct Use {
    Node* user;
    Node* used;
    Use* prev;
    Use* next;
  };
  void link_uses();
  void unlink_uses();

  Graph* graph_;
  Node* prev_ = nullptr;
  Node* next_ = nullptr;
  uint32_t id_;
  uint32_t num_results_ = 1;
  uint32_t num_users_ = 0;
  NodeKind kind_;
  bool is_erased_ = false;
  std::optional<c10::OperatorHandle> operator_;
  const Function* function_ = nullptr;
  std::string name_;
  std::string attribute_; // of GetAttr
  std::vector<Arg> args_;
  Use* first_use_ = nullptr; // of this node, by others
  Use* last_use_ = nullptr;
  c10::SmallVector<Use*, 3> uses_; // by this node, of others
  std::vector<std::optional<TensorInfo>> infos_;
  std::string module_path_;
};

} // namespace torch::fx
