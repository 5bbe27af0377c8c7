#!/usr/bin/env python3
"""That a program that is not linked with the library can open it while it runs: test/api/opened_later.py LIBRARY

So hosts of plugins and interpreters use it. The dynamic linker has few bytes for the thread-local variables of libraries
that are opened so; the test leaves others some of them.
"""

from __future__ import annotations

import ctypes
import os
import sys

# Bytes for libraries opened at run time; the dynamic linker's own default is 512.
TUNABLE = "glibc.rtld.optional_static_tls=256"


def numel_of_a_new_tensor(path: str) -> int:
    library = ctypes.CDLL(path)
    tensor, count = ctypes.c_void_p(), ctypes.c_int64()
    sizes, strides = (ctypes.c_int64 * 2)(3, 4), (ctypes.c_int64 * 2)(4, 1)
    assert library.aoti_torch_empty_strided(ctypes.c_int64(2), sizes, strides, 6, 0, 0, ctypes.byref(tensor)) == 0
    assert library.aoti_torch_get_numel(tensor, ctypes.byref(count)) == 0
    assert library.aoti_torch_delete_tensor_object(tensor) == 0
    return count.value


def main() -> int:
    if os.environ.get("GLIBC_TUNABLES") != TUNABLE:
        os.environ["GLIBC_TUNABLES"] = TUNABLE
        os.execv(sys.executable, [sys.executable, *sys.argv])
    count = numel_of_a_new_tensor(sys.argv[1])
    if count != 12:
        print(f"a tensor of 3 x 4 has {count} elements")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
