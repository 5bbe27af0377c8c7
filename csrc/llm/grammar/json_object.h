// Reads a JSON object byte by byte.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>

namespace torch::llm {

/// Says of each byte whether a JSON object (RFC 8259) may go on with it. Narrower than JSON where readers differ or an
/// object might never end: 64 levels, 32 characters of white space in a row, 15 digits and two of an exponent, no
/// surrogates by \u, no "</" in strings (but "<\/"). Small, so that copies are cheap.
class TORCH_API JsonObjectReader {
 public:
  /// Takes a byte; false, and no change, when the object cannot go on with it.
  bool push(char byte);
  bool is_complete() const {
    return state_ == State::End;
  }

 private:
  enum class State : uint8_t {
    Start, // in front of the object
    FirstName, // behind {
    Name, // behind a comma of an object
    Colon,
    FirstValue, // behind [
    Value,
    AfterValue,
    String,
    Escape,
    Hex,
    Character, // of UTF-8, its later bytes
    Minus,
    Zero,
    Digits,
    Point,
    Fraction,
    ExponentSign,
    ExponentFirst,
    Exponent,
    Word, // true, false, null
    End,
  };

  bool step(char byte);
  bool step_space(char byte);
  bool step_structure(char byte);
  bool begin_value(char byte);
  bool after_value(char byte);
  bool step_string(char byte);
  bool step_escape(char byte);
  bool step_character(unsigned char byte);
  bool step_number(char byte);
  bool enter(bool object);
  bool leave(bool object);
  bool is_object() const {
    return (objects_ >> (depth_ - 1) & 1) != 0;
  }
  bool go(State state) {
    state_ = state;
    return true;
  }

  uint64_t objects_ = 0; // a bit for each level: an object or an array
  const char* word_ = ""; // the rest of a word
  State state_ = State::Start;
  uint8_t depth_ = 0;
  uint8_t spaces_ = 0, digits_ = 0, hex_ = 0;
  uint8_t low_ = 0x80, high_ = 0xbf, left_ = 0; // of a character's next byte, and how many are to come
  bool is_name_ = false; // of the string
  bool after_angle_ = false; // behind < in a string
  bool is_surrogate_ = false; // behind \ud
};

} // namespace torch::llm
