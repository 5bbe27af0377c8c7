#pragma once

#include <csrc/serialize/read_archive.h>
