# Sourced by .ci/kubernetes.sh: a rolling update of several replicas on PostgreSQL, under steady requests to the Service.
# The next release is the same program with a migration more in each database (.ci/next.mjs), so that the release under test is the previous
# one: it serves on a schema that it does not know.

# On the node's address; it ends with the cluster.
node_modules/.bin/node --import=tsx .ci/postgres.mjs 10.200.0.1 5432 >"$folder/urls" 2>"$folder/postgres.log" &
postgres=$!
postgres_runs() {
  for _ in $(seq 600); do [[ ! -s "$folder/urls" ]] || return 0; sleep 0.1; done
  cat "$folder/postgres.log"
  return 1
}
database_url() { node -p "JSON.parse(fs.readFileSync('$folder/urls'))['$1']"; }
in_rolling() { kubectl -n rolling exec deployment/rolling-duebook -- "$@"; }

replicas_installed() {
  kubectl create namespace rolling
  kubectl label namespace rolling pod-security.kubernetes.io/enforce=restricted
  kubectl -n rolling create secret generic duebook --from-literal=SECRET_KEYS="$(new_keys)" \
    --from-literal=PLATFORM_DATABASE_URL="$(database_url platform)" --from-literal=TENANT_DATABASE_URL="$(database_url tenant)"
  helm install rolling helm/duebook -n rolling "${server[@]}" --set publicUrl=http://localhost:18080 --set existingSecret=duebook --set replicas=3 \
    --set database.type=postgres --set 'persistence.accessModes={ReadWriteMany}' --set scanner.mode=off --set settings.MFA_REQUIRED_FOR_ADMINS=false \
    --set settings.RATE_LIMIT_PER_MINUTE=6000 --set resources.requests.cpu=50m --wait --timeout 300s
  in_rolling duebook bootstrap --tenant-slug acme --tenant-name 'Acme Ltd' --name 'Ann Lee' --email ann@acme.example --json |
    node -pe 'JSON.parse(fs.readFileSync(0)).password' >"$folder/rolling-password"
  equal 3 "$(kubectl -n rolling get deployment rolling-duebook -o jsonpath='{.status.readyReplicas}')"
}
names() { kubectl -n rolling get pods -l app.kubernetes.io/component=server -o name | sort; }
# replaced COMMAND...: by it each pod is, under steady requests from before it until the last pod has ended, of which none may fail.
replaced() {
  local pid code=0
  names >"$folder/pods"
  PASSWORD=$(cat "$folder/rolling-password") node .ci/steady.mjs "http://$(kubectl -n rolling get service rolling-duebook -o jsonpath='{.spec.clusterIP}')" >"$folder/steady" 2>&1 &
  pid=$!
  sleep 5
  (set -euo pipefail; "$@") & # in the background, because `set -e` has no effect in a condition
  wait $! || code=$?
  for _ in $(seq 120); do [[ -n "$(names | comm -12 "$folder/pods" -)" ]] || break; sleep 0.5; done
  sleep 3
  kill -TERM "$pid" || true # it may have failed before
  wait "$pid" || { code=$?; kubectl -n rolling get pods; }
  tee -a "$folder/rolling-counts" <"$folder/steady"
  equal '' "$(names | comm -12 "$folder/pods" -)"
  return "$code"
}
changed() { helm upgrade rolling helm/duebook -n rolling --reuse-values --set settings.LOG_LEVEL=warn --wait --timeout 300s; }
next_release() {
  helm upgrade rolling helm/duebook -n rolling --reuse-values --set image.tag=next --wait --timeout 300s
  in_rolling duebook migrate --status --json | tee "$folder/migrated"
  equal 2 "$(grep -o 'next-release' "$folder/migrated" | wc -l)"
}
check 'PostgreSQL runs beside the cluster' postgres_runs
check 'three replicas on PostgreSQL share a volume' replicas_installed
check 'no request fails while a changed setting replaces them one after the other' replaced changed
check 'no request fails while the next release migrates and replaces them: the previous one serves on its schema' replaced next_release
cat "$folder/rolling-counts" || true
kill "$postgres"
wait "$postgres" || true
