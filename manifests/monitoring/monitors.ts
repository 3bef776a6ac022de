import { labels } from '../render/names.ts';
import { etcdLabels } from './etcd-metrics.ts';

const own = { 'app.kubernetes.io/name': 'etcd-ratchet-metrics', 'app.kubernetes.io/part-of': 'etcd-ratchet' } as const;

/** What Prometheus makes of a pod's label: characters that are none of a name become `_`. */
function podLabel(name: string): string {
  return `__meta_kubernetes_pod_label_${name.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`;
}

/** Scrapes all members. The port has no TLS, for kubelet's probes; NetworkPolicy limits its callers. */
export function podMonitor() {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: { name: 'etcd-ratchet-members', namespace: 'etcd-ratchet', labels: own },
    spec: {
      namespaceSelector: { any: true },
      selector: { matchLabels: { [labels.managedBy]: 'etcd-ratchet', [labels.name]: 'etcd' } },
      podMetricsEndpoints: [
        {
          port: 'metrics',
          path: '/metrics',
          interval: '30s',
          relabelings: [
            { sourceLabels: [podLabel(labels.cluster)], targetLabel: etcdLabels.cluster },
            { sourceLabels: [podLabel(labels.peer)], targetLabel: etcdLabels.member },
            { targetLabel: 'job', replacement: 'etcd' },
          ],
        },
      ],
    },
  };
}

export function serviceMonitor() {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: { name: 'etcd-ratchet-metrics', namespace: 'etcd-ratchet', labels: own },
    spec: {
      selector: { matchLabels: { 'app.kubernetes.io/name': own['app.kubernetes.io/name'] } },
      // The label `namespace` of a series is that of the object, not of kube-state-metrics.
      endpoints: [{ port: 'http', path: '/metrics', interval: '30s', honorLabels: true }],
    },
  };
}
