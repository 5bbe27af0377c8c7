// Compiles sources and writes what is said of them: both are separated by zero bytes, on stdin and stdout. What
// compiles gives an empty text. Compiles against libtorch and against libtensor; torchscript_errors runs it.
#include <torch/jit.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>

namespace {

void answer(const std::string& source) {
  try {
    torch::jit::compile(source);
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace();
  } catch (const std::exception& error) {
    std::cout << error.what();
  }
  std::cout << std::flush;
}

} // namespace

int main() {
  const std::string sources{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  for (size_t begin = 0; begin < sources.size();) {
    const size_t end = std::min(sources.find('\0', begin), sources.size());
    // A source may bring the compiler down.
    const pid_t child = fork();
    if (child == 0) {
      answer(sources.substr(begin, end - begin));
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    std::cout << '\0' << std::flush;
    begin = end + 1;
  }
}
