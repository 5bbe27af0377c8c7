#include "test/support/doc_code.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace test {

namespace {

std::ifstream opened(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error("cannot read " + path.string());
  }
  return file;
}

std::string without_blanks(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }), text.end());
  return text;
}

} // namespace

DocCode look_for_doc_code(const std::filesystem::path& page, const std::filesystem::path& source) {
  std::ifstream text = opened(page), code = opened(source);
  const std::string compiled = without_blanks({std::istreambuf_iterator<char>(code), std::istreambuf_iterator<char>()});
  DocCode found;
  bool in_code = false;
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("```", 0) == 0) {
      in_code = line == "```cpp";
      continue;
    }
    const std::string wanted = in_code ? without_blanks(line.substr(0, line.find(" //"))) : std::string();
    if (!wanted.empty()) {
      ++found.lines;
      if (compiled.find(wanted) == std::string::npos) {
        found.missing.push_back(line);
      }
    }
  }
  return found;
}

} // namespace test
