#include "eval/core_prompts.h"

#include <algorithm>

#include "base/python_random.h"

namespace wt::eval {
namespace {

constexpr uint64_t kShotSeed = 1234;

// Bytes of the white space character (as Python sees it) that `text` starts with; 0 for none.
size_t SpaceAt(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned a = byte(0), b = byte(1), c = byte(2);
  if (text.empty()) return 0;
  if (a == ' ' || (a >= 0x09 && a <= 0x0d) || (a >= 0x1c && a <= 0x1f)) return 1;
  if (a == 0xc2 && (b == 0x85 || b == 0xa0)) return 2;
  if (a < 0xe1 || a > 0xe3) return 0;
  const unsigned code = ((a & 0x0f) << 12) | ((b & 0x3f) << 6) | (c & 0x3f);
  const bool space = code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
                     code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
  return space && text.size() >= 3 ? 3 : 0;
}

size_t SpaceBeforeEnd(std::string_view text) {
  for (size_t n = 1; n <= 3 && n <= text.size(); ++n) {
    if (SpaceAt(text.substr(text.size() - n)) == n) return n;
  }
  return 0;
}

std::vector<int64_t> ShotsOf(int64_t index, int64_t count, int64_t shots) {
  if (shots == 0) return {};
  std::vector<int64_t> taken =
      PythonRandom(kShotSeed + static_cast<uint64_t>(index)).Sample(count - 1, shots);
  for (int64_t& i : taken) i += i >= index;  // all but the question itself, in order
  return taken;
}

// The question and choice `choice`, or without an answer where that is language modelling's.
std::string Render(const CoreExample& example, const CoreTask& task, size_t choice) {
  switch (task.kind) {
    case CoreKind::kMultipleChoice:
      return example.query + task.delimiter + example.choices[choice];
    case CoreKind::kSchema:
      return example.choices[choice] + task.delimiter + example.continuation;
    case CoreKind::kLanguageModeling:
      break;
  }
  return std::string(PythonStrip(example.query)) + task.delimiter + example.continuation;
}

std::string RenderShots(const std::vector<CoreExample>& examples, int64_t index,
                        const CoreTask& task) {
  std::string text;
  for (int64_t i : ShotsOf(index, static_cast<int64_t>(examples.size()), task.shots)) {
    const CoreExample& shot = examples[static_cast<size_t>(i)];
    text += Render(shot, task, static_cast<size_t>(shot.gold)) + "\n\n";
  }
  return text;
}

using Tokens = std::vector<int32_t>;

int64_t CommonPrefix(const std::vector<CorePrompt>& prompts) {
  const Tokens& first = prompts[0].tokens;
  size_t n = first.size();
  for (const CorePrompt& p : prompts) {
    const size_t most = std::min(n, p.tokens.size());
    n = 0;
    while (n < most && p.tokens[n] == first[n]) ++n;
  }
  return static_cast<int64_t>(n);
}

int64_t CommonSuffix(const std::vector<CorePrompt>& prompts) {
  const Tokens& first = prompts[0].tokens;
  size_t n = first.size();
  for (const CorePrompt& p : prompts) {
    const size_t most = std::min(n, p.tokens.size());
    n = 0;
    while (n < most &&
           p.tokens.rbegin()[static_cast<int64_t>(n)] == first.rbegin()[static_cast<int64_t>(n)]) {
      ++n;
    }
  }
  return static_cast<int64_t>(n);
}

// The answer's tokens are those after the prompt without it, which must open the one with it.
Status SetAnswerSpan(std::vector<CorePrompt>* prompts) {
  const Tokens without = std::move((*prompts)[0].tokens);
  prompts->erase(prompts->begin());
  CorePrompt& with = prompts->front();
  if (without.size() >= with.tokens.size() ||
      !std::equal(without.begin(), without.end(), with.tokens.begin())) {
    return Error(Code::kInvalidArgument,
                 "the prompt's tokens are not the first ones of prompt and answer; the tokenizer "
                 "joins what the protocol separates");
  }
  with.begin = static_cast<int64_t>(without.size());
  with.end = static_cast<int64_t>(with.tokens.size());
  return {};
}

Status SetSpans(CoreKind kind, std::vector<CorePrompt>* prompts) {
  if (kind == CoreKind::kLanguageModeling) return SetAnswerSpan(prompts);
  const bool schema = kind == CoreKind::kSchema;
  const int64_t shared = schema ? CommonSuffix(*prompts) : CommonPrefix(*prompts);
  for (CorePrompt& p : *prompts) {
    p.end = static_cast<int64_t>(p.tokens.size());
    p.begin = schema ? p.end - shared : shared;
  }
  return {};
}

Status Limit(const PromptLimits& limits, CorePrompt* prompt) {
  const auto size = static_cast<int64_t>(prompt->tokens.size());
  if (limits.keep > 0 && size > limits.keep) {
    const int64_t cut = size - limits.keep;
    prompt->tokens.erase(prompt->tokens.begin(), prompt->tokens.begin() + cut);
    prompt->begin -= cut;
    prompt->end -= cut;
  } else if (size > limits.longest) {
    return Error(Code::kInvalidArgument,
                 "a prompt has {} tokens; this model takes {} (ten times its context); "
                 "--truncate N keeps the last N tokens",
                 size, limits.longest);
  }
  // The first scored token needs one before it that predicts it.
  if (prompt->begin < 1) {
    return Error(Code::kInvalidArgument, "a prompt's scored part begins at token {} of {}; {}",
                 prompt->begin, prompt->tokens.size(), "keep more with --truncate");
  }
  return {};
}

}  // namespace

std::string_view PythonStrip(std::string_view text) {
  while (const size_t n = SpaceAt(text)) text.remove_prefix(n);
  while (const size_t n = SpaceBeforeEnd(text)) text.remove_suffix(n);
  return text;
}

std::vector<std::string> RenderCorePrompts(const std::vector<CoreExample>& examples, int64_t index,
                                           const CoreTask& task) {
  const CoreExample& example = examples[static_cast<size_t>(index)];
  const std::string shots = RenderShots(examples, index, task);
  if (task.kind == CoreKind::kLanguageModeling) {
    const std::string without = shots + std::string(PythonStrip(example.query)) + task.delimiter;
    return {std::string(PythonStrip(without)), shots + Render(example, task, 0)};
  }
  std::vector<std::string> texts;
  for (size_t i = 0; i < example.choices.size(); ++i) {
    texts.push_back(shots + Render(example, task, i));
  }
  return texts;
}

Result<CoreQuestion> MakeCoreQuestion(const std::vector<CoreExample>& examples, int64_t index,
                                      const CoreTask& task, const text::Tokenizer& tokenizer,
                                      const PromptLimits& limits) {
  if (const auto n = static_cast<int64_t>(examples.size()); n - 1 < task.shots) {
    return Error(Code::kInvalidArgument,
                 "{} examples are too few for {} shots; use --max-per-task {} or more", n,
                 task.shots, task.shots + 1);
  }
  CoreQuestion question;
  question.gold = examples[static_cast<size_t>(index)].gold;
  for (const std::string& text : RenderCorePrompts(examples, index, task)) {
    CorePrompt prompt;
    prompt.tokens.push_back(tokenizer.bos());
    tokenizer.Encode(text, &prompt.tokens);
    question.prompts.push_back(std::move(prompt));
  }
  WT_RETURN_IF_ERROR(SetSpans(task.kind, &question.prompts));
  for (CorePrompt& prompt : question.prompts) WT_RETURN_IF_ERROR(Limit(limits, &prompt));
  return question;
}

}  // namespace wt::eval
