#include "report.h"

#include <algorithm>
#include <cinttypes>
#include <fstream>
#include <stdexcept>

namespace conformance {

namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

} // namespace

void KnownFailures::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error("cannot read " + path);
  }
  for (std::string line; std::getline(file, line);) {
    // Case ids may hold '#', so the comment begins at one with a space before it.
    const size_t comment = line.rfind("# ");
    const bool whole_line = trimmed(line).rfind('#', 0) == 0;
    const std::string key = whole_line ? "" : trimmed(line.substr(0, comment));
    if (key.empty()) {
      continue;
    }
    reasons_[key] = comment == std::string::npos ? "no reason given" : trimmed(line.substr(comment + 1));
  }
}

const std::string* KnownFailures::find(const Case& c, Part part) const {
  for (const std::string& key : {c.id + " " + part_name(c, part), c.id}) {
    const auto found = reasons_.find(key);
    if (found != reasons_.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

void Report::add(const Case& c, const Verdict& verdict) {
  const std::string kind = part_name(c, verdict.part);
  Count& row = rows_[{c.op, kind}];
  if (verdict.status == Status::Missing) {
    ++missing_;
    ++row.missing;
    auto& [count, why] = absent_[c.op];
    ++count;
    why = verdict.why;
    return;
  }
  const std::string* expected = known_.find(c, verdict.part);
  const std::string line = c.op + " [" + kind + "] " + c.id + ": " + verdict.why;
  if (verdict.status == Status::Passed) {
    ++passed_;
    ++row.passed;
    if (expected != nullptr) {
      healed_.push_back(c.id + " [" + kind + "]");
    }
  } else if (expected != nullptr) {
    known_failures_.push_back(line + "  # " + *expected);
  } else {
    ++failed_;
    ++row.failed;
    failures_.push_back(line);
  }
}

void Report::print() const {
  print_missing();
  print_failures();
  print_rows();
  std::printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " missing\n", passed_, failed_, missing_);
}

void Report::print_rows() const {
  bool header = false;
  for (const auto& [key, count] : rows_) {
    // An absent operator is named once in the list above, so its rows would say nothing new.
    if (!verbose_ && count.failed == 0) {
      continue;
    }
    if (!header) {
      std::printf("%-52s %-9s %8s %8s %8s\n", "operator", "kind", "passed", "failed", "missing");
    }
    header = true;
    std::printf(
        "%-52s %-9s %8" PRId64 " %8" PRId64 " %8" PRId64 "\n", key.first.c_str(), key.second.c_str(), count.passed,
        count.failed, count.missing);
  }
}

void Report::print_missing() const {
  if (absent_.empty()) {
    return;
  }
  std::printf("missing operators (%zu):\n", absent_.size());
  std::string line;
  for (const auto& [op, entry] : absent_) {
    const auto& [count, why] = entry;
    std::string item = " " + op + " x" + std::to_string(count);
    if (why != "no such operator") {
      item += " (" + why + ")";
    }
    if (line.size() + item.size() > 118) {
      std::printf("%s\n", line.c_str());
      line.clear();
    }
    line += item;
  }
  std::printf("%s\n", line.c_str());
}

void Report::print_failures() const {
  const auto print = [](const char* word, std::vector<std::string> lines) {
    std::sort(lines.begin(), lines.end());
    for (const std::string& line : lines) {
      std::printf("%s %s\n", word, line.c_str());
    }
  };
  if (verbose_) {
    print("KNOWN", known_failures_);
  } else if (!known_failures_.empty()) {
    std::printf("%zu known failures, listed with --verbose\n", known_failures_.size());
  }
  print("NOW PASSES, take it off the list:", healed_);
  print("FAIL", failures_);
}

} // namespace conformance
