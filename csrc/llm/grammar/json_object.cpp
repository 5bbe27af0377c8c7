#include <csrc/llm/grammar/json_object.h>

#include <cstring>

namespace torch::llm {

namespace {

constexpr uint8_t kMaxDepth = 64, kMaxSpaces = 32, kMaxDigits = 15, kMaxExponentDigits = 2;

bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

bool is_space(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

} // namespace

bool JsonObjectReader::push(char byte) {
  JsonObjectReader next = *this;
  if (!next.step(byte)) {
    return false;
  }
  *this = next;
  return true;
}

bool JsonObjectReader::step(char byte) {
  switch (state_) {
    case State::String:
      return step_string(byte);
    case State::Escape:
    case State::Hex:
      return step_escape(byte);
    case State::Character:
      return step_character(static_cast<unsigned char>(byte));
    case State::Minus:
    case State::Zero:
    case State::Digits:
    case State::Point:
    case State::Fraction:
    case State::ExponentSign:
    case State::ExponentFirst:
    case State::Exponent:
      return step_number(byte);
    case State::Word:
      if (byte != *word_) {
        return false;
      }
      ++word_;
      return go(*word_ == '\0' ? State::AfterValue : State::Word);
    case State::End:
      return false;
    default:
      return is_space(byte) ? step_space(byte) : step_structure(byte);
  }
}

// None in front of the object.
bool JsonObjectReader::step_space(char byte) {
  static_cast<void>(byte);
  return state_ != State::Start && spaces_++ < kMaxSpaces;
}

bool JsonObjectReader::step_structure(char byte) {
  spaces_ = 0;
  switch (state_) {
    case State::Start:
      return byte == '{' && enter(true);
    case State::FirstName:
    case State::Name:
      if (byte == '}') {
        return state_ == State::FirstName && leave(true);
      }
      is_name_ = true;
      after_angle_ = false;
      return byte == '"' && go(State::String);
    case State::Colon:
      return byte == ':' && go(State::Value);
    case State::FirstValue:
      return byte == ']' ? leave(false) : begin_value(byte);
    case State::Value:
      return begin_value(byte);
    default:
      return after_value(byte);
  }
}

bool JsonObjectReader::begin_value(char byte) {
  digits_ = 0;
  switch (byte) {
    case '{':
      return enter(true);
    case '[':
      return enter(false);
    case '"':
      is_name_ = false;
      after_angle_ = false;
      return go(State::String);
    case '-':
      return go(State::Minus);
    case '0':
      return go(State::Zero);
    case 't':
      word_ = "rue";
      return go(State::Word);
    case 'f':
      word_ = "alse";
      return go(State::Word);
    case 'n':
      word_ = "ull";
      return go(State::Word);
    default:
      digits_ = 1;
      return is_digit(byte) && go(State::Digits);
  }
}

bool JsonObjectReader::after_value(char byte) {
  if (byte == ',') {
    return go(is_object() ? State::Name : State::Value);
  }
  return byte == '}' ? leave(true) : byte == ']' && leave(false);
}

bool JsonObjectReader::step_string(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  if (code == '"') {
    return go(is_name_ ? State::Colon : State::AfterValue);
  }
  if (code == '\\') {
    after_angle_ = false;
    return go(State::Escape);
  }
  if (code < 0x80) {
    const bool closes_tag = after_angle_ && code == '/';
    after_angle_ = code == '<';
    return code >= 0x20 && !closes_tag;
  }
  after_angle_ = false;
  if (code < 0xc2 || code > 0xf4) {
    return false;
  }
  left_ = code < 0xe0 ? 1 : code < 0xf0 ? 2 : 3;
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  low_ = code == 0xe0 ? 0xa0 : code == 0xf0 ? 0x90 : 0x80;
  high_ = code == 0xed ? 0x9f : code == 0xf4 ? 0x8f : 0xbf;
  return go(State::Character);
}

bool JsonObjectReader::step_character(unsigned char byte) {
  if (byte < low_ || byte > high_) {
    return false;
  }
  low_ = 0x80;
  high_ = 0xbf;
  return go(--left_ == 0 ? State::String : State::Character);
}

bool JsonObjectReader::step_escape(char byte) {
  if (state_ == State::Escape) {
    hex_ = 0;
    is_surrogate_ = false;
    return byte == 'u' ? go(State::Hex)
                       : byte != '\0' && std::strchr("\"\\/bfnrt", byte) != nullptr && go(State::String);
  }
  const char lower = static_cast<char>(byte | 0x20);
  const bool is_letter = lower >= 'a' && lower <= 'f';
  if (!(is_digit(byte) || is_letter) || (hex_ == 1 && is_surrogate_ && (is_letter || byte > '7'))) {
    return false;
  }
  is_surrogate_ = hex_ == 0 && lower == 'd';
  return go(++hex_ == 4 ? State::String : State::Hex);
}

bool JsonObjectReader::step_number(char byte) {
  const auto digit = [&](uint8_t most, State state) { return is_digit(byte) && digits_++ < most && go(state); };
  const auto begin_part = [&](State state) {
    digits_ = 0;
    return go(state);
  };
  const auto after_number = [&] {
    state_ = State::AfterValue;
    spaces_ = 0;
    return is_space(byte) ? step_space(byte) : after_value(byte);
  };
  switch (state_) {
    case State::Minus:
      return byte == '0' ? go(State::Zero) : digit(kMaxDigits, State::Digits);
    case State::Point:
      return digit(kMaxDigits, State::Fraction);
    case State::ExponentSign:
      return byte == '+' || byte == '-' ? go(State::ExponentFirst) : digit(kMaxExponentDigits, State::Exponent);
    case State::ExponentFirst:
      return digit(kMaxExponentDigits, State::Exponent);
    case State::Exponent:
      return is_digit(byte) ? digit(kMaxExponentDigits, State::Exponent) : after_number();
    default:
      break;
  }
  if (is_digit(byte)) {
    return state_ != State::Zero && digit(kMaxDigits, state_);
  }
  if (byte == 'e' || byte == 'E') {
    return begin_part(State::ExponentSign);
  }
  return byte == '.' ? state_ != State::Fraction && begin_part(State::Point) : after_number();
}

bool JsonObjectReader::enter(bool object) {
  if (depth_ == kMaxDepth) {
    return false;
  }
  const uint64_t bit = uint64_t(1) << depth_++;
  objects_ = object ? objects_ | bit : objects_ & ~bit;
  return go(object ? State::FirstName : State::FirstValue);
}

bool JsonObjectReader::leave(bool object) {
  if (is_object() != object) {
    return false;
  }
  return go(--depth_ == 0 ? State::End : State::AfterValue);
}

} // namespace torch::llm
