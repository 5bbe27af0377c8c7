#pragma once

#include <csrc/program_headers.h>
#include <csrc/types.h>
