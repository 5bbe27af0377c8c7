#include <csrc/jit/testing/file_check.h>

#include <c10/util/Exception.h>
#include <csrc/jit/ir/ir.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

namespace torch::jit::testing {

/// One run over a text.
class FileCheck::Runner {
 public:
  Runner(const std::vector<Entry>& checks, const std::string& text) : checks_(checks), text_(text) {}

  void run() {
    for (size_t i = 0; i < checks_.size();) {
      const size_t first_not = i;
      while (i < checks_.size() && checks_[i].kind == Kind::Not) {
        ++i;
      }
      const size_t before = position_;
      const size_t match = i < checks_.size() ? apply(i) : text_.size();
      for (size_t j = first_not; j < checks_.size() && checks_[j].kind == Kind::Not && j < i; ++j) {
        check_not(checks_[j], before, match);
      }
    }
  }

 private:
  // Applies the check (a group of them, for Dag), moves `i` behind it, and returns where its match begins.
  size_t apply(size_t& i) {
    const Entry& entry = checks_[i];
    if (entry.kind == Kind::Dag) {
      return check_dag(i);
    }
    ++i;
    switch (entry.kind) {
      case Kind::Same:
        return match_in(entry, position_, line_end(position_));
      case Kind::Next: {
        const size_t next_line = std::min(line_end(position_) + 1, text_.size());
        return match_in(entry, next_line, line_end(next_line));
      }
      case Kind::Count:
      case Kind::CountExactly:
        return check_count(entry);
      case Kind::Highlighted:
        return check_highlighted(entry);
      case Kind::Regex:
        return check_regex(entry);
      default:
        return match_in(entry, position_, text_.size());
    }
  }

  size_t line_end(size_t at) const {
    return std::min(text_.find('\n', at), text_.size());
  }

  size_t find(const Entry& entry, size_t begin, size_t end) const {
    const size_t found = text_.find(entry.text, begin);
    if (found == std::string::npos || found + entry.text.size() > end) {
      fail(entry, begin, "Expected to find");
    }
    return found;
  }

  size_t match_in(const Entry& entry, size_t begin, size_t end) {
    const size_t found = find(entry, begin, end);
    position_ = found + entry.text.size();
    return found;
  }

  size_t check_count(const Entry& entry) {
    size_t first = position_;
    for (size_t n = 0; n < entry.count; ++n) {
      const size_t found = match_in(entry, position_, text_.size());
      first = n == 0 ? found : first;
    }
    if (entry.kind == Kind::CountExactly) {
      check_not(entry, position_, text_.size());
    }
    return first;
  }

  size_t check_dag(size_t& i) {
    const size_t begin = position_;
    size_t first = text_.size();
    size_t last = begin;
    for (; i < checks_.size() && checks_[i].kind == Kind::Dag; ++i) {
      const size_t found = find(checks_[i], begin, text_.size());
      first = std::min(first, found);
      last = std::max(last, found + checks_[i].text.size());
    }
    position_ = last;
    return first;
  }

  size_t check_highlighted(const Entry& entry) {
    for (size_t at = position_;;) {
      const size_t found = text_.find(entry.text, at);
      if (found == std::string::npos) {
        fail(entry, position_, "Expected to find highlighted");
      }
      const size_t line_start = found == 0 ? 0 : text_.rfind('\n', found - 1) + 1;
      const size_t below = line_end(found) + 1 + (found - line_start);
      const std::string marks(entry.text.size(), '~');
      if (below < text_.size() && text_.compare(below, marks.size(), marks) == 0) {
        position_ = below + marks.size();
        return found;
      }
      at = found + 1;
    }
  }

  size_t check_regex(const Entry& entry) {
    std::smatch match;
    const std::string rest = text_.substr(position_);
    if (!std::regex_search(rest, match, std::regex(entry.text))) {
      fail(entry, position_, "Expected to find a match of");
    }
    const size_t found = position_ + static_cast<size_t>(match.position(0));
    position_ = found + static_cast<size_t>(match.length(0));
    return found;
  }

  void check_not(const Entry& entry, size_t begin, size_t end) const {
    const size_t found = text_.find(entry.text, begin);
    if (found != std::string::npos && found + entry.text.size() <= end) {
      fail(entry, found, "Expected to not find");
    }
  }

