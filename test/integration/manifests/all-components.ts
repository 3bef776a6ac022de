import { join, relative } from 'node:path';
import { type Component, kustomizationOf } from '../../../manifests/helm/chart.ts';
import { standIn } from '../docs/stand-in-kinds.ts';

/** All that we install, beside which other people's work goes on. */

const manifests = join(import.meta.dirname, '../../../manifests');

export const inOneNamespace: readonly Component[] = [
  'certManager',
  'webhooks',
  'page',
  'pageShared',
  'pagePlans',
  'storageMigration',
  'metrics',
  'prometheusOperator',
  'dashboards',
];
/** kustomize's `namespace` moves every namespace, and this component has a second one. */
export const allComponents: readonly Component[] = [...inOneNamespace, 'nodeReboots'];

/** Kinds of the Prometheus operator, which some components have objects of. */
export const monitoringKinds = ['PodMonitor', 'ServiceMonitor', 'PrometheusRule'].map((kind) =>
  standIn('monitoring.coreos.com', kind),
);

/** For a kustomization in that directory. @param more other folders of `manifests` */
export function partsFor(directory: string, on: readonly Component[], more: readonly string[] = []) {
  const from = (paths: readonly string[]) => paths.map((path) => relative(directory, join(manifests, path)));
  const { resources, components } = kustomizationOf(false, on);
  return { resources: from([...resources, ...more]), components: from(components) };
}
