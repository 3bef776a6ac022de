import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  PodMonitor,
  PrometheusRule,
  ServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { parse, parseAllDocuments } from 'yaml';
import { prometheusRule } from '../../../manifests/monitoring/alerts.ts';
import { etcdLabels } from '../../../manifests/monitoring/etcd-metrics.ts';
import { podMonitor, serviceMonitor } from '../../../manifests/monitoring/monitors.ts';
import { applicationSecretName, memberLeaves } from '../../../manifests/render/certificate-names.ts';
import { networkPolicy } from '../../../manifests/render/network-policy.ts';
import { podTemplate } from '../../../manifests/render/pod-template.ts';
import { cluster as smallCluster } from './api-documents.ts';
import { peerOf } from './build-fixtures.ts';

const component = join(import.meta.dirname, '../../../manifests/install/components/metrics');

interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template: { readonly metadata: { readonly labels: Readonly<Record<string, string>> } };
    readonly ports: readonly { readonly name: string }[];
  };
}

function objectsIn(file: string): readonly Workload[] {
  return parseAllDocuments(readFileSync(join(component, file), 'utf8')).map((one) => one.toJS() as Workload);
}

test('the operator’s own schemas take the PodMonitor, the ServiceMonitor and the rules', () => {
  new PodMonitor(podMonitor()).validate();
  new ServiceMonitor(serviceMonitor()).validate();
  new PrometheusRule(prometheusRule()).validate();
});

test('the operator’s own schemas refuse what is none of theirs', () => {
  const { spec, ...rest } = podMonitor();
  const [endpoint] = spec.podMetricsEndpoints;
  const wrong = { ...rest, spec: { ...spec, podMetricsEndpoints: [{ ...endpoint, interval: 'often' }] } };
  assert.throws(() => new PodMonitor(wrong).validate(), /interval/);
});

test('the PodMonitor finds the pod of a member, its port, and its cluster and name', () => {
  const { metadata, spec } = podTemplate(peerOf());
  const [endpoint] = podMonitor().spec.podMetricsEndpoints;
  for (const [label, value] of Object.entries(podMonitor().spec.selector.matchLabels))
    assert.equal(metadata?.labels?.[label], value, label);
  const ports = spec?.containers[0]?.ports ?? [];
  assert.deepEqual(
    ports.filter(({ name }) => name === endpoint?.port).map(({ containerPort }) => containerPort),
    [2381],
  );
  // The rule of Prometheus' discovery: what is no letter, digit or underscore becomes an underscore.
  const discovered = Object.fromEntries(
    Object.entries(metadata?.labels ?? {}).map(([label, value]) => [
      `__meta_kubernetes_pod_label_${label.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`,
      value,
    ]),
  );
  const got = Object.fromEntries(
    (endpoint?.relabelings ?? []).flatMap(({ targetLabel, ...rest }) =>
      'sourceLabels' in rest ? [[targetLabel, discovered[rest.sourceLabels[0] ?? '']]] : [],
    ),
  );
  assert.deepEqual(got, {
    [etcdLabels.cluster]: peerOf().spec.clusterName,
    [etcdLabels.member]: peerOf().metadata.name,
  });
});

test('the ServiceMonitor finds the Service of the component, and the Service its pod', () => {
  const [deployment, service] = objectsIn('deployment.yaml');
  assert.deepEqual([deployment?.kind, service?.kind], ['Deployment', 'Service']);
  const { selector, endpoints } = serviceMonitor().spec;
  for (const [label, value] of Object.entries(selector.matchLabels))
    assert.equal(service?.metadata.labels[label], value);
  assert.ok(service?.spec.ports.some(({ name }) => name === endpoints[0]?.port));
  const { labels } = deployment?.spec.template.metadata ?? assert.fail();
  for (const chosen of [service?.spec.selector, deployment?.spec.selector.matchLabels])
    for (const [label, value] of Object.entries(chosen ?? {})) assert.equal(labels[label], value);
});

test('what reads metrics is not let through to the members as etcd-ratchet is', () => {
  const cluster = { ...smallCluster, metadata: { ...smallCluster.metadata, uid: 'uid' } };
  const admitted = JSON.stringify(networkPolicy(cluster));
  const { 'app.kubernetes.io/name': name = '' } = objectsIn('deployment.yaml')[0]?.spec.template.metadata.labels ?? {};
  assert.ok(admitted.includes('"app.kubernetes.io/name":"etcd-ratchet"'));
  assert.ok(name !== '' && !admitted.includes(`"${name}"`));
});

test('the PodMonitor by TLS in the docs is one, and names what a cluster has', () => {
  const page = readFileSync(join(component, '../../../../docs/how-to/monitoring.md'), 'utf8');
  const [, text = ''] = /```yaml\n(apiVersion: monitoring[\s\S]*?)```/.exec(page) ?? [];
  const document = parse(text) as ConstructorParameters<typeof PodMonitor>[0];
  new PodMonitor(document).validate();
  const [endpoint] = document?.spec?.podMetricsEndpoints ?? [];
  const { ca, cert, keySecret, serverName = '' } = endpoint?.tlsConfig ?? {};
  const application = applicationSecretName('orders');
  assert.deepEqual([ca?.secret?.name, cert?.secret?.name, keySecret?.name], [application, application, application]);
  const [, server] = memberLeaves({ namespace: 'payments', cluster: 'orders' }, 'orders-1');
  assert.ok(server?.dnsNames.includes(serverName), serverName);
  const { metadata, spec } = podTemplate(peerOf());
  for (const [label, value] of Object.entries(document?.spec?.selector?.matchLabels ?? {}))
    assert.equal(metadata?.labels?.[label], value);
  assert.ok(spec?.containers[0]?.ports?.some(({ name }) => name === endpoint?.port));
});
