// Recorded programs: a folder with NAME.jsonl (one program a line), NAME.safetensors and the files that lines name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "test/conformance/corpus.h"
#include "test/conformance/json.h"

namespace programs {

using conformance::Json;
using conformance::SafeTensors;

/// The parts of one category: NAME.jsonl and NAME.safetensors in FOLDER/NAME.
struct Category {
  std::string name;
  std::string folder;
  conformance::MappedFile lines;
  SafeTensors tensors;

  Category(const std::string& root, const std::string& name);
};

/// One program; `record` is the parsed line.
struct Program {
  const Category* category;
  std::string id;
  Json record;

  std::string kind() const {
    return record.at("kind").as_string();
  }
  /// "category/id"
  std::string name() const {
    return category->name + "/" + id;
  }
  /// What is judged: its calls, or for a program that must be refused that it is.
  size_t judged() const;
};

/// The programs of `FOLDER/NAME` for each name; throws std::runtime_error when one is missing or damaged.
class Programs {
 public:
  Programs(const std::string& folder, const std::vector<std::string>& names);

  const std::vector<Program>& all() const {
    return programs_;
  }

 private:
  std::vector<std::unique_ptr<Category>> categories_;
  std::vector<Program> programs_;
};

} // namespace programs
