// A log of what passes do to graphs, by file and level.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/StringUtil.h>

#include <memory>
#include <ostream>
#include <string>

namespace torch::jit {

struct Graph;
struct Node;

/// How much a file logs: whole graphs, also each change, also what helps to debug the pass.
enum class JitLoggingLevels { GRAPH_DUMP = 0, GRAPH_UPDATE, GRAPH_DEBUG };

/// The files that log, as in the environment variable PYTORCH_JIT_LOG_LEVEL: names of source files without their
/// endings, separated by ":". `>` before a name logs updates, too, `>>` all.
TORCH_API std::string get_jit_logging_levels();
/// In place of those. No thread may be logging.
TORCH_API void set_jit_logging_levels(std::string level);
/// Where the log goes; std::cerr at first. It must live as long as anything logs.
TORCH_API void set_jit_logging_output_stream(std::ostream& out_stream);
TORCH_API std::ostream& get_jit_logging_output_stream();
/// A node in one line, without its blocks.
TORCH_API std::string getHeader(const Node* node);
/// The graph as the source of a function.
TORCH_API std::string log_function(const std::shared_ptr<Graph>& graph);
/// Each line with the prefix before it.
TORCH_API std::string jit_log_prefix(const std::string& prefix, const std::string& in_str);
/// Each line with the level, the file and the line before it: `[DUMP file.cpp:012] `.
TORCH_API std::string jit_log_prefix(JitLoggingLevels level, const char* fn, int l, const std::string& in_str);
/// Whether the file, given by its path, logs what is of this level.
TORCH_API bool is_enabled(const char* cfname, JitLoggingLevels level);
/// DUMP, UPDATE or DEBUG.
TORCH_API std::ostream& operator<<(std::ostream& out, JitLoggingLevels level);

} // namespace torch::jit

// Macros, since they know the file and the line, and evaluate their arguments only where the file logs.

/// Logs what the arguments make as text.
#define JIT_LOG(level, ...)                                                                  \
  if (::torch::jit::is_enabled(__FILE__, level)) {                                           \
    ::torch::jit::get_jit_logging_output_stream()                                            \
        << ::torch::jit::jit_log_prefix(level, __FILE__, __LINE__, ::c10::str(__VA_ARGS__)); \
  }
/// Logs a graph as source.
#define SOURCE_DUMP(MSG, G) \
  JIT_LOG(::torch::jit::JitLoggingLevels::GRAPH_DUMP, MSG, '\n', ::torch::jit::log_function(G));
/// Logs a graph: after a pass.
#define GRAPH_DUMP(MSG, G) JIT_LOG(::torch::jit::JitLoggingLevels::GRAPH_DUMP, MSG, '\n', (G)->toString());
/// Logs one change of a graph.
#define GRAPH_UPDATE(...) JIT_LOG(::torch::jit::JitLoggingLevels::GRAPH_UPDATE, __VA_ARGS__);
/// Logs what helps to debug a pass.
#define GRAPH_DEBUG(...) JIT_LOG(::torch::jit::JitLoggingLevels::GRAPH_DEBUG, __VA_ARGS__);
/// Logs a graph between marks by which scripts find it.
#define GRAPH_EXPORT(MSG, G) \
  JIT_LOG(::torch::jit::JitLoggingLevels::GRAPH_DEBUG, MSG, "\n<GRAPH_EXPORT>\n", (G)->toString(), "</GRAPH_EXPORT>");
/// Whether this file logs graphs, updates, all.
#define GRAPH_DUMP_ENABLED (::torch::jit::is_enabled(__FILE__, ::torch::jit::JitLoggingLevels::GRAPH_DUMP))
#define GRAPH_UPDATE_ENABLED (::torch::jit::is_enabled(__FILE__, ::torch::jit::JitLoggingLevels::GRAPH_UPDATE))
#define GRAPH_DEBUG_ENABLED (::torch::jit::is_enabled(__FILE__, ::torch::jit::JitLoggingLevels::GRAPH_DEBUG))
