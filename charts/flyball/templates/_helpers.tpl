{{/* Names and labels. */}}
{{- define "flyball.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "flyball.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $whole := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $whole .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "flyball.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* The name of a cluster-wide object: two releases of one name in two namespaces must not share it. */}}
{{- define "flyball.clusterName" -}}
{{- printf "%s:%s" (include "flyball.namespace" .) (include "flyball.fullname" .) -}}
{{- end -}}

{{- define "flyball.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "flyball.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/*
The labels that select the pods. The selector of a Deployment can't be changed, so an existing one (prometheus-adapter's under this name) keeps its
own. It is looked up once for each rendering.
*/}}
{{- define "flyball.selectorLabels" -}}
{{- if not (hasKey .Values "_selector") -}}
{{- $selector := dict "app.kubernetes.io/name" (include "flyball.name" .) "app.kubernetes.io/instance" .Release.Name -}}
{{- with lookup "apps/v1" "Deployment" (include "flyball.namespace" .) (include "flyball.fullname" .) -}}
{{- $selector = default $selector .spec.selector.matchLabels -}}
{{- end -}}
{{- $_ := set .Values "_selector" $selector -}}
{{- end -}}
{{- toYaml (index .Values "_selector") -}}
{{- end -}}

{{- define "flyball.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/component: metrics
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{ include "flyball.selectorLabels" . }}
{{- with .Values.customLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* metadata of an object: a list of the root, its name, whether it has a namespace, more labels, more annotations. */}}
{{- define "flyball.metadata" -}}
{{- $root := index . 0 -}}
name: {{ index . 1 }}
{{- if index . 2 }}
namespace: {{ include "flyball.namespace" $root }}
{{- end }}
labels:
  {{- include "flyball.labels" $root | nindent 2 }}
  {{- if gt (len .) 3 }}
  {{- with index . 3 }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- $annotations := dict }}
{{- if gt (len .) 4 }}
{{- $annotations = index . 4 }}
{{- end }}
{{- with merge (dict) (default (dict) $annotations) (default (dict) $root.Values.customAnnotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A probe. If its values have another handler than the default's, the default's is dropped. */}}
{{- define "flyball.probe" -}}
{{- toYaml (ternary (omit . "httpGet") . (or (hasKey . "exec") (hasKey . "tcpSocket") (hasKey . "grpc"))) -}}
{{- end -}}

{{/* Given resources replace all of the chart's: a given limit below one of the chart's requests would be refused. */}}
{{- define "flyball.resources" -}}
{{- if .Values.resources -}}
{{- toYaml .Values.resources -}}
{{- else if not (kindIs "invalid" .Values.resources) -}}
requests: {cpu: 50m, memory: 64Mi}
limits: {memory: 512Mi}
{{- end -}}
{{- end -}}

{{- define "flyball.subject" -}}
- kind: ServiceAccount
  name: {{ include "flyball.serviceAccountName" . }}
  namespace: {{ include "flyball.namespace" . }}
{{- end -}}

{{/* The key of image whose value names prometheus-adapter: repository, in whatever registry, or tag, if it has a form that no tag of flyball has. */}}
{{- define "flyball.oldImage" -}}
{{- if regexMatch "(^|/)(k8s-)?prometheus-adapter(-(amd64|arm|arm64|ppc64le|s390x))?$" .Values.image.repository -}}
repository
{{- else if and (eq .Values.image.repository "ghcr.io/flyball-autoscaler/flyball") (regexMatch "^v0\\.[0-9]+\\.[0-9]+(@.*)?$" (toString .Values.image.tag)) -}}
tag
{{- end -}}
{{- end -}}

{{/* An old values file may name the image of prometheus-adapter, tag included. */}}
{{- define "flyball.image" -}}
{{- $image := .Values.image -}}
{{- if include "flyball.oldImage" . -}}
{{- $image = dict "repository" "ghcr.io/flyball-autoscaler/flyball" -}}
{{- end -}}
{{- include "flyball.imageOf" (list . $image) -}}
{{- end -}}

{{/* The reference of an image: a list of the root and {repository, tag, digest}. */}}
{{- define "flyball.imageOf" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $repository := $image.repository -}}
{{- with (default (dict) $root.Values.global).imageRegistry -}}
{{- $parts := splitList "/" $repository -}}
{{- /* The first part is a registry only if it looks like a host. */ -}}
{{- $named := and (gt (len $parts) 1) (regexMatch "[.:]|^localhost$" (first $parts)) -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (join "/" (ternary (rest $parts) $parts $named)) -}}
{{- end -}}
{{- if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else -}}
{{ $repository }}:{{ default $root.Chart.AppVersion $image.tag }}
{{- end -}}
{{- end -}}

{{/* The names of the Secrets to pull with, in the form of a pod's field. An entry of global.imagePullSecrets may be a name or {name: …}. */}}
{{- define "flyball.pullSecrets" -}}
{{- $names := list -}}
{{- range concat (default (list) .Values.image.pullSecrets) (default (list) (default (dict) .Values.global).imagePullSecrets) -}}
{{- $names = append $names (ternary (get (ternary . (dict) (kindIs "map" .)) "name") . (kindIs "map" .)) -}}
{{- end -}}
{{- with uniq $names -}}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end -}}
{{- end -}}

{{/*
A security context as it is given, or, on OpenShift, without the IDs: its security context constraint restricted-v2 gives each namespace its own IDs
and refuses others. A list of the root and the context.
*/}}
{{- define "flyball.securityContext" -}}
{{- $root := index . 0 -}}
{{- $told := dig "compatibility" "openshift" "adaptSecurityContext" "auto" (default (dict) $root.Values.global) -}}
{{- if or (eq $told "force") (and (eq $told "auto") ($root.Capabilities.APIVersions.Has "security.openshift.io/v1")) -}}
{{- toYaml (omit (index . 1) "runAsUser" "runAsGroup" "fsGroup" "seLinuxOptions") -}}
{{- else -}}
{{- toYaml (index . 1) -}}
{{- end -}}
{{- end -}}

{{/* The given affinity; otherwise one for the nodes that the image has a program for. */}}
{{- define "flyball.affinity" -}}
{{- if .Values.affinity -}}
affinity:
  {{- toYaml .Values.affinity | nindent 2 }}
{{- else if .Values.image.architectures -}}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions:
        - key: kubernetes.io/arch
          operator: In
          values: {{ toJson .Values.image.architectures }}
{{- end -}}
{{- end -}}

{{/* "true" if there is a Prometheus. With the live source alone there need be none, and the default of prometheus.url says nothing. */}}
{{- define "flyball.hasPrometheus" -}}
{{- if not (and (eq .Values.live.metricSource "live") (eq .Values.prometheus.url "http://prometheus.default.svc") (not .Values.prometheus.urls)) }}true{{ end -}}
{{- end -}}

{{/* The arguments about Prometheus. */}}
{{- define "flyball.prometheusArgs" -}}
{{- $prometheus := .Values.prometheus -}}
- --prometheus-url={{ tpl $prometheus.url . }}{{ with int $prometheus.port }}:{{ . }}{{ end }}{{ $prometheus.path }}
{{- range $prometheus.urls }}
- --prometheus-url={{ tpl . $ }}
{{- end }}
- --prometheus-verb={{ $prometheus.verb }}
- --prometheus-timeout={{ $prometheus.timeout }}
{{- range $prometheus.headers }}
- {{ printf "--prometheus-header=%s" . | quote }}
{{- end }}
{{- if $prometheus.inClusterAuth }}
- --prometheus-auth-incluster
{{- end }}
{{- with $prometheus.existingSecret }}
{{- if .name }}
{{- range $flag, $key := dict "token-file" .tokenKey "ca-file" .caKey "client-tls-cert-file" .certKey "client-tls-key-file" .keyKey }}
{{- if $key }}
- --prometheus-{{ $flag }}=/var/run/prometheus/{{ $key }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The API groups that are on, as YAML of custom, external, resource. */}}
{{- define "flyball.groups" -}}
{{- $rules := .Values.rules -}}
{{- $advises := and .Values.scaler.enabled (eq (lower .Values.scaler.mode) "advise") -}}
{{- $on := dict "custom" (or $rules.default $rules.custom) "external" (or $rules.external $advises) "resource" (or $rules.resource .Values.live.kubelets.scrapeInterval) -}}
{{- range $group, $rules := $on }}
{{- $told := index $.Values.apiServices $group }}
{{ $group }}: {{ ternary (not (empty $rules)) $told (kindIs "invalid" $told) }}
{{- end }}
{{- end -}}

