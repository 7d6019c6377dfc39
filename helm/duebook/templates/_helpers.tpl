{{- define "duebook.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "duebook.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "duebook.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "duebook.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "duebook.selector" -}}
app.kubernetes.io/name: {{ include "duebook.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "duebook.labels" -}}
{{ include "duebook.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "duebook.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "duebook.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "duebook.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "duebook.host" -}}
{{- (urlParse .Values.publicUrl).hostname -}}
{{- end -}}

{{- define "duebook.isHybrid" -}}
{{- if eq .Values.edition "enterprise_hybrid" }}true{{ end -}}
{{- end -}}

{{- define "duebook.usesFolder" -}}
{{- if and (eq .Values.objectStore.type "folder") (not (include "duebook.isHybrid" .)) }}true{{ end -}}
{{- end -}}

{{- define "duebook.isReplicated" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}true{{ end -}}
{{- end -}}

{{/* Whether the volume can be used on one node at a time. */}}
{{- define "duebook.hasOneNode" -}}
{{- if and .Values.persistence.enabled (not (has "ReadWriteMany" .Values.persistence.accessModes)) }}true{{ end -}}
{{- end -}}

{{/* What the schema cannot express. Included by the Deployment, so that nothing is rendered without it. */}}
{{- define "duebook.check" -}}
{{- if not .Values.existingSecret -}}
{{- fail "existingSecret is required: the name of a Secret with SECRET_KEYS. Make one with: kubectl create secret generic duebook --from-literal=SECRET_KEYS=\"k1:$(openssl rand -base64 32)\" and keep a copy of the key elsewhere" -}}
{{- end -}}
{{- if not .Values.publicUrl -}}
{{- fail "publicUrl is required: the https URL of the service for users, such as https://book.example.com" -}}
{{- end -}}
{{- if and (eq .Values.scanner.mode "clamav") (not .Values.scanner.url) -}}
{{- fail "scanner.url is required with scanner.mode=clamav: set it to the address of a clamd, such as tcp://clamav:3310, or set scanner.mode=off to accept files without a scan" -}}
{{- end -}}
{{- if and (include "duebook.isReplicated" .) (ne .Values.database.type "postgres") -}}
{{- fail "several replicas need database.type=postgres: an SQLite file has one process" -}}
{{- end -}}
{{- if and (include "duebook.isReplicated" .) (include "duebook.hasOneNode" .) -}}
{{- fail "several replicas cannot share a volume of one node: set persistence.enabled=false (with objectStore.type=s3 or edition=enterprise_hybrid), or persistence.accessModes=[ReadWriteMany]" -}}
{{- end -}}
{{- if and (not .Values.persistence.enabled) (or (eq .Values.database.type "sqlite") (include "duebook.usesFolder" .)) -}}
{{- fail "persistence.enabled=false would lose all data with the pod: it needs database.type=postgres, and objectStore.type=s3 or edition=enterprise_hybrid" -}}
{{- end -}}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) -}}
{{- fail "gateway.parentRefs is required with gateway.enabled: the gateways that serve the host of publicUrl" -}}
{{- end -}}
{{- end -}}

{{- define "duebook.podSecurity" -}}
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

{{- define "duebook.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "duebook.pullSecrets" -}}
{{- with .Values.image.pullSecrets -}}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The variables of the server and of its commands. */}}
{{- define "duebook.env" -}}
env:
  - name: HOST
    value: "0.0.0.0"
  - name: PORT
    value: "8080"
  - name: DATA_DIR
    value: /data
  - name: EDITION
    value: {{ .Values.edition }}
  - name: PUBLIC_URL
    value: {{ .Values.publicUrl | quote }}
  - name: SECRET_KEYS
    valueFrom:
      secretKeyRef:
        name: {{ .Values.existingSecret }}
        key: SECRET_KEYS
  {{- if eq .Values.database.type "postgres" }}
  - name: PLATFORM_DATABASE_URL
    valueFrom:
      secretKeyRef:
        name: {{ default .Values.existingSecret .Values.database.existingSecret }}
        key: {{ .Values.database.platformUrlKey }}
  {{- if not (include "duebook.isHybrid" .) }}
  - name: TENANT_DATABASE_URL
    valueFrom:
      secretKeyRef:
        name: {{ default .Values.existingSecret .Values.database.existingSecret }}
        key: {{ .Values.database.tenantUrlKey }}
  {{- end }}
  {{- else }}
  - name: PLATFORM_DATABASE_URL
    value: sqlite:/data/platform.db
  - name: TENANT_DATABASE_URL
    value: sqlite:/data/tenant.db
  {{- end }}
  {{- if include "duebook.isHybrid" . }}
  # Where the other replicas reach this one, to forward requests for agents that are connected here.
  - name: POD_IP
    valueFrom:
      fieldRef:
        fieldPath: status.podIP
  - name: PEER_URL
    value: http://$(POD_IP):8080
  {{- else if eq .Values.objectStore.type "s3" }}
  - name: OBJECT_STORE_URL
    valueFrom:
      secretKeyRef:
        name: {{ default .Values.existingSecret .Values.objectStore.existingSecret }}
        key: {{ .Values.objectStore.urlKey }}
  {{- with .Values.objectStore.publicUrl }}
  - name: OBJECT_STORE_PUBLIC_URL
    value: {{ . | quote }}
  {{- end }}
  {{- else }}
  - name: OBJECT_STORE_URL
    value: file:/data/files
  {{- end }}
  - name: FILE_SCAN_MODE
    value: {{ .Values.scanner.mode | quote }}
  {{- with .Values.scanner.url }}
  - name: CLAMAV_URL
    value: {{ . | quote }}
  {{- end }}
  {{- /* More cores are used by more replicas, and the limit of memory is for one process. */}}
  {{- if not (hasKey .Values.settings "WORKERS") }}
  - name: WORKERS
    value: "1"
  {{- end }}
  {{- /* Until then proxies have learnt that this pod ends, and clients have given up the connections that they kept. */}}
  {{- if not (hasKey .Values.settings "DRAIN_SECONDS") }}
  - name: DRAIN_SECONDS
    value: "5"
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

{{- define "duebook.volumeMounts" -}}
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "duebook.volumes" -}}
volumes:
  - name: data
    {{- if .Values.persistence.enabled }}
    persistentVolumeClaim:
      claimName: {{ default (include "duebook.fullname" .) .Values.persistence.existingClaim }}
    {{- else }}
    emptyDir: {}
    {{- end }}
  - name: tmp
    emptyDir: {}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "duebook.placement" -}}
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
