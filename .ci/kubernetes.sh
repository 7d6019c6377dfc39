#!/usr/bin/env bash
# The checks of the charts, run by .ci/cluster-tests within a cluster: KUBECONFIG, kubectl, helm and kubeconform are there, the images are
# imported, and the namespace "restricted" enforces the Pod Security Standard of that name. The last line is `N passed, N failed`.
set -euo pipefail
folder=$1
. .ci/checks.sh
server=(--set image.repository=localhost/duebook-server --set image.tag=test)
agent=(--set image.repository=localhost/duebook-agent --set image.tag=test)
values_files=(helm/duebook/ci/{minimal,postgres-s3,replicas,air-gapped}.yaml helm/duebook-agent/ci/{outbound,direct}.yaml)
new_keys() { echo "k1:$(head -c 32 /dev/urandom | base64)"; }

# forwarded NAMESPACE SERVICE PORT COMMAND...: with the Service at 127.0.0.1:18080.
forwarded() {
  local namespace=$1 service=$2 port=$3 pid code=0
  shift 3
  rm -f "$folder/forward.log" # what the one before said must not count
  kubectl -n "$namespace" port-forward "service/$service" "18080:$port" >"$folder/forward.log" 2>&1 &
  pid=$!
  for _ in $(seq 600); do grep -qs Forwarding "$folder/forward.log" && break; sleep 0.1; done
  "$@" || { code=$?; cat "$folder/forward.log" >&2; kubectl -n "$namespace" get pods >&2; }
  kill "$pid"
  wait "$pid" || true
  return "$code"
}

# ---- what every shipped values file renders ----
valid() { # the API server knows every field, and Pod Security has nothing to object
  local chart
  chart=$(dirname "$(dirname "$1")")
  helm template book "$chart" --namespace restricted --kube-version 1.34.0 --values "$1" >"$folder/rendered.yaml"
  kubectl -n restricted create --dry-run=server --validate=strict -f "$folder/rendered.yaml" >"$folder/created" 2>"$folder/warned" || { cat "$folder/warned"; return 1; }
  cat "$folder/created"
  equal '' "$(cat "$folder/warned")"
  equal "$(grep -c '^kind: ' "$folder/rendered.yaml")" "$(wc -l <"$folder/created")"
}
# Enforcement alone concerns pods: with this, objects that make pods cause warnings too.
kubectl label namespace restricted pod-security.kubernetes.io/warn=restricted >/dev/null
for file in "${values_files[@]}"; do check "$file is valid, without a warning of Pod Security" valid "$file"; done

warned() { # that the check before can fail
  helm template book helm/duebook --kube-version 1.34.0 --values helm/duebook/ci/minimal.yaml | sed 's/runAsNonRoot: true/runAsNonRoot: false/' >"$folder/rendered.yaml"
  kubectl -n restricted create --dry-run=server --validate=strict -f "$folder/rendered.yaml" 2>"$folder/warned" >/dev/null || true
  grep -q 'would violate PodSecurity' "$folder/warned"
  sed 's/automountServiceAccountToken/autoMountServiceAccountToken/' "$folder/rendered.yaml" >"$folder/wrong.yaml"
  refused kubectl -n restricted create --dry-run=server --validate=strict -f "$folder/wrong.yaml" 2>"$folder/said"
  grep -q 'unknown field' "$folder/said"
}
check 'a chart that asked for more rights, or had an unknown field, would be noticed' warned

schemas() {
  .ci/cluster/cluster.sh schemas "$folder/schemas"
  for file in "${values_files[@]}"; do
    helm template book "$(dirname "$(dirname "$file")")" --namespace restricted --kube-version 1.34.0 --values "$file" |
      kubeconform -strict -summary -schema-location "$folder/schemas/{{.ResourceKind}}{{.KindSuffix}}.json" -
  done
}
check 'the schemas of this API server describe every object' schemas

