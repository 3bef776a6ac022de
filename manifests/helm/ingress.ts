/** The Ingress of the webhook server, which no kustomization has: its hosts are of each cluster. */
export function ingress(header: string): string {
  return `# ${header}
{{- $webhooks := .Values.components.webhooks }}
{{- with $webhooks.ingress }}
{{- if .enabled }}
{{- if not $webhooks.enabled }}
{{- fail "components.webhooks.ingress.enabled needs components.webhooks.enabled" }}
{{- end }}
{{- if not .hosts }}
{{- fail "components.webhooks.ingress.enabled needs components.webhooks.ingress.hosts" }}
{{- end }}
{{- $hosts := .hosts }}
{{- range $tls := .tls }}
{{- range $host := .hosts }}
{{- if not (has $host $hosts) }}
{{- fail (printf "components.webhooks.ingress.tls: %s is none of components.webhooks.ingress.hosts" $host) }}
{{- end }}
{{- end }}
{{- end }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: etcd-ratchet-webhooks
  namespace: {{ $.Release.Namespace | quote }}
  labels:
    app.kubernetes.io/name: etcd-ratchet
    app.kubernetes.io/component: webhooks
    {{- with $.Values.commonLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with merge (dict) .annotations $.Values.commonAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .className }}
  ingressClassName: {{ . | quote }}
  {{- end }}
  rules:
    {{- range .hosts }}
    - host: {{ . | quote }}
      http:
        paths:
          - path: /hooks/
            pathType: Prefix
            backend:
              service:
                name: etcd-ratchet-webhooks
                port: {name: http}
    {{- end }}
  {{- with .tls }}
  tls:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
`;
}
