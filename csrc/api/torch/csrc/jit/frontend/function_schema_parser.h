#pragma once
#include <aten/core/schema_parser.h>