{{/* "true" if Flyball has to know which autoscalers ask for an external metric. */}}
{{- define "flyball.readsAutoscalers" -}}
{{- $told := .Values.rbac.readAutoscalers -}}
{{- $needed := false -}}
{{- range $rule := .Values.rules.external -}}
{{- $failure := default (dict) $rule.onFailure -}}
{{- $then := $failure.then -}}
{{- $needed = or $needed (not (empty $failure.keepLast)) -}}
{{- if kindIs "map" $then -}}
{{- $needed = or $needed (hasKey $then "replicas") -}}
{{- else -}}
{{- $needed = or $needed (has $then (list "max" "min")) -}}
{{- end -}}
{{- end -}}
{{- if ternary $needed $told (kindIs "invalid" $told) }}true{{ end -}}
{{- end -}}

{{/* The flags of the live source. */}}
{{- define "flyball.liveArgs" -}}
{{- with .Values.live -}}
{{- if eq .metricSource "prometheus" -}}
{{- if or .scrapeAnnotatedPods .kubelets.scrapeInterval -}}
{{- fail "live.scrapeAnnotatedPods and live.kubelets.scrapeInterval need live.metricSource: live or prometheus+live" -}}
{{- end -}}
{{- else -}}
- --metric-source={{ .metricSource }}
{{- with .scrapeAnnotatedPods }}
- --live-scrape-annotated-pods={{ . }}
{{- end }}
{{- with .kubelets.scrapeInterval }}
- --live-scrape-kubelets={{ . }}
{{- end }}
{{- if .kubelets.insecureTls }}
- --live-kubelet-insecure-tls
{{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The names of the APIServices of this release: a YAML list. */}}
{{- define "flyball.apiServiceNames" -}}
{{- $on := include "flyball.groups" . | fromYaml -}}
{{- $names := list -}}
{{- if .Values.apiServices.create -}}
{{- if $on.custom -}}
{{- $names = list "v1beta1.custom.metrics.k8s.io" "v1beta2.custom.metrics.k8s.io" -}}
{{- end -}}
{{- if $on.external -}}
{{- $names = append $names "v1beta1.external.metrics.k8s.io" -}}
{{- end -}}
{{- if $on.resource -}}
{{- $names = concat $names (list "v1beta1.metrics.k8s.io" "v1.metrics.k8s.io") -}}
{{- end -}}
{{- end -}}
{{- toYaml $names -}}
{{- end -}}

