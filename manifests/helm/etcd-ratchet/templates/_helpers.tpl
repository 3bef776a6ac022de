{{/* Generated from manifests by `npm run generate`. Do not edit. */}}
{{- define "etcd-ratchet.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end -}}
{{- end -}}

{{- /* Those of global are names for some charts, and objects for others. */ -}}
{{- define "etcd-ratchet.imagePullSecrets" -}}
{{- $all := .Values.imagePullSecrets -}}
{{- range (.Values.global | default dict).imagePullSecrets -}}
{{- $all = append $all (ternary (dict "name" .) . (kindIs "string" .)) -}}
{{- end -}}
{{- $all | uniq | toJson -}}
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
{{- range $key, $_ := .Values.commonLabels -}}
{{- if has $key (list "app.kubernetes.io/component" "app.kubernetes.io/name" "app.kubernetes.io/part-of" "grafana_dashboard" "pod-security.kubernetes.io/audit" "pod-security.kubernetes.io/enforce" "pod-security.kubernetes.io/warn" "rbac.authorization.k8s.io/aggregate-to-admin" "rbac.authorization.k8s.io/aggregate-to-edit" "rbac.authorization.k8s.io/aggregate-to-view") -}}
{{- fail (printf "commonLabels: %s is set by etcd-ratchet itself: name another" $key) -}}
{{- end -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "commonLabels: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "commonLabels: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "commonLabels: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "commonLabels: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.commonAnnotations -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "commonAnnotations: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "commonAnnotations: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "commonAnnotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "commonAnnotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- if ne .Values.nameOverride "" -}}
{{- fail "nameOverride can't be set: admission policies hold etcd-ratchet's accounts by these names (docs/decisions/0016-own-accounts-are-held.md). For another installation take another namespace, with namespaced" -}}
{{- end -}}
{{- if ne .Values.fullnameOverride "" -}}
{{- fail "fullnameOverride can't be set: admission policies hold etcd-ratchet's accounts by these names (docs/decisions/0016-own-accounts-are-held.md). For another installation take another namespace, with namespaced" -}}
{{- end -}}
{{- if ne .Values.serviceAccount.create true -}}
{{- fail "serviceAccount.create can't be set: the service account comes with its rights. Annotate it by serviceAccount.annotations" -}}
{{- end -}}
{{- if ne .Values.serviceAccount.name "" -}}
{{- fail "serviceAccount.name can't be set: admission policies hold etcd-ratchet's accounts by these names (docs/decisions/0016-own-accounts-are-held.md). For another installation take another namespace, with namespaced" -}}
{{- end -}}
{{- range $key, $_ := .Values.serviceAccount.annotations -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "serviceAccount.annotations: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "serviceAccount.annotations: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "serviceAccount.annotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "serviceAccount.annotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.serviceAccount.labels -}}
{{- if has $key (list "app.kubernetes.io/name") -}}
{{- fail (printf "serviceAccount.labels: %s is set by etcd-ratchet itself: name another" $key) -}}
{{- end -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "serviceAccount.labels: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "serviceAccount.labels: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "serviceAccount.labels: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "serviceAccount.labels: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.podLabels -}}
{{- if has $key (list "app.kubernetes.io/component" "app.kubernetes.io/name" "kuma.io/sidecar-injection" "sidecar.istio.io/inject") -}}
{{- fail (printf "podLabels: %s is set by etcd-ratchet itself: name another" $key) -}}
{{- end -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "podLabels: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "podLabels: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "podLabels: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "podLabels: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.podAnnotations -}}
{{- if has $key (list "consul.hashicorp.com/connect-inject" "linkerd.io/inject") -}}
{{- fail (printf "podAnnotations: %s is set by etcd-ratchet itself: name another" $key) -}}
{{- end -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "podAnnotations: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "podAnnotations: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "podAnnotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "podAnnotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- range $one := .Values.extraEnv -}}
{{- $key := $one.name -}}
{{- if has $key (list "1" "CRONJOB_NAME" "POD_NAME" "POD_NAMESPACE" "POD_UID" "RATCHET_HOST" "RATCHET_NAMESPACE" "RATCHET_NODE_REBOOTS" "RATCHET_PAGE" "RATCHET_STORAGE_MIGRATION" "RATCHET_WEBHOOKS") -}}
{{- fail (printf "extraEnv: %s is set by etcd-ratchet itself: name another" $key) -}}
{{- end -}}
{{- if hasPrefix "RATCHET_" $key -}}
{{- fail (printf "extraEnv: %s can't be set here: set it by settings" $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.components.webhooks.ingress.annotations -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "components.webhooks.ingress.annotations: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "components.webhooks.ingress.annotations: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "components.webhooks.ingress.annotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "components.webhooks.ingress.annotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.components.pageShared.ingress.annotations -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "components.pageShared.ingress.annotations: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "components.pageShared.ingress.annotations: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "components.pageShared.ingress.annotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "components.pageShared.ingress.annotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.components.prometheusOperator.labels -}}
{{- if has $key (list "app.kubernetes.io/name" "app.kubernetes.io/part-of") -}}
{{- fail (printf "components.prometheusOperator.labels: %s is set by etcd-ratchet itself: name another" $key) -}}
{{- end -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "components.prometheusOperator.labels: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "components.prometheusOperator.labels: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "components.prometheusOperator.labels: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "components.prometheusOperator.labels: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.components.dashboards.labels -}}
{{- if has $key (list "app.kubernetes.io/name" "grafana_dashboard") -}}
{{- fail (printf "components.dashboards.labels: %s is set by etcd-ratchet itself: name another" $key) -}}
{{- end -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "components.dashboards.labels: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "components.dashboards.labels: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "components.dashboards.labels: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "components.dashboards.labels: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.components.dashboards.annotations -}}
{{- if hasPrefix "etcd.ratchet.dev/" $key -}}
{{- fail (printf "components.dashboards.annotations: %s can't be set here: etcd-ratchet acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "app.kubernetes.io/managed-by" $key -}}
{{- fail (printf "components.dashboards.annotations: %s can't be set here: Helm and etcd-ratchet act by it" $key) -}}
{{- end -}}
{{- if hasPrefix "helm.sh/" $key -}}
{{- fail (printf "components.dashboards.annotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- if hasPrefix "meta.helm.sh/" $key -}}
{{- fail (printf "components.dashboards.annotations: %s can't be set here: Helm acts by these" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
