#include <csrc/compat/c10/util/Flags.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace c10 {

C10_DEFINE_REGISTRY(C10FlagsRegistry, C10FlagParser, const std::string&)

namespace {

bool parsed = false;

std::string& usage() {
  static auto& text = *new std::string("(Usage message not set.)");
  return text;
}

void print_help(std::ostream& out) {
  out << usage() << "\nArguments:\n";
  for (const auto& [name, help] : C10FlagsRegistry()->HelpMessage()) {
    out << "    " << name << ": " << help << '\n';
  }
}

bool set_flag(const std::string& name, const std::string& value) {
  if (!C10FlagsRegistry()->Has(name)) {
    std::cerr << "Unknown command line argument: --" << name << '\n';
    return false;
  }
  if (!C10FlagsRegistry()->Create(name, value)->success()) {
    std::cerr << "Illegal argument for --" << name << ": " << value << '\n';
    return false;
  }
  return true;
}

} // namespace

void SetUsageMessage(const std::string& str) {
  usage() = str;
}

const char* UsageMessage() {
  return usage().c_str();
}

bool CommandLineFlagsHasBeenParsed() {
  return parsed;
}

bool ParseCommandLineFlags(int* pargc, char*** pargv) {
  if (*pargc == 0) {
    return true;
  }
  char** argv = *pargv;
  bool success = true;
  int kept = 1; // the program's name
  for (int i = 1; i < *pargc; ++i) {
    const std::string_view arg = argv[i];
    if (arg.substr(0, 2) != "--") {
      argv[kept++] = argv[i];
      continue;
    }
    const size_t equals = arg.find('=');
    const std::string name(arg.substr(2, equals == std::string_view::npos ? equals : equals - 2));
    if (name == "help") {
      print_help(std::cout);
      std::exit(0);
    }
    if (equals != std::string_view::npos) {
      success &= set_flag(name, std::string(arg.substr(equals + 1)));
    } else if (i + 1 < *pargc) {
      success &= set_flag(name, argv[++i]);
    } else {
      std::cerr << "Missing value for --" << name << '\n';
      success = false;
    }
  }
  *pargc = kept;
  parsed = true;
  return success;
}

template <>
bool C10FlagParser::Parse<std::string>(const std::string& content, std::string* value) {
  *value = content;
  return true;
}

template <>
bool C10FlagParser::Parse<int64_t>(const std::string& content, int64_t* value) {
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(content.c_str(), &end, 10);
  *value = number;
  return !content.empty() && *end == '\0' && errno == 0;
}

template <>
bool C10FlagParser::Parse<int>(const std::string& content, int* value) {
  int64_t wide = 0;
  const bool success = Parse<int64_t>(content, &wide) && wide >= INT32_MIN && wide <= INT32_MAX;
  *value = static_cast<int>(wide);
  return success;
}

template <>
bool C10FlagParser::Parse<double>(const std::string& content, double* value) {
  char* end = nullptr;
  *value = std::strtod(content.c_str(), &end);
  return !content.empty() && *end == '\0';
}

template <>
bool C10FlagParser::Parse<bool>(const std::string& content, bool* value) {
  for (const char* yes : {"true", "True", "TRUE", "1"}) {
    if (content == yes) {
      *value = true;
      return true;
    }
  }
  for (const char* no : {"false", "False", "FALSE", "0"}) {
    if (content == no) {
      *value = false;
      return true;
    }
  }
  return false;
}

} // namespace c10
