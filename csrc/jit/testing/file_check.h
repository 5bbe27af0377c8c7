// Tests of texts by what they must contain, in order.
#pragma once

#include <c10/macros/Export.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace torch::jit {

struct Graph;

namespace testing {

/// A list of checks, made by calls in a chain, that run() applies to a text: each looks behind the match of the one
/// before it. The checks may also stand in a text, one a line: `# CHECK: text`, CHECK-NEXT, CHECK-SAME, CHECK-NOT,
/// CHECK-DAG, CHECK-COUNT-n, CHECK-COUNT-EXACTLY-n, CHECK-SOURCE-HIGHLIGHTED, CHECK-REGEX.
struct TORCH_API FileCheck {
  FileCheck();
  FileCheck(const FileCheck&) = delete;
  FileCheck& operator=(const FileCheck&) = delete;
  ~FileCheck();

  /// Throws, and shows the place in the text, if a check does not hold.
  void run(const std::string& test_string);
  void run(const Graph& graph);
  /// Adds the checks of the first text, then runs on the second.
  void run(const std::string& input_checks_string, const std::string& test_string);
  void run(const std::string& input_checks_string, const Graph& graph);

  /// It occurs.
  FileCheck* check(const std::string& str);
  /// It does not occur before the next match. Several in a row look at the same part.
  FileCheck* check_not(const std::string& str);
  /// It occurs on the line where the match before ended.
  FileCheck* check_same(const std::string& str);
  /// It occurs on the next line.
  FileCheck* check_next(const std::string& str);
  /// It occurs so many times; if `exactly`, not more often before the end of the text.
  FileCheck* check_count(const std::string& str, size_t count, bool exactly = false);
  /// It occurs; several in a row may come in any order.
  FileCheck* check_dag(const std::string& str);
  /// It occurs, and the line below underlines it with '~'.
  FileCheck* check_source_highlighted(const std::string& str);
  /// A match of the regular expression occurs.
  FileCheck* check_regex(const std::string& str);

  /// Forgets all checks.
  void reset();

 private:
  enum class Kind { Check, Not, Same, Next, Count, CountExactly, Dag, Highlighted, Regex };
  struct Entry {
    Kind kind;
    std::string text;
    size_t count = 1;
  };
  class Runner;

  FileCheck* add(Kind kind, const std::string& text, size_t count = 1);
  void parse(const std::string& checks);

  std::vector<Entry> checks_;
};

} // namespace testing
} // namespace torch::jit
