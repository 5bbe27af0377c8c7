#include "text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "options.h"

namespace charlm {

namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestText = size_t{1} << 30;
/// Of the project's own text: enough for a short training, and quick to read.
constexpr size_t kDefaultText = 800'000;

bool is_text_control(unsigned char c) {
  return c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == '\x1b';
}

/// Text of any encoding that keeps ASCII may pass; what has zero bytes or many control characters may not.
void require_text(const std::string& bytes, const std::string& file) {
  size_t control = 0;
  for (const unsigned char c : bytes) {
    if (c == 0) {
      throw UserError(file + " is binary (it holds zero bytes); give text files");
    }
    control += (c < 0x20 && !is_text_control(c)) || c == 0x7f;
  }
  if (control * 50 > bytes.size()) {
    throw UserError(file + " is binary (it is full of control characters); give text files");
  }
}

std::string read_file(const std::string& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    throw UserError(file + " is a folder; give the text files in it");
  }
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw UserError("cannot read " + file + ": " + std::strerror(errno ? errno : EIO));
  }
  std::string text;
  std::string piece(size_t{1} << 20, '\0');
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<size_t>(in.gcount());
    // Piece by piece, so that an endless device is refused rather than read.
    require_text(piece.substr(0, got), file);
    text.append(piece, 0, got);
    if (text.size() > kLargestText) {
      throw UserError(file + " is larger than 1 GiB; give a smaller text");
    }
  }
  if (in.bad()) {
    throw UserError("cannot read " + file + ": " + std::strerror(errno ? errno : EIO));
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw UserError(file + " is empty; there is nothing to learn from it");
  }
  return text;
}

/// Files below `folder` with one of the extensions, in an order that does not depend on the file system.
std::vector<std::string> files_below(const fs::path& folder, const std::vector<std::string>& extensions) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const bool wanted = std::count(extensions.begin(), extensions.end(), entry->path().extension().string()) > 0;
    if (wanted && entry->is_regular_file(error) && entry->file_size(error) > 0) {
      found.push_back(entry->path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Documentation first; while that is short, the headers, whose comments are documentation too.
std::vector<std::string> project_files() {
  const fs::path root = CHARLM_PROJECT;
  std::vector<std::string> files;
  if (fs::exists(root / "README.md")) {
    files.push_back((root / "README.md").string());
  }
  for (const std::string& file : files_below(root / "docs", {".md"})) {
    files.push_back(file);
  }
  for (const char* folder : {"aten", "autograd", "c10"}) {
    for (const std::string& file : files_below(root / folder, {".h"})) {
      files.push_back(file);
    }
  }
  return files;
}

/// The length of the UTF-8 sequence at `text[at]`, or 0 if there is none.
size_t utf8_length(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const size_t length = lead >= 0xc2 && lead < 0xe0 ? 2
      : lead >= 0xe0 && lead < 0xf0                 ? 3
      : lead >= 0xf0 && lead < 0xf5                 ? 4
                                                    : 0;
  if (length == 0 || at + length > text.size()) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  // Overlong forms, surrogates, and C1 control characters.
  const unsigned char second = byte(at + 1);
  const bool bad = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90) || (lead == 0xc2 && second < 0xa0);
  return bad ? 0 : length;
}

} // namespace

Vocabulary::Vocabulary(std::string symbols) : symbols_(std::move(symbols)) {
  token_.fill(static_cast<uint8_t>(symbols_.find('?')));
  for (size_t i = 0; i < symbols_.size(); ++i) {
    token_[static_cast<unsigned char>(symbols_[i])] = static_cast<uint8_t>(i);
  }
}

Vocabulary Vocabulary::of(const std::string& text) {
  std::array<bool, 256> seen{};
  seen['\t'] = seen['\n'] = true;
  for (int c = 0x20; c < 0x7f; ++c) {
    seen[static_cast<size_t>(c)] = true;
  }
  for (const unsigned char c : text) {
    seen[c] = true;
  }
  std::string symbols;
  for (int c = 0; c < 256; ++c) {
    if (seen[static_cast<size_t>(c)]) {
      symbols.push_back(static_cast<char>(c));
    }
  }
  return Vocabulary(std::move(symbols));
}

Vocabulary Vocabulary::from_symbols(const std::string& symbols) {
  std::string sorted = symbols;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() || symbols.find('?') == std::string::npos) {
    throw UserError("the vocabulary is damaged");
  }
  return Vocabulary(symbols);
}

at::Tensor Vocabulary::encode(const std::string& text) const {
  at::Tensor tokens = at::empty({static_cast<int64_t>(text.size())}, at::kByte);
  std::transform(
      text.begin(), text.end(), tokens.mutable_data_ptr<uint8_t>(), [&](unsigned char c) { return token_[c]; });
  return tokens;
}

std::string read_text(const std::vector<std::string>& files) {
  std::string text;
  if (!files.empty()) {
    for (const std::string& file : files) {
      text += read_file(file);
    }
    return text;
  }
  for (const std::string& file : project_files()) {
    if (text.size() >= kDefaultText) {
      break;
    }
    text += read_file(file);
  }
  if (text.empty()) {
    throw UserError("the project's documentation is not in " CHARLM_PROJECT
                    " any more; name the text files to learn from");
  }
  return text;
}

Split hold_out(const at::Tensor& tokens, int64_t context) {
  constexpr int64_t kParts = 10;
  const int64_t total = tokens.size(0);
  const int64_t block = std::min<int64_t>(4096, total / kParts);
  if (block < context + 2) {
    throw UserError(
        "the text has " + std::to_string(total) + " characters; looking back on " + std::to_string(context) +
        " takes at least " + std::to_string(kParts * (context + 2)) + ": give more text or a smaller --context");
  }
  std::vector<at::Tensor> train, held_out;
  int64_t index = 0;
  for (int64_t from = 0; from < total; from += block, ++index) {
    auto& part = index % kParts == kParts - 1 ? held_out : train;
    part.push_back(tokens.slice(0, from, std::min(from + block, total)));
  }
  return {at::cat(train), at::cat(held_out)};
}

std::string printable(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const size_t length = c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7f) ? 1 : utf8_length(text, i);
    out += length == 0 ? "?" : text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  return out;
}

} // namespace charlm
