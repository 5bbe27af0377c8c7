// Language models from a folder.
#pragma once

#include <csrc/llm/attention.h>
#include <csrc/llm/cache.h>
#include <csrc/llm/checkpoint.h>
#include <csrc/llm/config.h>
#include <csrc/llm/engine.h>
#include <csrc/llm/generate.h>
#include <csrc/llm/gguf/gguf_file.h>
#include <csrc/llm/grammar/answer_constraint.h>
#include <csrc/llm/model.h>
#include <csrc/llm/prompt_cache.h>
#include <csrc/llm/sampler.h>
#include <csrc/llm/template/chat_template.h>
#include <csrc/llm/tokenizer/tokenizer.h>
