// Renders chat templates for tools/peer/templates/compare: render CASES RESULTS NOW. A case is a template and
// variables, each a 32-bit length and bytes; a result is 1 for an error or 0, a length, and the text or the message.
#include <torch/llm.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace {

std::string take_text(const std::string& bytes, size_t& at) {
  uint32_t size = 0;
  std::memcpy(&size, bytes.data() + at, 4);
  at += 4 + size;
  return bytes.substr(at - size, size);
}

void write(std::string& out, uint32_t failed, const std::string& text) {
  const auto size = static_cast<uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&failed), 4);
  out.append(reinterpret_cast<const char*>(&size), 4);
  out += text;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: render CASES RESULTS NOW\n", stderr);
    return 2;
  }
  std::ostringstream read;
  read << std::ifstream(argv[1], std::ios::binary).rdbuf();
  const std::string bytes = read.str();
  const std::time_t now = std::atoll(argv[3]);
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    const std::string source = take_text(bytes, at), variables = take_text(bytes, at);
    try {
      torch::llm::ChatTemplate chat(source);
      chat.set_clock([now] { return now; });
      write(out, 0, chat.render(variables));
    } catch (const c10::Error& error) {
      write(out, 1, error.what_without_backtrace());
    }
  }
  std::ofstream(argv[2], std::ios::binary) << out;
  return 0;
}
