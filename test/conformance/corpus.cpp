#include "corpus.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace conformance {

MappedFile::MappedFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) {
    if (fd >= 0) {
      ::close(fd);
    }
    throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
  }
  size_ = static_cast<size_t>(info.st_size);
  if (size_ != 0) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) {
      ::close(fd);
      throw std::runtime_error("cannot map " + path + ": " + std::strerror(errno));
    }
    data_ = static_cast<const std::byte*>(mapped);
  }
  ::close(fd);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(const_cast<std::byte*>(data_), size_);
  }
}

SafeTensors::SafeTensors(const std::string& path) : file_(path) {
  const Bytes bytes = file_.bytes();
  uint64_t header_size = 0;
  if (bytes.size() < 8) {
    throw std::runtime_error(path + ": too short for a safetensors file");
  }
  std::memcpy(&header_size, bytes.data(), 8);
  if (header_size > bytes.size() - 8) {
    throw std::runtime_error(path + ": header reaches beyond the end of the file");
  }

  const Json header = Json::parse(file_.text().substr(8, header_size));
  const Bytes data = bytes.subspan(8 + header_size);
  for (const auto& [key, entry] : header.members()) {
    if (key == "__metadata__") {
      continue;
    }
    const std::vector<int64_t> range = entry.at("data_offsets").as_ints();
    if (range.size() != 2 || range[0] < 0 || range[1] < range[0] || range[1] > static_cast<int64_t>(data.size())) {
      throw std::runtime_error(path + ": bad data_offsets of key " + key);
    }
    entries_.emplace(key, data.subspan(range[0], range[1] - range[0]));
  }
}

Bytes SafeTensors::at(const std::string& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    throw std::runtime_error("safetensors: no key " + key);
  }
  return found->second;
}

std::string part_name(const Case& c, Part part) {
  switch (part) {
    case Part::Grad:
      return "grad";
    case Part::GradGrad:
      return "gradgrad";
    default:
      return c.kind;
  }
}

Corpus::Corpus(const std::string& folder, const std::string& only_file) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(folder)) {
    throw std::runtime_error(folder + " is not a folder");
  }
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".jsonl" && (only_file.empty() || path.stem() == only_file)) {
      names.push_back(path.stem());
    }
  }
  if (names.empty()) {
    throw std::runtime_error(folder + " has no " + (only_file.empty() ? std::string("*") : only_file) + ".jsonl");
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    load(folder, name);
  }
}

void Corpus::load(const std::string& folder, const std::string& name) {
  const std::string stem = folder + "/" + name;
  files_.push_back(std::unique_ptr<CorpusFile>(
      new CorpusFile{name, MappedFile(stem + ".jsonl"), SafeTensors(stem + ".safetensors")}));
  const CorpusFile* file = files_.back().get();

  std::string_view rest = file->lines.text();
  for (int line_number = 1; !rest.empty(); ++line_number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) {
      continue;
    }
    try {
      const Json json = Json::parse(line);
      Case c{file,        line, json.at("id").as_string(), json.at("op").as_string(), json.at("kind").as_string(),
             {Part::Call}};
      if (json.find("grad") != nullptr) {
        c.parts.push_back(Part::Grad);
      }
      if (json.find("gradgrad") != nullptr) {
        c.parts.push_back(Part::GradGrad);
      }
      cases_.push_back(std::move(c));
    } catch (const std::exception& e) {
      throw std::runtime_error(stem + ".jsonl:" + std::to_string(line_number) + ": " + e.what());
    }
  }
}

} // namespace conformance
