#pragma once

#include <aten/library.h>
#include <csrc/program_headers.h>
