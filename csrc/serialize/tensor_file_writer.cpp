#include <csrc/serialize/pickler.h>
#include <csrc/serialize/tensor_file.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::serialize {

namespace {

void add_storages(ZipWriter& zip, const Pickler& pickler) {
  const std::vector<c10::Storage>& storages = pickler.storages();
  for (size_t i = 0; i < storages.size(); ++i) {
    const std::string name = "data/" + std::to_string(i);
    if (storages[i].device().is_meta()) {
      zip.add(name, nullptr, 0);
      continue;
    }
    const c10::Storage local = move_storage(storages[i], c10::kCPU);
    zip.add(name, local.data(), local.nbytes());
  }
}

bool is_identifier(const std::string& name) {
  static constexpr std::string_view kKeywords[] = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) {
    return false;
  }
  if (!std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); })) {
    return false;
  }
  return std::find(std::begin(kKeywords), std::end(kKeywords), name) == std::end(kKeywords);
}

std::string python_string(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') {
      text += '\\';
    }
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text + '"';
}

// The class of a nested archive, as TorchScript prints it: which names are parameters and buffers, and the types of
// all.
std::string class_source(const ArchiveNode& node, const std::unordered_map<const ArchiveNode*, size_t>& numbers) {
  std::string parameters, buffers, members;
  bool has_annotations = false;
  for (const ArchiveNode::Entry& entry : node.entries) {
    if (entry.kind == ArchiveNode::Kind::Parameter) {
      parameters += python_string(entry.name) + ", ";
    }
    if (entry.kind == ArchiveNode::Kind::Buffer) {
      buffers += python_string(entry.name) + ", ";
    }
    const std::string type = entry.kind == ArchiveNode::Kind::Archive
        ? node_module_name(numbers.at(node_of(entry.value).get())) + ".Module"
        : entry.value.isTensor() && !entry.value.toTensor().defined() ? "Optional[Tensor]"
                                                                      : entry.value.type()->annotation_str();
    if (is_identifier(entry.name)) {
      members += "  " + entry.name + " : " + type + "\n";
    } else {
      if (!has_annotations) {
        members += "  __annotations__ = []\n";
      }
      has_annotations = true;
      members += "  __annotations__[" + python_string(entry.name) + "] = " + type + "\n";
    }
  }
  return "class Module(Module):\n  __parameters__ = [" + parameters + "]\n  __buffers__ = [" + buffers + "]\n" +
      members;
}

std::string source_path(size_t number) {
  std::string path = "code/" + node_module_name(number) + ".py";
  std::replace(path.begin() + 5, path.end() - 3, '.', '/');
  return path;
}

} // namespace

std::string folder_for(const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (const size_t dot = name.rfind('.'); dot != std::string::npos) {
    name.resize(dot);
  }
  return name.empty() ? "archive" : name;
}

namespace {

void write_file(ByteSink& sink, const std::string& folder, const c10::IValue& value, Pickler::Style style) {
  Pickler pickler(style);
  pickler.push(value);
  ZipWriter zip(sink, folder);
  zip.add("data.pkl", pickler.finish());
  zip.add("byteorder", "little");
  add_storages(zip, pickler);
  zip.add("version", "3\n");
  zip.finish();
}

} // namespace

void write_pickle(ByteSink& sink, const std::string& folder, const c10::IValue& value) {
  write_file(sink, folder, value, Pickler::Style::Python);
}

void write_objects(ByteSink& sink, const std::string& folder, const c10::IValue& value) {
  write_file(sink, folder, value, Pickler::Style::TorchScript);
}

void write_archive(ByteSink& sink, const std::string& folder, const ArchiveNode& root) {
  Pickler pickler(Pickler::Style::TorchScript);
  pickler.push_root(root);
  ZipWriter zip(sink, folder);
  add_storages(zip, pickler);
  zip.add("data.pkl", pickler.finish());
  std::unordered_map<const ArchiveNode*, size_t> numbers;
  for (size_t i = 0; i < pickler.nodes().size(); ++i) {
    numbers.emplace(pickler.nodes()[i], i);
  }
  for (size_t i = 0; i < pickler.nodes().size(); ++i) {
    zip.add(source_path(i), class_source(*pickler.nodes()[i], numbers));
  }
  zip.add("constants.pkl", std::string_view("\x80\x02).", 4));
  zip.add("version", "3\n");
  zip.add("byteorder", "little");
  zip.finish();
}

} // namespace torch::serialize