{{/* Where the serving certificate comes from: certManager, secret, inline, arguments (extraArguments name its files), chart, pod. */}}
{{- define "flyball.certificate" -}}
{{- $named := false -}}
{{- range .Values.extraArguments -}}
{{- $named = or $named (hasPrefix "--tls-cert-file" .) -}}
{{- end -}}
{{- if .Values.certManager.enabled -}}
certManager
{{- else if .Values.tls.enable -}}
{{- ternary "secret" "inline" (not (empty .Values.tls.existingSecret)) -}}
{{- else if $named -}}
arguments
{{- else -}}
{{- .Values.certificates.selfMade -}}
{{- end -}}
{{- end -}}

{{- define "flyball.certificateSecret" -}}
{{- if eq (include "flyball.certificate" .) "secret" -}}
{{- .Values.tls.existingSecret -}}
{{- else -}}
{{- include "flyball.fullname" . -}}-tls
{{- end -}}
{{- end -}}

{{/* The DNS names of the serving certificate, by which the API server connects. */}}
{{- define "flyball.dnsNames" -}}
{{- $service := include "flyball.fullname" . -}}
{{- $namespace := include "flyball.namespace" . -}}
- {{ $service }}
- {{ $service }}.{{ $namespace }}
- {{ $service }}.{{ $namespace }}.svc
{{- end -}}