typo() {
  refused helm install typo helm/duebook -n restricted -f helm/duebook/ci/minimal.yaml --set persistance.enabled=true 2>"$folder/said"
  grep -q "additional properties 'persistance' not allowed\|Additional property persistance is not allowed" "$folder/said"
  refused helm install typo helm/duebook -n restricted -f helm/duebook/ci/minimal.yaml --set settings.LOG_LEVLE=debug
  refused helm install typo helm/duebook -n restricted --set publicUrl=https://a.test --set scanner.mode=off 2>"$folder/said"
  grep -q 'existingSecret is required' "$folder/said"
}
check 'a typing error in the values, and an installation without a Secret, are refused' typo

# ---- the server, with SQLite ----
installs() {
  kubectl -n restricted create secret generic duebook --from-literal=SECRET_KEYS="$(new_keys)"
  helm install book helm/duebook -n restricted -f helm/duebook/ci/minimal.yaml "${server[@]}" --set publicUrl=http://localhost:18080 \
    --set settings.MFA_REQUIRED_FOR_ADMINS=false --wait --timeout 180s | tee "$folder/notes"
  grep -q 'duebook bootstrap' "$folder/notes"
}
check 'the server is installed into a restricted namespace' installs
check 'helm test passes' helm test book -n restricted
no_secrets() {
  helm get manifest book -n restricted >"$folder/manifest"
  helm get hooks book -n restricted >>"$folder/manifest"
  refused grep -iE 'kind: Secret|password|k1:' "$folder/manifest"
}
check 'no secret and no password is rendered' no_secrets

