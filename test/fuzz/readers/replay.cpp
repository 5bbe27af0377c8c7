// fuzz_readers: the readers of files with inputs of a folder and with changed ones, without libFuzzer. See kUsage.
#include "readers.h"
#include "test/fuzz/arguments.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr const char* kUsage = R"(usage: fuzz_readers [options] [FILE or FOLDER ...]
Reads the inputs given, or those that the library's writers make, then changed ones. An input is one byte that names the
reader, then the file. A crash, a foreign exception, a block of memory far beyond the file's size, or a read that
takes more than 10 s ends the run and leaves the input in the working folder.
  --changes N     changed inputs (default 20000)
  --seed N        default 1
  --time S        at most so many seconds
Exit code 0 if nothing was found, 1 if something was, 2 for wrong usage.
)";

constexpr unsigned kSecondsForOne = 10;
constexpr size_t kLargestNew = size_t{64} << 20; // for inputs of some KB

// What the handlers of signals write: the input of the moment.
const char* current = nullptr;
size_t current_size = 0;

void leave_input(int signal) {
  const int file = ::open("fuzz_readers_finding", O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (file >= 0 && ::write(file, current, current_size) == static_cast<ssize_t>(current_size)) {
    char text[] = "fuzz_readers: signal 00, the input is in fuzz_readers_finding\n";
    text[21] = static_cast<char>('0' + signal / 10);
    text[22] = static_cast<char>('0' + signal % 10);
    (void)!::write(2, text, sizeof(text) - 1);
  }
  ::_exit(1);
}

void read(const std::string& input) {
  current = input.data();
  current_size = input.size();
  ::alarm(kSecondsForOne);
  fuzz::read_input(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  ::alarm(0);
}

class Changer {
 public:
  Changer(const std::vector<std::string>& inputs, uint64_t seed) : inputs_(inputs), random_(seed) {}

  std::string next() {
    std::string input = inputs_[below(inputs_.size())];
    for (size_t changes = 1 + below(4); changes > 0 && input.size() > 1; --changes) {
      change(input);
    }
    if (below(4) != 0) {
      fuzz::reseal(reinterpret_cast<uint8_t*>(input.data()), input.size());
    }
    return input;
  }

 private:
  size_t below(size_t end) {
    return end == 0 ? 0 : random_() % end;
  }

  void change(std::string& input) {
    const size_t at = 1 + below(input.size() - 1);
    switch (below(9)) {
      case 8: // a few bytes very often: sizes, strides, elements of tuples and lists
        repeat(input, at);
        break;
      case 0:
      case 1:
        input[at] ^= static_cast<char>(1 << below(8));
        break;
      case 2:
        input[at] = static_cast<char>(random_());
        break;
      case 3: // a number where there may be one
        overwrite(input, at, kNumbers[below(std::size(kNumbers))], size_t{1} << below(4));
        break;
      case 4:
        input.erase(at, 1 + below(16));
        break;
      case 5:
        input.insert(at, input.substr(1 + below(input.size() - 1), 1 + below(32)));
        break;
      case 6: { // a piece of another file
        const std::string& other = inputs_[below(inputs_.size())];
        input.replace(at, 1 + below(32), other.substr(below(other.size()), 1 + below(64)));
        break;
      }
      default:
        if (below(8) == 0) {
          input.resize(at);
        } else { // an opcode of pickle, a sign of JSON
          input[at] = kSigns[below(sizeof(kSigns) - 1)];
        }
    }
  }

  void repeat(std::string& input, size_t at) {
    const std::string piece = input.substr(at, 1 + below(4));
    std::string many;
    for (size_t times = size_t{1} << (3 + below(13)); times > 0; --times) {
      many += piece;
    }
    input.insert(at, many);
  }

  static void overwrite(std::string& input, size_t at, uint64_t number, size_t size) {
    for (size_t i = 0; i < size && at + i < input.size(); ++i) {
      input[at + i] = static_cast<char>(number >> (8 * i));
    }
  }

  static constexpr uint64_t kNumbers[] = {0,
                                          1,
                                          0x7f,
                                          0x80,
                                          0xff,
                                          0x7fff,
                                          0xffff,
                                          0x7fffffff,
                                          0x80000000,
                                          0xffffffff,
                                          0x7fffffffffffffff,
                                          0x8000000000000000,
                                          ~0ull};
  static constexpr char kSigns[] = "(.012GJKMNQRXabc}ehj]qrst)uTUBC\x80\x81\x85\x86\x87\x88\x89\x8a\x8b{}[]\":,-9eE\\";

  const std::vector<std::string>& inputs_;
  std::mt19937_64 random_;
};

void add_file(std::vector<std::string>& inputs, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::invalid_argument("cannot read " + path.string());
  }
  inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

struct Options {
  uint64_t changes = 20000;
  uint64_t seed = 1;
  double seconds = 1e9;
  std::vector<std::string> inputs;
};

Options parse(int argc, char** argv) {
  Options options;
  fuzz::CommandLine line(argc, argv);
  while (line.next()) {
    const std::string name = line.word();
    if (name == "--changes") {
      options.changes = std::stoull(line.value());
    } else if (name == "--seed") {
      options.seed = std::stoull(line.value());
    } else if (name == "--time") {
      options.seconds = std::stod(line.value());
    } else if (name.rfind("--", 0) == 0) {
      throw std::invalid_argument("unknown option " + name);
    } else if (std::filesystem::is_directory(name)) {
      for (const auto& entry : std::filesystem::directory_iterator(name)) {
        add_file(options.inputs, entry.path());
      }
    } else {
      add_file(options.inputs, name);
    }
  }
  if (options.inputs.empty()) {
    options.inputs = fuzz::written_inputs();
  }
  return options;
}

} // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Containers of the readers are watched too: none may grow far beyond the file.
void* operator new(size_t size) {
  if (current != nullptr && size > kLargestNew) {
    std::fprintf(stderr, "fuzz_readers: operator new of %zu bytes\n", size);
    std::abort();
  }
  if (void* block = std::malloc(size == 0 ? 1 : size)) {
    return block;
  }
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, size_t) noexcept {
  std::free(block);
}
#endif

int main(int argc, char** argv) {
  Options options;
  try {
    options = parse(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), kUsage);
    return 2;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM}) {
    std::signal(signal, &leave_input);
  }
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& input : options.inputs) {
    read(input);
  }
  Changer changer(options.inputs, options.seed);
  uint64_t done = 0;
  for (; done < options.changes; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > options.seconds) {
      break;
    }
    read(changer.next());
  }
  current = nullptr;
  std::printf(
      "%zu inputs and %llu changed ones: nothing found\n", options.inputs.size(),
      static_cast<unsigned long long>(done));
  return 0;
}
