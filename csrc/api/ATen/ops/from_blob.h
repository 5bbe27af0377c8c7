#pragma once

#include <aten/from_blob.h>
