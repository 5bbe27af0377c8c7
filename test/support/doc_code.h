#pragma once
// Code in pages of documentation, which a test has as well, so that it compiles.

#include <filesystem>
#include <string>
#include <vector>

namespace test {

struct DocCode {
  /// Lines of code on the page, without blank ones.
  int lines = 0;
  /// Those that the source does not have.
  std::vector<std::string> missing;
};

/// Looks for each line between ```cpp and ``` on a page, up to its comment, in a source. Blanks, and where lines end,
/// do not count. Throws std::runtime_error for a file that cannot be read.
DocCode look_for_doc_code(const std::filesystem::path& page, const std::filesystem::path& source);

} // namespace test
