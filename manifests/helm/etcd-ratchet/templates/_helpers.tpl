{{/* Generated from manifests by `npm run generate`. Do not edit. */}}
{{- define "etcd-ratchet.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end -}}
{{- end -}}

{{- define "etcd-ratchet.check" -}}
{{- $on := .Values.components -}}
{{- if and $on.pageShared.enabled (not $on.page.enabled) -}}
{{- fail "components.pageShared.enabled needs components.page.enabled" -}}
{{- end -}}
{{- if and $on.pagePlans.enabled (not $on.page.enabled) -}}
{{- fail "components.pagePlans.enabled needs components.page.enabled" -}}
{{- end -}}
{{- if and .Values.namespaced $on.pagePlans.enabled -}}
{{- fail "components.pagePlans.enabled reads the whole cluster, and namespaced is for one namespace: set one of the two" -}}
{{- end -}}
{{- if and .Values.namespaced $on.nodeReboots.enabled -}}
{{- fail "components.nodeReboots.enabled reboots nodes of the whole cluster, and namespaced is for one namespace: set one of the two" -}}
{{- end -}}
{{- if and .Values.namespaced $on.storageMigration.enabled -}}
{{- fail "components.storageMigration.enabled writes all objects of the whole cluster, and namespaced is for one namespace: set one of the two" -}}
{{- end -}}
{{- if and .Values.namespaced (or $on.metrics.enabled $on.prometheusOperator.enabled $on.dashboards.enabled) -}}
{{- fail "components.metrics, components.prometheusOperator and components.dashboards look at the whole cluster, and namespaced is for one namespace: set one of the two" -}}
{{- end -}}
{{- if and .Values.namespaced .Values.namespace.create -}}
{{- fail "namespace.create makes a Namespace, which is cluster-wide, and namespaced is for what is not: set one of the two" -}}
{{- end -}}
{{- end -}}
