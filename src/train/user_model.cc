#include "train/user_model.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fcntl.h>
#include <vector>

#include "base/files.h"
#include "nn/model_file.h"

#ifndef WT_INCLUDE_DIR
#error "WT_INCLUDE_DIR must name the folder of the public headers"
#endif

namespace wt::train {
namespace {

// Runs a program with its output in `log`; its exit status, or -1.
int RunProgram(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) dup2(fd, 1), dup2(fd, 2);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string FirstLines(const std::string& text, int count) {
  size_t end = 0;
  for (int i = 0; i < count && end != std::string::npos; ++i) end = text.find('\n', end + (i > 0));
  return text.substr(0, end);
}

Status Compile(const std::string& source, const std::string& object) {
  const char* compiler = std::getenv("CXX");
  const std::string log = object + ".log", fresh = object + ".new";
  const int exit_status = RunProgram({compiler && *compiler ? compiler : "g++", "-std=c++20", "-O1", "-shared",
                                      "-fPIC", "-I", WT_INCLUDE_DIR, "-o", fresh, source},
                                     log);
  if (exit_status == 0 && rename(fresh.c_str(), object.c_str()) == 0) return {};
  if (exit_status == 127) {
    return Error(Code::kNotFound, "model file {}: no C++ compiler found; install g++ or set CXX", source);
  }
  const Result<std::string> text = ReadFile(log);
  return Error(Code::kInvalidArgument, "model file {} does not compile:\n{}", source,
               text.ok() ? FirstLines(*text, 12) : "no output");
}

}  // namespace

Result<nn::ModelFunction> LoadUserModel(const std::string& source, const std::string& cache) {
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(source));
  WT_RETURN_IF_ERROR(MakeFolders(cache));
  WT_ASSIGN_OR_RETURN(const std::string program, Sha256OfFile("/proc/self/exe"));
  const std::string object = cache + "/" + Sha256(text + program).substr(0, 16) + ".so";
  if (!FileExists(object)) WT_RETURN_IF_ERROR(Compile(source, object));
  void* library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return Error(Code::kInvalidArgument, "model file {}: {}", source, dlerror());
  const auto abi = reinterpret_cast<int (*)()>(dlsym(library, "wt_model_abi"));
  const auto build = reinterpret_cast<void (*)(nn::Graph*, const nn::ModelConfig*, nn::ValueId,
                                               nn::ModelOutput*)>(dlsym(library, "wt_model_build"));
  if (!abi || !build || abi() != WT_MODEL_ABI) {
    return Error(Code::kInvalidArgument,
                 "model file {} names no model; end it with WT_MODEL(your_function) from nn/model_file.h",
                 source);
  }
  return nn::ModelFunction([build](nn::Graph& graph, const nn::ModelConfig& config, nn::ValueId tokens) {
    nn::ModelOutput output;
    build(&graph, &config, tokens, &output);
    return output;
  });
}

Result<nn::ModelFunction> ResolveModel(const std::string& source, const std::string& cache) {
  if (source.empty()) return nn::ModelFunction(nn::BuildGpt);
  return LoadUserModel(source, cache);
}

}  // namespace wt::train
