// one input = affix file, a line "%%", dictionary, a line "%%", words to look up (one a line):
// build a Hunspell object from them, spell and suggest every word (PRINT=1: print the answers)
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>
#include "hunspell.hxx"

namespace {
class TempFile {   // an in-memory file with a path, as Hunspell only reads files
 public:
  explicit TempFile(const std::string &text) : fd_(memfd_create("hunspell", 0)) {
    for (size_t at = 0; at < text.size();) {
      ssize_t n = write(fd_, text.data() + at, text.size() - at);
      if (n <= 0) abort();
      at += n;
    }
    path_ = "/proc/self/fd/" + std::to_string(fd_);
  }
  ~TempFile() { close(fd_); }
  const char *path() const { return path_.c_str(); }
 private:
  int fd_;
  std::string path_;
};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<std::string> part(1);
  std::istringstream in(std::string(reinterpret_cast<const char *>(data), size));
  for (std::string line; std::getline(in, line);) {
    if (line == "%%") part.push_back("");
    else part.back() += line + "\n";
  }
  part.resize(3);
  TempFile aff(part[0]), dic(part[1]);
  Hunspell speller(aff.path(), dic.path());
  std::istringstream words(part[2]);
  for (std::string word; std::getline(words, word);) {
    bool good = speller.spell(word);
    std::vector<std::string> found = speller.suggest(word);
    if (!getenv("PRINT")) continue;
    printf("%s %s", word.c_str(), good ? "+" : "-");
    for (const std::string &s : found) printf(" %s", s.c_str());
    puts("");
  }
  return 0;
}

extern "C" const char *__asan_default_options(void) { return "detect_leaks=0"; }

