#!/usr/bin/env python3
"""A source with test cases is called NAME_test.cpp, and no other source is."""

import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
CASE = re.compile(r"^\s*(TEMPLATE_)?(LIST_|PRODUCT_|REGISTER_)?TEST_CASE\w*\(", re.MULTILINE)

wrong = []
for path in sorted(TESTS.rglob("*.cpp")):
    if bool(CASE.search(path.read_text())) != path.stem.endswith("_test"):
        wrong.append(path.relative_to(TESTS.parent))
for path in wrong:
    print(f"{path}: " + ("has no test case" if path.stem.endswith("_test") else f"has test cases: call it {path.stem}_test.cpp"))
sys.exit(1 if wrong else 0)
