#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.h"

namespace wt::train {

Result<RunFolder> RunFolder::Lock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Error(Code::kIo, "cannot open folder {}: {}", path, std::strerror(errno));
  RunFolder folder(path, fd);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return folder;
  return Error(Code::kIo,
               "{} is in use by another process; wait for it, stop it or choose another folder",
               path);
}

Result<RunFolder> RunFolder::Create(const std::string& path, const Recipe& recipe) {
  WT_RETURN_IF_ERROR(MakeFolders(path));
  WT_ASSIGN_OR_RETURN(RunFolder folder, Lock(path));
  for (const std::string& file : {folder.recipe_path(), folder.ledger_path()}) {
    if (!FileExists(file)) continue;
    return Error(Code::kInvalidArgument,
                 "{} holds a run already; resume that run or choose another folder", path);
  }
  WT_RETURN_IF_ERROR(SaveRecipe(recipe, folder.recipe_path()));
  return folder;
}

Result<RunFolder> RunFolder::Open(const std::string& path) {
  if (!FileExists(path + "/recipe.toml")) {
    return Error(Code::kNotFound, "{}: no run there; expected a folder with recipe.toml in it",
                 path);
  }
  return Lock(path);
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

RunFolder::~RunFolder() {
  if (lock_ >= 0) close(lock_);
}

}  // namespace wt::train
