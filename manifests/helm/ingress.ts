interface Led {
  /** In the values. */
  readonly component: string;
  readonly service: string;
  readonly label: string;
  readonly path: string;
}

/** The Ingresses of the servers, which no kustomization has: their hosts are of each cluster. */
export function ingresses(header: string): string {
  const all = [
    { component: 'webhooks', service: 'etcd-ratchet-webhooks', label: 'webhooks', path: '/hooks/' },
    { component: 'pageShared', service: 'etcd-ratchet-page', label: 'page', path: '/' },
  ];
  return `# ${header}\n${all.map(ingress).join('')}`;
}

function ingress({ component, service, label, path }: Led): string {
  return `{{- $component := .Values.components.${component} }}
{{- with $component.ingress }}
{{- if .enabled }}
{{- if not $component.enabled }}
{{- fail "components.${component}.ingress.enabled needs components.${component}.enabled" }}
{{- end }}
{{- if not .hosts }}
{{- fail "components.${component}.ingress.enabled needs components.${component}.ingress.hosts" }}
{{- end }}
{{- $hosts := .hosts }}
{{- range $tls := .tls }}
{{- range $host := .hosts }}
{{- if not (has $host $hosts) }}
{{- fail (printf "components.${component}.ingress.tls: %s is none of components.${component}.ingress.hosts" $host) }}
{{- end }}
{{- end }}
{{- end }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: ${service}
  namespace: {{ $.Release.Namespace | quote }}
  labels:
    app.kubernetes.io/name: etcd-ratchet
    app.kubernetes.io/component: ${label}
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
          - path: ${path}
            pathType: Prefix
            backend:
              service:
                name: ${service}
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
