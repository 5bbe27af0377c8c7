// fuzz_llm: tokenizers, chat templates, configs, GGUF files and the models in them, of test/llm/data, changed. See
// kUsage.
#include "test/fuzz/memory_limit.h"

#include <torch/llm.h>

#include <csrc/llm/gguf/gguf_model.h>
#include <csrc/program/json.h>

#include <c10/util/Exception.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr const char* kUsage = R"(usage: fuzz_llm [options] [FILE ...]
Reads files of test/llm/data with a few bytes, numbers or parts changed, and uses what was read. With files it reads
those as they are, by their names: *.json, *.model, *.gguf, *.jinja, or by --kind. A crash, an exception that is no c10::Error, more
than 1 GB of memory, or 10 s for one input ends the run and leaves the input in fuzz_llm_finding.
  --changes N     changed inputs of each kind (default 2000)
  --seed N        default 1
  --kind NAME     only json, model, gguf, gguf_model, config or jinja
Exit code 0 if nothing was found, 1 if something was, 2 for wrong usage.
)";

constexpr unsigned kSecondsForOne = 10;
constexpr size_t kMemory = size_t(1) << 30;

using torch::llm::ChatTemplate;
using torch::llm::GgufFile;
using torch::llm::Tokenizer;

const std::string* current = nullptr; // the input of the moment, for the handlers of signals

void leave_input(int signal) {
  const int file = ::open("fuzz_llm_finding", O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (file >= 0 && current) {
    (void)!::write(file, current->data(), current->size());
  }
  std::fprintf(stderr, "fuzz_llm: signal %d, the input is in fuzz_llm_finding\n", signal);
  ::_exit(1);
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void use(const Tokenizer& tokenizer) {
  for (const char* text :
       {"Hello, world! <s> TOKEN 2026\n\n  x'll",
        "Größe ﬁ e\xcc\x81 多行文本 🙂👩‍👩‍👧 हिन्दी \xe2\x96\x81"}) {
    const torch::llm::Encoding encoding = tokenizer.encode_with_offsets(text);
    tokenizer.decode(encoding.ids);
    torch::llm::DecodeStream stream(tokenizer, /*skip_special_tokens=*/false);
    for (const int64_t id : encoding.ids) {
      stream.step(id);
    }
    stream.finish();
  }
  tokenizer.encode_pair("first text", "second");
  tokenizer.encode_batch({"a", "a b c"});
}

void use(const GgufFile& file) {
  for (const torch::llm::GgufTensor& tensor : file.tensors()) {
    if (tensor.nbytes > 0) {
      file.dequantized(tensor.name);
    }
  }
  use(file.tokenizer());
}

void use_model(const std::string& input) {
  const auto file = std::make_shared<const GgufFile>(GgufFile::from_bytes(input));
  const torch::llm::Model model(torch::llm::gguf_config(*file), torch::llm::gguf_checkpoint(file));
  torch::llm::CacheOptions options;
  options.capacity = 8;
  torch::llm::KVCache cache = model.make_cache(options);
  model.forward({0, 1, 2}, cache);
}

void use(const ChatTemplate& chat) {
  chat.render(R"({"messages":[{"role":"system","content":" be brief "},{"role":"user","content":"Hello"},
      {"role":"assistant","content":null,"tool_calls":[
      {"id":"abc123def","function":{"name":"f","arguments":{"x":[1,2.5]}}}]},
      {"role":"tool","content":"21"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",
      "properties":{"x":{"type":"array","items":{"type":"number"}}}}}}],"n":7,"s":"a b","l":[3,1,2],"d":{"k":1,"b":[2]},
      "w":["b","A"],"o":[{"name":"x","v":1}],"add_generation_prompt":true,"bos_token":"<s>","eos_token":"</s>"})");
}

/// Reads an input of a kind and uses what it holds; c10::Error is an answer.
void attempt(const std::string& kind, const std::string& input) {
  current = &input;
  ::alarm(kSecondsForOne);
  try {
    if (kind == "json") {
      use(Tokenizer::from_json(input));
    } else if (kind == "model") {
      use(Tokenizer::from_sentencepiece(input));
    } else if (kind == "gguf") {
      use(GgufFile::from_bytes(input));
    } else if (kind == "gguf_model") {
      use_model(input);
    } else if (kind == "config") {
      torch::llm::parse_config(input);
    } else {
      use(ChatTemplate(input));
    }
  } catch (const c10::Error&) {
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", typeid(error).name(), error.what());
    leave_input(0);
  }
  ::alarm(0);
}

/// Changes inputs: bytes, runs, copies of parts, numbers that sizes like, words of the formats.
class Changer {
 public:
  explicit Changer(uint64_t seed) : random_(seed) {}

  std::string change(std::string input, const std::vector<std::string>& others) {
    for (size_t count = 1 + below(5); count > 0; --count) {
      change_once(input, others);
    }
    return input;
  }
  size_t below(size_t limit) {
    return limit == 0 ? 0 : random_() % limit;
  }

