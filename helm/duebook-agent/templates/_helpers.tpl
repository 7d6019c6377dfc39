{{- define "duebook-agent.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "duebook-agent.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "duebook-agent.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "duebook-agent.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "duebook-agent.selector" -}}
app.kubernetes.io/name: {{ include "duebook-agent.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "duebook-agent.labels" -}}
{{ include "duebook-agent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "duebook-agent.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "duebook-agent.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "duebook-agent.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "duebook-agent.host" -}}
{{- (urlParse .Values.publicUrl).hostname -}}
{{- end -}}

{{- define "duebook-agent.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.security.runAsUser }}
runAsUser: {{ int64 . }}
{{- end }}
{{- with .Values.security.runAsGroup }}
runAsGroup: {{ int64 . }}
{{- end }}
{{- with .Values.security.fsGroup }}
fsGroup: {{ int64 . }}
# Not at each start: files that only their owner may read stay so.
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "duebook-agent.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "duebook-agent.pullSecrets" -}}
{{- with .Values.image.pullSecrets -}}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "duebook-agent.placement" -}}
{{- with .Values.priorityClassName -}}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What the schema cannot express. Included by the StatefulSet, so that nothing is rendered without it. */}}
{{- define "duebook-agent.check" -}}
{{- if not .Values.existingSecret -}}
{{- fail "existingSecret is required: the name of a Secret with SECRET_KEYS. Make one with: kubectl create secret generic duebook-agent --from-literal=SECRET_KEYS=\"k1:$(openssl rand -base64 32)\" and keep a copy of the key elsewhere" -}}
{{- end -}}
{{- if not .Values.controlPlane.url -}}
{{- fail "controlPlane.url is required: the https URL of the control plane, such as https://duebook.example.com" -}}
{{- end -}}
{{- if and (eq .Values.scanner.mode "clamav") (not .Values.scanner.url) -}}
{{- fail "scanner.url is required with scanner.mode=clamav: set it to the address of a clamd, such as tcp://clamav:3310, or set scanner.mode=off to accept files without a scan" -}}
{{- end -}}
{{- if and (eq .Values.accessMode "direct") (not .Values.tls.existingSecret) (not .Values.ingress.enabled) (not .Values.gateway.enabled) (eq .Values.service.type "ClusterIP") -}}
{{- fail "accessMode=direct needs a way in over https: tls.existingSecret, ingress.enabled or gateway.enabled" -}}
{{- end -}}
{{- if and (or .Values.ingress.enabled .Values.gateway.enabled) (not .Values.publicUrl) -}}
{{- fail "publicUrl is required with ingress.enabled or gateway.enabled: its host is the one that they serve" -}}
{{- end -}}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) -}}
{{- fail "gateway.parentRefs is required with gateway.enabled: the gateways that serve the host of publicUrl" -}}
{{- end -}}
{{- end -}}

{{/* Whether the agent has a policy to enforce. */}}
{{- define "duebook-agent.hasPolicy" -}}
{{- if or .Values.policy.readOnly (not .Values.policy.export) .Values.policy.deny }}true{{ end -}}
{{- end -}}

{{- define "duebook-agent.policy" -}}
{{- dict "readOnly" .Values.policy.readOnly "export" .Values.policy.export "deny" .Values.policy.deny | toJson -}}
{{- end -}}

{{/* The variables of the agent and of its commands. */}}
{{- define "duebook-agent.env" -}}
env:
  - name: HOST
    value: "0.0.0.0"
  - name: PORT
    value: "8090"
  - name: DATA_DIR
    value: /data
  {{- with .Values.publicUrl }}
  - name: PUBLIC_URL
    value: {{ . | quote }}
  {{- end }}
  - name: SECRET_KEYS
    valueFrom:
      secretKeyRef:
        name: {{ .Values.existingSecret }}
        key: SECRET_KEYS
  - name: TENANT_DATABASE_URL
    {{- if eq .Values.database.type "postgres" }}
    valueFrom:
      secretKeyRef:
        name: {{ default .Values.existingSecret .Values.database.existingSecret }}
        key: {{ .Values.database.urlKey }}
    {{- else }}
    value: sqlite:/data/tenant.db
    {{- end }}
  - name: OBJECT_STORE_URL
    {{- if eq .Values.objectStore.type "s3" }}
    valueFrom:
      secretKeyRef:
        name: {{ default .Values.existingSecret .Values.objectStore.existingSecret }}
        key: {{ .Values.objectStore.urlKey }}
    {{- else }}
    value: file:/data/files
    {{- end }}
  {{- with .Values.objectStore.publicUrl }}
  - name: OBJECT_STORE_PUBLIC_URL
    value: {{ . | quote }}
  {{- end }}
  - name: FILE_SCAN_MODE
    value: {{ .Values.scanner.mode | quote }}
  {{- with .Values.scanner.url }}
  - name: CLAMAV_URL
    value: {{ . | quote }}
  {{- end }}
  {{- if .Values.tls.existingSecret }}
  - name: TLS_CERT_FILE
    value: /tls/tls.crt
  - name: TLS_KEY_FILE
    value: /tls/tls.key
  {{- end }}
  {{- if include "duebook-agent.hasPolicy" . }}
  - name: POLICY_FILE
    value: /policy/policy.json
  {{- end }}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ if kindIs "float64" $value }}{{ $value | toJson | quote }}{{ else }}{{ $value | toString | quote }}{{ end }}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
envFrom:
  - secretRef:
      name: {{ .Values.existingSecret }}
  {{- with .Values.extraEnvFrom }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "duebook-agent.volumeMounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- if .Values.tls.existingSecret }}
- name: tls
  mountPath: /tls
  readOnly: true
{{- end }}
{{- if include "duebook-agent.hasPolicy" . }}
- name: policy
  mountPath: /policy
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "duebook-agent.scheme" -}}
{{- if .Values.tls.existingSecret }}HTTPS{{ else }}HTTP{{ end -}}
{{- end -}}