{{/* When a CA that Helm makes ends, in Unix seconds: a list of the root and the CA's Secret, which is empty for a new one. */}}
{{- define "flyball.caEnd" -}}
{{- $days := mul 86400 (int64 (index . 0).Values.certificates.caDays) -}}
{{- with index . 1 -}}
{{- $made := toDate "2006-01-02T15:04:05Z07:00" .metadata.creationTimestamp | unixEpoch -}}
{{- index (default (dict) .metadata.annotations) "flyball.dev/ends-at" | default (add $made $days) -}}
{{- else -}}
{{- add (now | unixEpoch) $days -}}
{{- end -}}
{{- end -}}

{{/* For how many days a certificate is made, which ends no later than its CA: a list of the root, the CA's end, the name of the CA's Secret. */}}
{{- define "flyball.certificateDays" -}}
{{- $left := div (sub (index . 1) (now | unixEpoch)) 86400 -}}
{{- if lt $left 1 -}}
{{- fail (printf "the CA in Secret %s/%s ends within a day: delete that Secret and upgrade again, which makes a new one" (include "flyball.namespace" (index . 0)) (index . 2)) -}}
{{- end -}}
{{- min $left (index . 0).Values.certificates.days -}}
{{- end -}}

{{/*
The pair that Helm makes and that upgrades keep, as YAML of ca, caKey, caEnd, cert, key, made (PEM in base64, Unix seconds). It is made once for
each rendering, since both the Secrets and the APIServices have parts of it.
*/}}
{{- define "flyball.selfMade" -}}
{{- if not (hasKey .Values "_selfMade") -}}
{{- $names := fromYamlArray (include "flyball.dnsNames" .) -}}
{{- $namespace := include "flyball.namespace" . -}}
{{- $secret := printf "%s-ca" (include "flyball.fullname" .) -}}
{{- $authority := lookup "v1" "Secret" $namespace $secret -}}
{{- $serving := lookup "v1" "Secret" $namespace (include "flyball.certificateSecret" .) -}}
{{- $now := now | unixEpoch | int64 -}}
{{- $made := dict -}}
{{- $ca := dict -}}
{{- if and $authority (hasKey $authority.data "tls.key") -}}
{{- $ca = buildCustomCert (index $authority.data "tls.crt") (index $authority.data "tls.key") -}}
{{- else -}}
{{- $authority = dict -}}
{{- $serving = dict -}}
{{- $ca = genCA (printf "%s CA" (include "flyball.fullname" .)) (int .Values.certificates.caDays) -}}
{{- end -}}
{{- $end := include "flyball.caEnd" (list . $authority) -}}
{{- $since := 0 -}}
{{- $sameNames := false -}}
{{- if $serving -}}
{{- $notes := default (dict) $serving.metadata.annotations -}}
{{- $since = index $notes "flyball.dev/made-at" | default "0" | int64 -}}
{{- $sameNames = eq (index $notes "flyball.dev/names" | default "") (join "," $names) -}}
{{- end -}}
{{- if and $sameNames (lt (sub $now $since) (mul 86400 (int64 .Values.certificates.renewAfterDays))) -}}
{{- $made = dict "cert" (index $serving.data "tls.crt") "key" (index $serving.data "tls.key") "made" $since -}}
{{- else -}}
{{- $days := include "flyball.certificateDays" (list . $end $secret) -}}
{{- $pair := genSignedCert (last $names) nil $names (int $days) $ca -}}
{{- $made = dict "cert" (b64enc $pair.Cert) "key" (b64enc $pair.Key) "made" $now -}}
{{- end -}}
{{- $_ := set $made "ca" (b64enc $ca.Cert) -}}
{{- $_ := set $made "caKey" (b64enc $ca.Key) -}}
{{- $_ := set $made "caEnd" $end -}}
{{- $_ := set .Values "_selfMade" $made -}}
{{- end -}}
{{- toYaml (index .Values "_selfMade") -}}
{{- end -}}

