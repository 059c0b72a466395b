// From CORE's examples to token sequences: few-shot examples drawn as Python does, text rendered as
// nanochat's templates do, tokens, and the span of each sequence that counts.
#pragma once

#include <string>
#include <vector>

#include "eval/core_tasks.h"
#include "text/tokenizer.h"

namespace wt::eval {

// One prompt; tokens [begin, end) are scored. An empty span has no score (NaN).
struct CorePrompt {
  std::vector<int32_t> tokens;
  int64_t begin = 0, end = 0;
};

struct CoreQuestion {
  std::vector<CorePrompt> prompts;  // one a choice; one alone for language modelling
  int64_t gold = 0;
};

struct PromptLimits {
  int64_t keep = 0;     // keep only this many last tokens; 0: all
  int64_t longest = 0;  // refuse longer prompts, after that
};

// Question `index` of `examples`, which are the ones asked, in order. Fails with kInvalidArgument
// when there are too few examples for the shots, when a prompt is too long or when its scored part
// was cut off.
Result<CoreQuestion> MakeCoreQuestion(const std::vector<CoreExample>& examples, int64_t index,
                                      const CoreTask& task, const text::Tokenizer& tokenizer,
                                      const PromptLimits& limits);

// The texts of the prompts, in order; for language modelling the one without the answer, then the
// one with it.
std::vector<std::string> RenderCorePrompts(const std::vector<CoreExample>& examples, int64_t index,
                                           const CoreTask& task);

// What Python's str.strip() leaves.
std::string_view PythonStrip(std::string_view text);

}  // namespace wt::eval
