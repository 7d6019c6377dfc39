#!/usr/bin/env bash
# Run by .ci/images beside a server in a container, in its network namespace: SERVER-IMAGE AGENT-IMAGE KEYS. A server on PostgreSQL, in a
# container of its own, is backed up in its container while it runs, and the backup is verified there and in one of the agent's image.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/checks.sh"
image=$1 agent=$2 keys=$3
folder=$(mktemp -d)
"$here/../node_modules/.bin/node" --import=tsx "$here/postgres.mjs" 127.0.0.1 5499 >"$folder/urls" &
postgres=$!
trap 'kill "$postgres" && wait "$postgres"; rm -rf "$folder" "$checks_log"' EXIT
for _ in $(seq 600); do [[ ! -s "$folder/urls" ]] || break; sleep 0.1; done
url() { node -p "JSON.parse(fs.readFileSync('$folder/urls'))['$1']"; }
confined=(--network host --read-only --tmpfs /tmp:mode=1777 --cap-drop ALL --security-opt no-new-privileges
  --cgroup-parent "$(podman inspect "$CONTAINER" --format '{{.HostConfig.CgroupParent}}')")
server=$(podman run -d "${confined[@]}" -e "SECRET_KEYS=$keys" -e FILE_SCAN_MODE=off -e MFA_REQUIRED_FOR_ADMINS=false -e PORT=8081 \
  -e PUBLIC_URL=http://127.0.0.1:8081 -e "PLATFORM_DATABASE_URL=$(url platform)" -e "TENANT_DATABASE_URL=$(url tenant)" \
  -e "BACKUP_TENANT_DATABASE_URL=$(url backup)" "$image")
began=$SECONDS
until curl -fsS http://127.0.0.1:8081/readyz >/dev/null 2>&1; do
  ((SECONDS - began < 60)) || { podman logs "$server"; exit 1; }
  sleep 0.3
done
# At least of the version that compose.yaml names.
needed=$(sed -nE 's/^ +image: postgres:([0-9]+).*/\1/p' "$here/../docker/compose.yaml")
for program in pg_dump pg_restore; do
  for text in "$(podman exec "$server" "$program" --version)" "$(podman run --rm "${confined[@]}" "$agent" "$program" --version)"; do
    [[ $text =~ \(PostgreSQL\)\ ([0-9]+)\. ]] && ((BASH_REMATCH[1] >= needed)) || { echo "$program: $text"; exit 1; }
  done
done
PASSWORD=$(podman exec "$server" duebook bootstrap --tenant-slug acme --tenant-name 'Acme Ltd' --name 'Ann Lee' --email ann@acme.example --json |
  node -pe 'JSON.parse(fs.readFileSync(0)).password')
export PASSWORD
id=$(node "$here/api.mjs" http://127.0.0.1:8081 create)
export BACKUP_PASSPHRASE='a passphrase of the checks'
podman exec -e BACKUP_PASSPHRASE "$server" duebook backup /data/book.tar
podman exec -e BACKUP_PASSPHRASE "$server" duebook backup verify /data/book.tar
# The dump has the rows of the organisation, which row-level security hides from the role of the server.
podman exec "$server" sh -ec 'cd /tmp && tar -xf /data/book.tar && pg_restore --data-only --table=contracts --file=- databases/tenant.dump' >"$folder/rows"
grep -q "$id" "$folder/rows"
podman exec "$server" cat /data/book.tar | podman run --rm -i "${confined[@]}" -e "SECRET_KEYS=$keys" -e FILE_SCAN_MODE=off -e BACKUP_PASSPHRASE "$agent" sh -ec 'cat >/tmp/book.tar && duebook backup verify /tmp/book.tar'
podman stop -t 30 "$server" >/dev/null
equal 0 "$(podman inspect "$server" --format '{{.State.ExitCode}}')"