  [[noreturn]] void fail(const Entry& entry, size_t at, const char* expected) const {
    const size_t from = at > 200 ? at - 200 : 0;
    TORCH_CHECK(
        false, expected, " \"", entry.text, "\" but did",
        std::string_view(expected).find("not") == std::string_view::npos ? " not find it" : "",
        "\nSearched from the mark >>>> in:\n", text_.substr(from, at - from), ">>>>", text_.substr(at));
  }

  const std::vector<Entry>& checks_;
  const std::string& text_;
  size_t position_ = 0;
};

FileCheck::FileCheck() = default;
FileCheck::~FileCheck() = default;

FileCheck* FileCheck::add(Kind kind, const std::string& text, size_t count) {
  checks_.push_back(Entry{kind, text, count});
  return this;
}

FileCheck* FileCheck::check(const std::string& str) {
  return add(Kind::Check, str);
}
FileCheck* FileCheck::check_not(const std::string& str) {
  return add(Kind::Not, str);
}
FileCheck* FileCheck::check_same(const std::string& str) {
  return add(Kind::Same, str);
}
FileCheck* FileCheck::check_next(const std::string& str) {
  return add(Kind::Next, str);
}
FileCheck* FileCheck::check_count(const std::string& str, size_t count, bool exactly) {
  TORCH_CHECK(count > 0 || exactly, "Count must be > 0 if exactly is not set");
  return add(exactly ? Kind::CountExactly : Kind::Count, str, count);
}
FileCheck* FileCheck::check_dag(const std::string& str) {
  return add(Kind::Dag, str);
}
FileCheck* FileCheck::check_source_highlighted(const std::string& str) {
  return add(Kind::Highlighted, str);
}
FileCheck* FileCheck::check_regex(const std::string& str) {
  return add(Kind::Regex, str);
}

void FileCheck::reset() {
  checks_.clear();
}

// ---- checks in text -------------------------------------------------------------------------------------------------

void FileCheck::parse(const std::string& checks) {
  std::istringstream lines(checks);
  std::string line;
  while (std::getline(lines, line)) {
    const size_t at = line.find("CHECK");
    const size_t colon = line.find(": ", at == std::string::npos ? 0 : at);
    if (at == std::string::npos || colon == std::string::npos || line.find_first_not_of(" \t#") != at) {
      continue;
    }
    const std::string kind = line.substr(at + 5, colon - at - 5);
    const std::string text = line.substr(colon + 2);
    constexpr std::string_view kExactly = "-COUNT-EXACTLY-";
    constexpr std::string_view kCount = "-COUNT-";
    if (kind.empty()) {
      check(text);
    } else if (kind == "-NEXT") {
      check_next(text);
    } else if (kind == "-SAME") {
      check_same(text);
    } else if (kind == "-NOT") {
      check_not(text);
    } else if (kind == "-DAG") {
      check_dag(text);
    } else if (kind == "-SOURCE-HIGHLIGHTED") {
      check_source_highlighted(text);
    } else if (kind == "-REGEX") {
      check_regex(text);
    } else if (kind.rfind(kExactly, 0) == 0) {
      check_count(text, std::strtoull(kind.c_str() + kExactly.size(), nullptr, 10), true);
    } else if (kind.rfind(kCount, 0) == 0) {
      check_count(text, std::strtoull(kind.c_str() + kCount.size(), nullptr, 10));
    } else {
      TORCH_CHECK(false, "FileCheck: CHECK", kind, " is no check");
    }
  }
}

void FileCheck::run(const std::string& test_string) {
  Runner(checks_, test_string).run();
}

void FileCheck::run(const Graph& graph) {
  run(graph.toString());
}

void FileCheck::run(const std::string& input_checks_string, const std::string& test_string) {
  TORCH_CHECK(checks_.empty(), "Don't parse checks and test string");
  parse(input_checks_string);
  TORCH_CHECK(!checks_.empty(), "Could not parse any checks: ", input_checks_string);
  run(test_string);
}

void FileCheck::run(const std::string& input_checks_string, const Graph& graph) {
  run(input_checks_string, graph.toString());
}

} // namespace torch::jit::testing