in_server() { kubectl -n restricted exec deployment/book-duebook -- "$@"; }
bootstraps() {
  in_server duebook bootstrap --tenant-slug acme --tenant-name 'Acme Ltd' --name 'Ann Lee' --email ann@acme.example --json |
    node -pe 'JSON.parse(fs.readFileSync(0)).password' >"$folder/password"
  in_server duebook doctor
}
check 'duebook bootstrap makes the first organisation, and doctor finds no failure' bootstraps
api() { PASSWORD=$(cat "$folder/password") node .ci/api.mjs http://127.0.0.1:18080 "$@"; }
creates() {
  forwarded restricted book-duebook 80 api create >"$folder/contract"
  forwarded restricted book-duebook 80 api read "$(cat "$folder/contract")" >"$folder/before"
  grep '"totalAmount":120000' "$folder/before"
}
check 'an administrator signs in and makes a contract' creates
as_before() { equal "$(cat "$folder/before")" "$(forwarded restricted book-duebook 80 api read "$(cat "$folder/contract")")"; }
no_root() { # NAMESPACE POD CONTAINER
  equal 10001 "$(kubectl -n "$1" exec "$2" -c "$3" -- id -u)"
  refused kubectl -n "$1" exec "$2" -c "$3" -- touch /app/x
  kubectl -n "$1" exec "$2" -c "$3" -- cat /proc/1/status | grep -E '^CapEff:\s*0+$'
  refused kubectl -n "$1" exec "$2" -c "$3" -- ls /var/run/secrets/kubernetes.io
}
check 'the server runs as a user without rights, read-only, without capabilities and without a token' no_root restricted deployment/book-duebook server

pod_deleted() {
  kubectl -n restricted delete pod -l app.kubernetes.io/component=server --wait
  kubectl -n restricted rollout status deployment/book-duebook --timeout 120s
  as_before
}
check 'the data are there after the pod was deleted' pod_deleted
killed() { # as when a node fails: no signal, no time
  kubectl -n restricted delete pod -l app.kubernetes.io/component=server --grace-period=0 --force --wait
  kubectl -n restricted rollout status deployment/book-duebook --timeout 120s
  as_before
}
check 'the data are there after the pod was killed' killed
upgraded() {
  kubectl -n restricted get events --watch-only -o custom-columns=NAME:.involvedObject.name,REASON:.reason --no-headers >"$folder/events" 2>/dev/null &
  local watching=$!
  helm upgrade book helm/duebook -n restricted --reuse-values --set settings.LOG_LEVEL=debug --wait --timeout 180s | tee "$folder/notes"
  sleep 1
  kill "$watching"
  grep -E '^book-duebook-migrate +Completed' "$folder/events"
  grep -q 'duebook doctor' "$folder/notes"
  equal debug "$(kubectl -n restricted get deployment book-duebook -o jsonpath='{.spec.template.spec.containers[0].env[?(@.name=="LOG_LEVEL")].value}')"
  as_before
}
check 'an upgrade migrates with its job first, and the data are there' upgraded
rolled_back() {
  helm rollback book 1 -n restricted --wait --timeout 180s
  equal '' "$(kubectl -n restricted get deployment book-duebook -o jsonpath='{.spec.template.spec.containers[0].env[?(@.name=="LOG_LEVEL")].value}')"
  as_before
}
check 'the data are there after a rollback' rolled_back
failing_upgrade() { # keys that do not open the data: the job fails, and the pods stay as they are
  kubectl -n restricted create secret generic other --from-literal=SECRET_KEYS=nonsense
  refused helm upgrade book helm/duebook -n restricted --reuse-values --set existingSecret=other --wait --timeout 120s
  kubectl -n restricted delete job book-duebook-migrate --ignore-not-found
  as_before
  helm rollback book -n restricted --wait --timeout 180s
}
check 'an upgrade whose migration fails leaves the former pods running' failing_upgrade
maintained() {
  helm upgrade book helm/duebook -n restricted --reuse-values --set maintenance=true --wait --timeout 120s
  in_server duebook migrate --status
  helm upgrade book helm/duebook -n restricted --reuse-values --set maintenance=false --wait --timeout 180s
  as_before
}
check 'commands run in the pod while no server does (maintenance)' maintained

# ---- a control plane whose contract data are kept by an agent in another namespace ----
for name in control customer; do
  kubectl create namespace "$name" >/dev/null
  kubectl label namespace "$name" pod-security.kubernetes.io/enforce=restricted >/dev/null
done
public=duebook.control.svc.cluster.local
certificate() ( # of a CA of our own, as in many networks
  cd "$folder"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.crt -days 2 -subj '/CN=checks' -addext basicConstraints=critical,CA:TRUE
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout tls.key -out tls.csr -subj "/CN=$public"
  openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out tls.crt -extfile <(echo "subjectAltName=DNS:$public,DNS:localhost")
  kubectl -n control create secret tls tls --cert=tls.crt --key=tls.key
  kubectl -n customer create configmap ca --from-file=ca.crt
)
control_plane() {
  certificate
  kubectl -n control create secret generic duebook --from-literal=SECRET_KEYS="$(new_keys)"
  helm install plane helm/duebook -n control "${server[@]}" --set edition=enterprise_hybrid --set "publicUrl=https://$public" --set existingSecret=duebook \
    --set scanner.mode=off --set settings.TRUST_PROXY=1 --set settings.MFA_REQUIRED_FOR_ADMINS=false --wait --timeout 180s
  kubectl -n control create configmap proxy --from-file=tls-proxy.mjs=.ci/tls-proxy.mjs
  kubectl -n control create -f - <<OBJECTS
apiVersion: v1
kind: Pod
metadata: {name: proxy, labels: {app: proxy}}
spec:
  securityContext: {runAsNonRoot: true, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: proxy
      image: localhost/duebook-server:test
      command: [node, /proxy/tls-proxy.mjs, "8443", plane-duebook, "80"]
      securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
      readinessProbe: {tcpSocket: {port: 8443}}
      volumeMounts: [{name: proxy, mountPath: /proxy}, {name: tls, mountPath: /tls}]
  volumes: [{name: proxy, configMap: {name: proxy}}, {name: tls, secret: {secretName: tls}}]
---
apiVersion: v1
kind: Service
metadata: {name: duebook}
spec: {selector: {app: proxy}, ports: [{port: 443, targetPort: 8443}]}
OBJECTS
  kubectl -n control wait --for=condition=Ready pod/proxy --timeout=60s
  kubectl -n control exec deployment/plane-duebook -- duebook bootstrap --tenant-slug acme --tenant-name 'Acme Ltd' --name 'Ann Lee' --email ann@acme.example --json |
    node -pe 'JSON.parse(fs.readFileSync(0)).password' >"$folder/password"
}
check 'a control plane (enterprise_hybrid) is installed, with TLS in front' control_plane
hybrid_api() { PASSWORD=$(cat "$folder/password") NODE_EXTRA_CA_CERTS=$folder/ca.crt node .ci/api.mjs https://localhost:18080 "$@"; }
agent_joins() {
  kubectl -n control exec deployment/plane-duebook -- duebook agents invite --tenant acme >"$folder/token"
  kubectl -n customer create secret generic duebook-agent-join --from-file=token="$folder/token"
  kubectl -n customer create secret generic duebook-agent --from-literal=SECRET_KEYS="$(new_keys)"
  install_agent
  connected
}
install_agent() {
  helm install acme helm/duebook-agent -n customer "${agent[@]}" --set "controlPlane.url=https://$public" --set existingSecret=duebook-agent --set scanner.mode=off \
    --set extraEnv[0].name=NODE_EXTRA_CA_CERTS --set extraEnv[0].value=/ca/ca.crt \
    --set extraVolumes[0].name=ca --set extraVolumes[0].configMap.name=ca --set extraVolumeMounts[0].name=ca --set extraVolumeMounts[0].mountPath=/ca \
    --wait --timeout 180s
}
connected() {
  for _ in $(seq 60); do
    kubectl -n customer exec acme-duebook-agent-0 -c agent -- node -e "fetch('http://127.0.0.1:8090/healthz').then((a) => a.json()).then((h) => { console.log(h); process.exit(h.link === 'connected' ? 0 : 1); })" && return
    sleep 1
  done
  return 1
}
check 'an agent in another namespace joins it with a token from a Secret' agent_joins
check 'helm test of the agent passes' helm test acme -n customer
hybrid_creates() {
  forwarded control duebook 443 hybrid_api create >"$folder/contract"
  forwarded control duebook 443 hybrid_api read "$(cat "$folder/contract")" >"$folder/before"
  grep '"totalAmount":120000' "$folder/before"
}
check 'a contract is made and read through the agent' hybrid_creates
through_agent() { equal "$(cat "$folder/before")" "$(forwarded control duebook 443 hybrid_api read "$(cat "$folder/contract")")"; }
check 'the agent runs as a user without rights, read-only, without capabilities and without a token' no_root customer acme-duebook-agent-0 agent
check 'duebook-agent doctor finds no failure' kubectl -n customer exec acme-duebook-agent-0 -c agent -- duebook-agent doctor
agent_survives() {
  kubectl -n customer delete secret duebook-agent-join
  kubectl -n customer delete pod acme-duebook-agent-0 --wait
  kubectl -n customer rollout status statefulset/acme-duebook-agent --timeout 120s
  connected
  through_agent
}
check 'the agent is back after its pod was deleted, without the token' agent_survives
policy_set() {
  helm upgrade acme helm/duebook-agent -n customer --reuse-values --set policy.readOnly=true --wait --timeout 180s
  connected
  through_agent
  refused forwarded control duebook 443 hybrid_api create 2>"$folder/said"
  grep -q DATA_PLANE_DENIED "$folder/said"
}
check 'a policy of the values is enforced by the agent' policy_set
uninstalled() {
  helm uninstall acme -n customer --wait --timeout 120s
  kubectl -n customer wait --for=delete pod/acme-duebook-agent-0 --timeout=60s || true
  equal '' "$(kubectl -n customer get all,networkpolicy,configmap -l app.kubernetes.io/instance=acme -o name)"
  equal persistentvolumeclaim/acme-duebook-agent "$(kubectl -n customer get pvc -o name)" # the data stay
}
check 'the agent is uninstalled, and its volume stays' uninstalled
again() {
  install_agent
  connected
  through_agent
}
check 'an agent that is installed again has its identity and its data' again

# ---- several replicas, and a rolling update ----
. .ci/kubernetes-rolling.sh
summary
