#pragma once

#include <aten/core/schema_lexer.h>
