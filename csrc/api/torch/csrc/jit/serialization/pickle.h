#pragma once

#include <csrc/serialize/pickle_bytes.h>
#include <csrc/serialize/stream_reader.h>
#include <csrc/serialize/stream_writer.h>
