# shellcheck shell=bash
# What every script shares. Sourced, never run: it leaves the caller in the
# repository's root with `repo` set.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$repo" || exit 1

# Messages go to standard error, so that a script's output can be piped.
say() { printf '\033[1m%s\033[0m\n' "== $*" >&2; }
note() { printf '%s\n' "   $*" >&2; }
die() {
  printf '%s\n' "error: $*" >&2
  exit 1
}

# Without a terminal the marks would be noise.
if [[ ! -t 2 ]]; then
  say() { printf '%s\n' "== $*" >&2; }
fi

# need PROGRAM...: ends with a remedy if one is missing.
need() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null ||
      die "'$program' is not installed; run scripts/setup"
  done
}

# usage [STATUS]: prints the comment at the head of the script that is running.
# shellcheck disable=SC2120
usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
  exit "${1:-0}"
}

# elapsed SECONDS_AT_START: the time since then, as 3m07s.
elapsed() {
  local seconds=$((SECONDS - $1))
  printf '%dm%02ds' $((seconds / 60)) $((seconds % 60))
}

# jobs_count: how many things to do at once.
jobs_count() { nproc 2>/dev/null || echo 2; }
