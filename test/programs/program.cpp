#include "program.h"

#include <algorithm>
#include <stdexcept>

namespace programs {

Category::Category(const std::string& root, const std::string& name)
    : name(name),
      folder(root + "/" + name),
      lines(folder + "/" + name + ".jsonl"),
      tensors(folder + "/" + name + ".safetensors") {}

size_t Program::judged() const {
  return kind() == "refused" ? 1 : record.at("calls").items().size();
}

Programs::Programs(const std::string& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    categories_.push_back(std::make_unique<Category>(folder, name));
    const Category& category = *categories_.back();
    std::string_view rest = category.lines.text();
    for (int line_number = 1; !rest.empty(); ++line_number) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.empty()) {
        continue;
      }
      try {
        Json record = Json::parse(line);
        std::string id = record.at("id").as_string();
        programs_.push_back({&category, std::move(id), std::move(record)});
        programs_.back().judged(); // the line has what every line must have
      } catch (const std::exception& e) {
        throw std::runtime_error(name + ".jsonl:" + std::to_string(line_number) + ": " + e.what());
      }
    }
  }
}

} // namespace programs
