#pragma once

#include <aten/native/EmbeddingBag.h>