 private:
  void change_once(std::string& input, const std::vector<std::string>& others) {
    static constexpr const char* kWords[] = {
        "\"",
        "[",
        "]",
        "{",
        "}",
        "null",
        "-1",
        "99999999999",
        "\\ud800",
        "\xff",
        "(",
        ")+",
        "(?=",
        "\\p{L}",
        "|tojson",
        "{{",
        "}}",
        "{%",
        "%}",
        "for x in range(99999)",
        "endfor",
        "endif",
        "[::-1]",
        " ~ ",
        "namespace()",
        "*999999",
        "\"Sequence\"",
        "\"Replace\"",
        "\"ByteLevel\"",
        "\"BPE\"",
        "\"Unigram\"",
        "\"content\":\"\"",
        "\"Regex\":\"\""};
    const size_t at = below(input.size() + 1), length = std::min(below(below(4) == 0 ? 400 : 12), input.size() - at);
    switch (below(7)) {
      case 0:
        input.erase(at, length);
        break;
      case 1:
        input.insert(at, input.substr(below(input.size() + 1), 1 + below(60)));
        break;
      case 2:
        input.insert(at, kWords[below(std::size(kWords))]);
        break;
      case 3: {
        const std::string& other = others[below(others.size())];
        input.replace(at, length, other.substr(below(other.size() + 1), 1 + below(200)));
        break;
      }
      case 4:
        put_number(input, at);
        break;
      default:
        if (at < input.size()) {
          input[at] =
              static_cast<char>(below(3) == 0 ? random_() : static_cast<uint64_t>(input[at]) ^ (1u << below(8)));
        }
    }
  }

  void put_number(std::string& input, size_t at) {
    static constexpr uint64_t kNumbers[] = {0,
                                            1,
                                            31,
                                            0x7f,
                                            0xff,
                                            0xffff,
                                            0x7fffffff,
                                            0x80000000,
                                            0xffffffff,
                                            uint64_t{1} << 40,
                                            uint64_t{1} << 62,
                                            ~uint64_t{0}};
    const uint64_t number = kNumbers[below(std::size(kNumbers))];
    const size_t size = size_t{1} << below(4);
    if (at + size <= input.size()) {
      std::memcpy(input.data() + at, &number, size);
    }
  }

  std::mt19937_64 random_;
};

/// The inputs to start from, by kind.
std::vector<std::string> starting_inputs(const std::string& kind) {
  const std::filesystem::path folder(TEST_LLM_DATA);
  std::vector<std::string> inputs;
  if (kind == "jinja") {
    const auto json = torch::program::Json::parse(read_file(folder / "templates.json"), "templates.json");
    for (const auto& style : json.at("styles").items()) {
      inputs.push_back(style.as_string());
    }
    for (const auto& one : json.at("cases").items()) {
      if (const auto* const source = one.find("template")) {
        inputs.push_back(source->as_string());
      }
    }
    return inputs;
  }
  if (kind == "config") {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().filename() == "config.json") {
        inputs.push_back(read_file(entry.path()));
      }
    }
    std::sort(inputs.begin(), inputs.end());
    return inputs;
  }
  const bool is_model = kind == "gguf_model";
  const std::string part = is_model ? "gguf/models" : kind == "gguf" ? "gguf" : "tokenizers";
  const std::string end = is_model ? ".gguf" : "." + kind;
  for (const auto& entry : std::filesystem::directory_iterator(folder / part)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(end) && !name.ends_with(".cases.json")) {
      inputs.push_back(read_file(entry.path()));
    }
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

void run_kind(const std::string& kind, size_t changes, uint64_t seed) {
  const std::vector<std::string> inputs = starting_inputs(kind);
  for (const std::string& input : inputs) {
    attempt(kind, input);
  }
  Changer changer(seed);
  const auto start = std::chrono::steady_clock::now();
  double slowest = 0;
  for (size_t i = 0; i < changes; ++i) {
    const std::string input = changer.change(inputs[changer.below(inputs.size())], inputs);
    const auto begin = std::chrono::steady_clock::now();
    attempt(kind, input);
    slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf(
      "%s: %zu changed inputs in %.0f s, the slowest %.2f s\n", kind.c_str(), changes,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), slowest);
}

} // namespace

int main(int argc, char** argv) {
  size_t changes = 2000;
  uint64_t seed = 1;
  std::string only;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--changes" && has_value) {
      changes = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--seed" && has_value) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--kind" && has_value) {
      only = argv[++i];
    } else if (argument.starts_with("--")) {
      std::fputs(kUsage, stderr);
      return 2;
    } else {
      files.push_back(argument);
    }
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM}) {
    std::signal(signal, leave_input);
  }
  const fuzz::MemoryLimit limit(kMemory);
  for (const std::string& file : files) {
    attempt(only.empty() ? std::filesystem::path(file).extension().string().substr(1) : only, read_file(file));
  }
  for (const char* kind : {"json", "model", "gguf", "gguf_model", "config", "jinja"}) {
    if (files.empty() && (only.empty() || only == kind)) {
      run_kind(kind, changes, seed);
    }
  }
  return 0;
}
