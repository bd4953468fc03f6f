{{/* Flags of the scaler. */}}
{{- define "flyball.scalerArgs" -}}
- --scaler
- --scaler-mode={{ lower .Values.scaler.mode }}
{{- if .Values.scaler.hpa }}
- --scaler-hpa
{{- end }}
{{- range .Values.scaler.namespaces }}
- --scaler-namespace={{ . }}
{{- end }}
{{- if gt (int .Values.scaler.shards) 1 }}
- --scaler-shards={{ .Values.scaler.shards }}
{{- end }}
{{- if eq (toString .Values.scaler.triggerSecrets) "referenced" }}
- --scaler-trigger-secrets=referenced
{{- end }}
{{- with .Values.scaler.triggerAllowAddresses }}
- --scaler-trigger-allow-addresses={{ join "," . }}
{{- end }}
{{- end -}}

{{/* Rights of the scaler in the namespaces that it scales: a list of RBAC rules, as YAML. */}}
{{- define "flyball.scalerRules" -}}
{{- $act := eq (lower .Values.scaler.mode) "act" -}}
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: {{ ternary "[get, list, watch]" "[list, watch]" $act }}
- apiGroups: [flyball.dev]
  resources: [autoscalers]
  verbs: {{ ternary "[get, list, watch]" "[list, watch]" $act }}
- apiGroups: [""]
  resources: [pods, replicationcontrollers]
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [deployments, replicasets, statefulsets]
  verbs: [list, watch]
{{- if ne (lower .Values.scaler.mode) "shadow" }}
- apiGroups: [flyball.dev]
  resources: [autoscalers/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end }}
{{- if and $act .Values.scaler.hpa }}
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers/status]
  verbs: [patch]
{{- end }}
{{- if $act }}
- apiGroups: [apps]
  resources: [deployments/scale, replicasets/scale, statefulsets/scale]
  verbs: [get, update]
- apiGroups: [""]
  resources: [replicationcontrollers/scale]
  verbs: [get, update]
{{- end }}
{{- if .Values.scaler.triggerSecrets }}
- apiGroups: [""]
  resources: [secrets]
  verbs: [get]
{{- end }}
{{- if .Values.front.enabled }}
# The Services of http triggers are led to the Envoys by EndpointSlices; the Services themselves are not changed.
- apiGroups: [""]
  resources: [services]
  verbs: [get]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list, create, update]
{{- if .Capabilities.APIVersions.Has "security.openshift.io/v1" }}
# OpenShift requires this right of whoever writes addresses of pods.
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices/restricted]
  verbs: [create]
{{- end }}
{{- end }}
{{- range $kind := .Values.scaler.kinds }}
- apiGroups: {{ toJson $kind.apiGroups }}
  resources:
  {{- range $kind.resources }}
  - {{ . }}/scale
  {{- end }}
  verbs: {{ ternary "[get, update]" "[get]" $act }}
{{- end }}
{{- end -}}
