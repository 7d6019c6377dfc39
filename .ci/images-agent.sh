#!/usr/bin/env bash
# Run beside a control plane in a container by .ci/images: AGENT-IMAGE KEYS. Joins an agent, and runs it in a container of its own.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/checks.sh"
image=$1 keys=$2
base=http://127.0.0.1:8080
confined=(--network host --read-only --tmpfs /tmp:mode=1777 --cap-drop ALL --security-opt no-new-privileges --volume agent:/data
  --cgroup-parent "$(podman inspect "$CONTAINER" --format '{{.HostConfig.CgroupParent}}')" -e "SECRET_KEYS=$keys" -e FILE_SCAN_MODE=off)

PASSWORD=$(podman exec "$CONTAINER" duebook bootstrap --tenant-slug acme --tenant-name 'Acme Ltd' --name 'Ann Lee' --email ann@acme.example --json |
  node -pe 'JSON.parse(fs.readFileSync(0)).password')
export PASSWORD
join=(duebook-agent join --unless-joined --control-plane http://localhost:8080)
podman exec "$CONTAINER" duebook agents invite --tenant acme | podman run --rm -i "${confined[@]}" "$image" "${join[@]}" --token-file -
podman run --rm "${confined[@]}" "$image" "${join[@]}" # joined, so it needs no token
agent=$(podman run -d "${confined[@]}" "$image")
began=$SECONDS
until podman healthcheck run "$agent" >/dev/null 2>&1; do
  ((SECONDS - began < 60)) || { podman logs "$agent"; exit 1; }
  sleep 0.3
done
for _ in $(seq 100); do
  curl -fsS http://127.0.0.1:8090/healthz | grep -q '"link":"connected"' && break
  sleep 0.3
done
curl -fsS http://127.0.0.1:8090/healthz | grep '"link":"connected"'
id=$(node "$here/api.mjs" "$base" create)
node "$here/api.mjs" "$base" read "$id" | grep '"totalAmount":120000'
podman exec "$agent" duebook-agent doctor
[[ "$(podman exec "$agent" id -u)" == 10001 ]]
refused podman exec "$agent" touch /app/x
began=$(date +%s)
podman stop -t 30 "$agent" >/dev/null
[[ "$(podman inspect "$agent" --format '{{.State.ExitCode}}')" == 0 ]]
(($(date +%s) - began < 30))
