// The readers of files, called with bytes that nobody would write. An input is one byte that names the reader, then the
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fuzz {

struct Reader {
  const char* name;
  /// Reads the file and every value in it. Throws what the reader throws.
  void (*read)(const std::string& bytes);
};

const std::vector<Reader>& readers();

/// Calls the reader of the input. A value or c10::Error is right; other exceptions, and blocks of memory far beyond the
/// size of the file, end the process with a message.
void read_input(const uint8_t* data, size_t size);

/// Inputs that the library's own writers made, some for each reader.
std::vector<std::string> written_inputs();

/// Puts right checksums into a ZIP file inside an input, so that changes reach what lies behind them.
void reseal(uint8_t* input, size_t size);

} // namespace fuzz
