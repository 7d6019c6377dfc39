# Shared by the scripts that check images and charts: counts checks, and prints `N passed, N failed` as the last line.
passed=0
failed=0
checks_log=$(mktemp)
trap 'rm -f "$checks_log"' EXIT

# check SENTENCE COMMAND...: COMMAND may be a function; any failing line of it fails the check.
check() {
  local sentence=$1 began=$SECONDS code=0
  shift
  # In the background, because `set -e` has no effect in a condition.
  (set -euo pipefail; "$@") >"$checks_log" 2>&1 &
  wait $! || code=$?
  if ((code == 0)); then
    passed=$((passed + 1))
    echo "  ✔ $sentence ($((SECONDS - began)) s)"
  else
    failed=$((failed + 1))
    echo "failed: $sentence (exit $code)"
    tail -n 40 "$checks_log" | sed 's/^/    | /'
  fi
  return 0
}

# equal EXPECTED ACTUAL
equal() {
  [[ "$1" == "$2" ]] || { printf 'expected: %s\nactual:   %s\n' "$1" "$2"; return 1; }
}

# refused COMMAND...: fails if the command succeeds. (`! command` does not: `set -e` ignores it.)
refused() {
  if "$@"; then echo "not refused: $*"; return 1; fi
}

summary() {
  echo "$passed passed, $failed failed"
  ((failed == 0))
}
