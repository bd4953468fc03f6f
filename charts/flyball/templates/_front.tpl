{{/* Helpers for the Envoys that carry requests, and for the connections between them and Flyball. */}}
{{- define "flyball.frontName" -}}
{{- printf "%s-front" (include "flyball.fullname" . | trunc 57 | trimSuffix "-") -}}
{{- end -}}

{{/* The Service of Flyball's port for the Envoys; Flyball's certificate has its DNS name. */}}
{{- define "flyball.xdsName" -}}
{{- printf "%s-xds" (include "flyball.fullname" . | trunc 59 | trimSuffix "-") -}}
{{- end -}}
{{- define "flyball.xdsHost" -}}
{{- printf "%s.%s.svc" (include "flyball.xdsName" .) (include "flyball.namespace" .) -}}
{{- end -}}

{{/* The labels that select the Envoys' pods. They differ from those of the server's pods, whose Service must not lead to Envoys. */}}
{{- define "flyball.frontSelector" -}}
app.kubernetes.io/name: {{ include "flyball.name" . }}-front
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Flags of the server. */}}
{{- define "flyball.frontArgs" -}}
- --front-listen=0.0.0.0:{{ .Values.front.listenPort }}
- --front-pod-selector=app.kubernetes.io/name={{ include "flyball.name" . }}-front,app.kubernetes.io/instance={{ .Release.Name }}
- --front-cert-file=/var/run/front/tls.crt
- --front-key-file=/var/run/front/tls.key
- --front-ca-file=/var/run/front/ca.crt
- --front-peer-name={{ include "flyball.frontName" . }}
{{- if ne (int .Values.front.hosts.port) 8080 }}
- --front-hosts-port={{ .Values.front.hosts.port }}
{{- end }}
{{- if .Values.front.hosts.shared }}
- --front-shared-hosts
{{- end }}
{{- end -}}

{{/* Where the certificates come from: secrets, certManager, chart. */}}
{{- define "flyball.frontCertificates" -}}
{{- if .Values.front.tls.envoySecret -}}
secrets
{{- else if .Values.certManager.enabled -}}
certManager
{{- else -}}
chart
{{- end -}}
{{- end -}}
{{- define "flyball.frontSecret" -}}
{{- .Values.front.tls.envoySecret | default (printf "%s-tls" (include "flyball.frontName" .)) -}}
{{- end -}}
{{- define "flyball.xdsSecret" -}}
{{- .Values.front.tls.flyballSecret | default (printf "%s-tls" (include "flyball.xdsName" .)) -}}
{{- end -}}

{{/*
One of the two pairs that Helm makes with the front's own CA and that upgrades keep, as YAML of cert, key, made. A list of the root, the CA
({fresh: …, end: …, pair: …}), the name of the Secret, and the DNS name.
*/}}
{{- define "flyball.frontLeaf" -}}
{{- $root := index . 0 -}}
{{- $ca := index . 1 -}}
{{- $name := index . 3 -}}
{{- $there := lookup "v1" "Secret" (include "flyball.namespace" $root) (index . 2) -}}
{{- $now := now | unixEpoch | int64 -}}
{{- $kept := dict -}}
{{- if and $there (not $ca.fresh) -}}
{{- $notes := default (dict) $there.metadata.annotations -}}
{{- $since := index $notes "flyball.dev/made-at" | default "0" | int64 -}}
{{- if and (eq (index $notes "flyball.dev/names" | default "") $name) (lt (sub $now $since) (mul 86400 (int64 $root.Values.certificates.renewAfterDays))) -}}
{{- $kept = dict "cert" (index $there.data "tls.crt") "key" (index $there.data "tls.key") "made" $since -}}
{{- end -}}
{{- end -}}
{{- if not $kept -}}
{{- $days := include "flyball.certificateDays" (list $root $ca.end (printf "%s-ca" (include "flyball.frontName" $root))) -}}
{{- $pair := genSignedCert $name nil (list $name) (int $days) $ca.pair -}}
{{- $kept = dict "cert" (b64enc $pair.Cert) "key" (b64enc $pair.Key) "made" $now -}}
{{- end -}}
{{- toYaml $kept -}}
{{- end -}}

{{/* A file of the Envoys with its variables filled in: a list of the root and the file's name. */}}
{{- define "flyball.frontFile" -}}
{{- $root := index . 0 -}}
{{- $root.Files.Get (printf "files/%s" (index . 1)) | replace "${ADMIN_PORT}" "9901" | replace "${PROBE_ADDRESS}" (ternary "\"::\", ipv4_compat: true" "0.0.0.0" (eq (toString $root.Values.front.ipv6) "true")) | replace "${PROBE_PORT}" "9902" | replace "${FLYBALL_HOST}" (include "flyball.xdsHost" $root) | replace "${FLYBALL_PORT}" (toString $root.Values.front.listenPort) | replace "${SERVER_NAME}" (include "flyball.xdsHost" $root) | replace "${CONFIG_FOLDER}" "/etc/envoy" | replace "${TLS_FOLDER}" "/var/run/front" | replace "${MEMORY_BYTES}" (include "flyball.frontMemoryBytes" $root) -}}
{{- end -}}

{{/* What the kernel lets an Envoy have: the memory limit in bytes if it is in Mi or Gi, else as good as none. */}}
{{- define "flyball.frontMemoryBytes" -}}
{{- $limits := default (dict) (get (include "flyball.frontResources" . | fromYaml) "limits") -}}
{{- $memory := get $limits "memory" | toString -}}
{{- if regexMatch "^[0-9]+Gi$" $memory -}}
{{- mul (trimSuffix "Gi" $memory) 1073741824 -}}
{{- else if regexMatch "^[0-9]+Mi$" $memory -}}
{{- mul (trimSuffix "Mi" $memory) 1048576 -}}
{{- else -}}
9223372036854775807
{{- end -}}
{{- end -}}

{{/* Given resources replace all of the chart's, as in flyball.resources. */}}
{{- define "flyball.frontResources" -}}
{{- if .Values.front.resources -}}
{{- toYaml .Values.front.resources -}}
{{- else if not (kindIs "invalid" .Values.front.resources) -}}
requests: {cpu: 200m, memory: 256Mi}
limits: {memory: 1Gi}
{{- end -}}
{{- end -}}
