# Sourced by ./run, ./test and .ci/: one line a stage with its time, the output kept in build/log/,
# and the stages that more than one of them has.
# Needs $root, the repository's folder; goes there.
cd "$root"
if [ ! -w "$root" ]; then
  echo "$root: this user may not write here; clone the repository into a folder of your own" >&2
  exit 1
fi
mkdir -p build/log
[ -w "${HOME:-/}" ] || export CCACHE_DIR=$root/build/ccache
export CCACHE_BASEDIR=$root  # other clones find the same objects
python=/usr/bin/python3      # the distribution's: another one on the PATH may be older
ticker=

end_ticker() {
  [ -z "$ticker" ] || kill "$ticker" 2>/dev/null || true
  ticker=
}
interrupted() {
  end_ticker
  printf '\nstopped; what was finished is kept, and the next time goes on from there\n' >&2
  exit 130
}
trap end_ticker EXIT
trap interrupted INT TERM

seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

# The last line that is not blank, without what moves a cursor.
last_line() {
  tail -c 4096 "$1" 2>/dev/null | tr '\r' '\n' | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g' |
    awk 'NF { last = $0 } END { print last }'
}

show_progress() {  # name log start
  local columns line
  columns=$(tput cols 2>/dev/null || echo 80)
  while sleep 0.5; do
    line=$(last_line "$2")
    printf '\r\033[K%-9s %6.0f s  %s' "$1" "$(seconds_since "$3")" "${line:0:columns - 21}"
  done
}

# stage NAME COMMAND...: the command's last line becomes the stage's; the end of its output is
# shown when it fails.
stage() {
  local name=$1 log=build/log/${1// /-}.log start=$EPOCHREALTIME code=0
  shift
  : >"$log"
  if [ -t 1 ] && [ -z "${CI:-}" ]; then
    show_progress "$name" "$log" "$start" &
    ticker=$!
    disown  # no word when it is ended
  fi
  "$@" >"$log" 2>&1 || code=$?
  if [ -n "$ticker" ]; then
    end_ticker
    printf '\r\033[K'
  fi
  if [ $code -ne 0 ]; then
    printf '%-9s %6s s  failed; the end of %s:\n' "$name" "$(seconds_since "$start")" "$log" >&2
    tail -n 40 "$log" >&2
    return $code
  fi
  printf '%-9s %6s s  %s\n' "$name" "$(seconds_since "$start")" "$(last_line "$log")"
}

# build PRESET [TARGET...]: configures when that was not done; everything when no target is named.
build() {
  local preset=$1 steps
  shift
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" || return
  cmake --build --preset "$preset" ${1+--target "$@"} | tee build/log/ninja.out || return
  steps=$(sed -n 's/^\[\([0-9]*\)\/[0-9]*\].*/\1/p' build/log/ninja.out | tail -n 1)
  if grep -q 'no work to do' build/log/ninja.out; then
    echo "build/$preset is up to date"
  else
    echo "build/$preset, ${steps:-0} steps"
  fi
}