{{/* Whether Helm made an object for this release: a list of the root and the object. */}}
{{- define "flyball.ownRelease" -}}
{{- $root := index . 0 -}}
{{- $notes := default (dict) (index . 1).metadata.annotations -}}
{{- and (eq (get $notes "meta.helm.sh/release-namespace") $root.Release.Namespace) (eq (get $notes "meta.helm.sh/release-name") $root.Release.Name) -}}
{{- end -}}

{{/* An APIService, unless another server holds it: a list of the root, group, version, versionPriority. */}}
{{- define "flyball.apiService" -}}
{{- $root := index . 0 -}}
{{- $name := printf "%s.%s" (index . 2) (index . 1) -}}
{{- $service := include "flyball.fullname" $root -}}
{{- $namespace := include "flyball.namespace" $root -}}
{{- $there := lookup "apiregistration.k8s.io/v1" "APIService" "" $name -}}
{{- if and $there $there.spec.service (not $root.Values.apiServices.takeOver) -}}
{{- $holder := printf "%s/%s" $there.spec.service.namespace $there.spec.service.name -}}
{{- /* The object may belong to this release while its Service does not, if somebody has applied another manifest over it. */ -}}
{{- $asked := lookup "v1" "Service" $there.spec.service.namespace $there.spec.service.name -}}
{{- $own := and (eq (include "flyball.ownRelease" (list $root $there)) "true") (or (not $asked) (eq (include "flyball.ownRelease" (list $root $asked)) "true")) -}}
{{- if not (or $own (eq $holder (printf "%s/%s" $namespace $service))) -}}
{{- fail (printf "APIService %s is held by Service %s. To leave it: apiServices.%s=false. To take it: docs/from-prometheus-adapter.md" $name $holder (index . 4)) -}}
{{- end -}}
{{- end -}}
{{- $certificate := include "flyball.certificate" $root -}}
{{- $verify := and $root.Values.certificates.verify (not (has $certificate (list "pod" "arguments"))) -}}
{{- $annotations := dict -}}
{{- if and $verify (eq $certificate "certManager") -}}
{{- $annotations = dict "cert-manager.io/inject-ca-from" (printf "%s/%s-cert" $namespace $service) -}}
{{- end -}}
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  {{- include "flyball.metadata" (list $root $name false (dict) $annotations) | nindent 2 }}
spec:
  group: {{ index . 1 }}
  version: {{ index . 2 }}
  groupPriorityMinimum: {{ $root.Values.apiServices.groupPriorityMinimum }}
  versionPriority: {{ index . 3 }}
  service:
    name: {{ $service }}
    namespace: {{ $namespace }}
    port: {{ $root.Values.service.port }}
  # Always written, so that a server-side apply over another server's APIService turns it off.
  insecureSkipTLSVerify: {{ not $verify }}
  {{- if not $verify }}
  {{- /* The API server refuses a CA beside it, also one that cert-manager or another server has written and no render of this chart has. */}}
  {{- if and $there $there.spec.caBundle }}
  caBundle: null
  {{- end }}
  {{- else if eq $certificate "chart" }}
  caBundle: {{ (include "flyball.selfMade" $root | fromYaml).ca }}
  {{- else if has $certificate (list "secret" "inline") }}
  caBundle: {{ b64enc (required "tls.ca: the CA of the certificate is needed, or certificates.verify=false" $root.Values.tls.ca) }}
  {{- end }}
{{- end -}}
