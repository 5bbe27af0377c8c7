#include <csrc/jit/jit_log.h>

#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/ir/ir.h>
#include <csrc/jit/serialize/python_print.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string_view>
#include <unordered_map>

namespace torch::jit {

namespace {

std::string_view file_of(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string without_ending(std::string_view file) {
  return std::string(file.substr(0, file.find('.')));
}

class LogSettings {
 public:
  static LogSettings& get() {
    static LogSettings& settings = *new LogSettings();
    return settings;
  }

  const std::string& levels() const {
    return levels_;
  }
  void set_levels(std::string levels) {
    levels_ = std::move(levels);
    files_.clear();
    std::istringstream names(levels_);
    for (std::string name; std::getline(names, name, ':');) {
      const size_t begin = std::min(name.find_first_not_of('>'), name.size());
      if (begin < name.size()) {
        files_[without_ending(name.substr(begin))] = begin;
      }
    }
  }
  bool logs(const char* path, JitLoggingLevels level) const {
    if (files_.empty()) {
      return false;
    }
    const auto found = files_.find(without_ending(file_of(path)));
    return found != files_.end() && static_cast<size_t>(level) <= found->second;
  }

  std::ostream* out = &std::cerr;

 private:
  LogSettings() {
    const char* levels = std::getenv("PYTORCH_JIT_LOG_LEVEL");
    set_levels(levels ? levels : "");
  }

  std::string levels_;
  // The number of marks before the name.
  std::unordered_map<std::string, size_t> files_;
};

} // namespace

std::string get_jit_logging_levels() {
  return LogSettings::get().levels();
}
void set_jit_logging_levels(std::string level) {
  LogSettings::get().set_levels(std::move(level));
}
void set_jit_logging_output_stream(std::ostream& out_stream) {
  LogSettings::get().out = &out_stream;
}
std::ostream& get_jit_logging_output_stream() {
  return *LogSettings::get().out;
}
bool is_enabled(const char* cfname, JitLoggingLevels level) {
  return LogSettings::get().logs(cfname, level);
}

std::string getHeader(const Node* node) {
  std::ostringstream out;
  node->print(out, 0, nullptr, false, false, false, false);
  std::string line = out.str();
  return line.substr(0, line.find('\n'));
}

std::string log_function(const std::shared_ptr<Graph>& graph) {
  const GraphFunction function("source_dump", graph->copy(), nullptr);
  std::vector<at::IValue> constants;
  PrintDepsTable types;
  PythonPrint printer(constants, types);
  printer.printFunction(function);
  return printer.str();
}

std::string jit_log_prefix(const std::string& prefix, const std::string& in_str) {
  std::istringstream lines(in_str);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    out += prefix + line + '\n';
  }
  return out;
}

std::string jit_log_prefix(JitLoggingLevels level, const char* fn, int l, const std::string& in_str) {
  std::ostringstream prefix;
  prefix << '[' << level << ' ' << file_of(fn) << ':' << std::setfill('0') << std::setw(3) << l << "] ";
  return jit_log_prefix(prefix.str(), in_str);
}

std::ostream& operator<<(std::ostream& out, JitLoggingLevels level) {
  switch (level) {
    case JitLoggingLevels::GRAPH_DUMP:
      return out << "DUMP";
    case JitLoggingLevels::GRAPH_UPDATE:
      return out << "UPDATE";
    case JitLoggingLevels::GRAPH_DEBUG:
      return out << "DEBUG";
  }
  return out << "UNKNOWN";
}

} // namespace torch::jit
