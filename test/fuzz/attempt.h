// How a call ended.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <string>
#include <typeinfo>

#include "test/ops/boxed_op.h"
#include "test/support/refusals.h"

namespace fuzz {

using test::Stack;

struct Attempt {
  bool succeeded = false;
  bool out_of_memory = false;
  bool missing = false; // no such kernel
  std::string message; // of a refusal
  std::string exception; // type and text of any other exception
  Stack results;
};

std::string demangled(const std::type_info& type);
std::string first_line(const std::string& text);

template <class Call>
Attempt attempt(const Call& call) {
  Attempt end;
  try {
    call();
    end.succeeded = true;
  } catch (const c10::OutOfMemoryError& e) {
    end.out_of_memory = true;
    end.message = first_line(e.what_without_backtrace());
  } catch (const c10::NotImplementedError& e) {
    end.missing = true;
    end.message = first_line(e.what_without_backtrace());
  } catch (const std::exception& e) {
    if (test::is_refusal(e)) {
      end.message = first_line(test::refusal_text(e));
    } else {
      end.exception = demangled(typeid(e)) + ": " + first_line(e.what());
    }
  } catch (...) {
    end.exception = "an exception of no known type";
  }
  return end;
}

Attempt attempt(const c10::OperatorHandle& op, Stack args);

} // namespace fuzz
