#include "text/pretokenizer_pcre.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "text/pretokenizer_utf8.h"

namespace wt::text {
namespace {

constexpr std::string_view kWhiteSpace =
    R"(\x{09}-\x{0D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A})"
    R"(\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";

// A long run may need backtracking state. The stack grows only when a match asks; beyond its limit
// the interpreter takes over, which keeps its state on the heap.
constexpr size_t kJitStackStart = 64 << 10, kJitStackLimit = 8 << 20;

std::string PcreMessage(int error) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(error, buffer, sizeof buffer);
  return reinterpret_cast<const char*>(buffer);
}

}  // namespace

std::string PatternForPcre(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char escaped = pattern[++i];
      if (escaped == 's') {
        out += in_class ? std::string(kWhiteSpace) : fmt::format("[{}]", kWhiteSpace);
      } else if (escaped == 'S' && !in_class) {
        out += fmt::format("[^{}]", kWhiteSpace);
      } else {
        out += {c, escaped};
      }
      continue;
    }
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    out += c;
  }
  return out;
}

struct PcreSplitter::Compiled {
  ~Compiled() { pcre2_code_free(code); }
  pcre2_code* code = nullptr;
  bool jit = false;
};

struct PcreSplitter::Scratch::State {
  State() : stack(pcre2_jit_stack_create(kJitStackStart, kJitStackLimit, nullptr)) {
    WT_CHECK(data != nullptr && context != nullptr && stack != nullptr, "PCRE2 is out of memory");
    pcre2_jit_stack_assign(context, nullptr, stack);
    pcre2_set_match_limit(context, UINT32_MAX);
    pcre2_set_heap_limit(context, UINT32_MAX);
    pcre2_set_depth_limit(context, UINT32_MAX);
  }
  ~State() {
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
  }
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack;
};

PcreSplitter::Scratch::Scratch() : state_(std::make_unique<State>()) {}
PcreSplitter::Scratch::~Scratch() = default;
PcreSplitter::Scratch::Scratch(Scratch&&) noexcept = default;

PcreSplitter::PcreSplitter(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
PcreSplitter::~PcreSplitter() = default;

Result<std::shared_ptr<const PcreSplitter>> PcreSplitter::Compile(std::string_view pattern) {
  const std::string text = PatternForPcre(pattern);
  auto compiled = std::make_unique<Compiled>();
  int error = 0;
  PCRE2_SIZE offset = 0;
  // DOLLAR_ENDONLY: `$` is the very end, as in the engines the patterns were written for.
  compiled->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY, &error, &offset, nullptr);
  if (compiled->code == nullptr) {
    return Error(Code::kUnsupported, "split pattern `{}`: PCRE2 says \"{}\" at byte {}", pattern,
                 PcreMessage(error), offset);
  }
  // Without JIT (a hardened kernel forbids it) the interpreter gives the same pieces, slower.
  compiled->jit = pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE) == 0;
  return std::shared_ptr<const PcreSplitter>(new PcreSplitter(std::move(compiled)));
}

PcreSplitter::Match PcreSplitter::Find(std::string_view subject, size_t begin,
                                       Scratch* scratch) const {
  const auto* text = reinterpret_cast<PCRE2_SPTR>(subject.data());
  Scratch::State& state = *scratch->state_;
  int found = PCRE2_ERROR_JIT_STACKLIMIT;
  if (compiled_->jit) {
    found = pcre2_jit_match(compiled_->code, text, subject.size(), begin, PCRE2_NO_UTF_CHECK,
                            state.data, state.context);
  }
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    found = pcre2_match(compiled_->code, text, subject.size(), begin,
                        PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, state.data, state.context);
  }
  if (found == PCRE2_ERROR_NOMATCH) return {subject.size(), subject.size()};
  // With its limits lifted a match can fail only for want of memory.
  WT_CHECK(found >= 0, "PCRE2 match at byte {}: {}", begin, PcreMessage(found));
  const PCRE2_SIZE* range = pcre2_get_ovector_pointer(state.data);
  return {range[0], range[1]};
}

size_t PcreSplitter::PieceEnd(std::string_view subject, size_t begin, Scratch* scratch) const {
  const Match match = Find(subject, begin, scratch);
  if (match.begin > begin) return match.begin;
  // An empty match takes one code point, so that every piece has bytes.
  const char* p = subject.data() + begin;
  return match.end > begin ? match.end
                           : begin + DecodeCodePoint(p, subject.data() + subject.size()).bytes;
}

}  // namespace wt::text
