#pragma once

#include <csrc/data/samplers/base.h>
#include <csrc/data/samplers/custom_batch_request.h>
#include <csrc/data/samplers/distributed.h>
#include <csrc/data/samplers/random.h>
#include <csrc/data/samplers/sequential.h>
#include <csrc/data/samplers/serialize.h>
#include <csrc/data/samplers/stream.h>
