// Transforms of functions: gradients, derivatives, and batches. See docs/transforms.md.
#pragma once

#include <csrc/func/argnums.h>
#include <csrc/func/functional_call.h>
#include <csrc/func/functionalize.h>
#include <csrc/func/grad.h>
#include <csrc/func/jacobian.h>
#include <csrc/func/jvp.h>
#include <csrc/func/vmap.h>
