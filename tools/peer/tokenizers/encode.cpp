// Encodes and decodes strings with torch::llm::Tokenizer, for tools/peer/tokenizers/compare.
//
//   encode TOKENIZER STRINGS OUTPUT    each string: 32-bit length, bytes. Each result: 32-bit count, then for each
//   token
//                                      id, begin, end; the text of decode, and that of DecodeStream, as strings.
//   encode TOKENIZER FILE              encodes a text file for two seconds and prints MB/s and the number of tokens
#include <torch/llm.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

std::string file_text(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_number(std::string& out, size_t value) {
  const auto number = static_cast<uint32_t>(value);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void write_text(std::string& out, const std::string& text) {
  write_number(out, text.size());
  out += text;
}

void write_result(std::string& out, const torch::llm::Tokenizer& tokenizer, const std::string& text) {
  const torch::llm::Encoding encoding = tokenizer.encode_with_offsets(text);
  if (tokenizer.encode(text) != encoding.ids) {
    throw std::runtime_error("encode and encode_with_offsets differ for '" + text + "'");
  }
  write_number(out, encoding.size());
  for (size_t i = 0; i < encoding.size(); ++i) {
    write_number(out, static_cast<size_t>(encoding.ids[i]));
    write_number(out, encoding.offsets[i].first);
    write_number(out, encoding.offsets[i].second);
  }
  write_text(out, tokenizer.decode(encoding.ids, /*skip_special_tokens=*/false));
  torch::llm::DecodeStream stream(tokenizer, /*skip_special_tokens=*/false);
  std::string streamed;
  for (const int64_t id : encoding.ids) {
    streamed += stream.step(id);
  }
  write_text(out, streamed + stream.finish());
}

int compare(char** argv) {
  const auto tokenizer = torch::llm::Tokenizer::load(argv[1]);
  const std::string strings = file_text(argv[2]);
  std::string out;
  for (size_t at = 0; at < strings.size();) {
    uint32_t length = 0;
    std::memcpy(&length, strings.data() + at, 4);
    write_result(out, tokenizer, strings.substr(at + 4, length));
    at += 4 + length;
  }
  std::ofstream(argv[3], std::ios::binary) << out;
  return 0;
}

int measure(char** argv) {
  using Clock = std::chrono::steady_clock;
  const auto tokenizer = torch::llm::Tokenizer::load(argv[1]);
  const std::string text = file_text(argv[2]);
  double best = 1e30;
  size_t count = 0;
  for (const auto end = Clock::now() + std::chrono::seconds(2); Clock::now() < end;) {
    const auto start = Clock::now();
    count = tokenizer.encode(text, /*add_special_tokens=*/false).size();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::printf("%.2f MB/s, %zu tokens\n", static_cast<double>(text.size()) / best / 1e6, count);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fputs("usage: encode TOKENIZER STRINGS OUTPUT | encode TOKENIZER FILE\n", stderr);
    return 2;
  }
  try {
    return argc == 4 ? compare(argv) : measure(argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
