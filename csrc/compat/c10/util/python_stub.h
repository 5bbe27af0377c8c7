#pragma once

// Python's object type, for interfaces that hand it through. The library itself never looks inside one.
struct _object;
using PyObject = _object;
