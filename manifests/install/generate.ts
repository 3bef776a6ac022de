import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { definitions } from '../api/kinds.ts';
import { chartFiles } from '../helm/chart.ts';
import { prometheusRule } from '../monitoring/alerts.ts';
import { dashboardFiles, dashboardsConfigMap } from '../monitoring/dashboards.ts';
import {
  customResourceStateMetrics,
  kubeStateMetricsRole,
  metricsConfigMap,
} from '../monitoring/kube-state-metrics.ts';
import { podMonitor, serviceMonitor } from '../monitoring/monitors.ts';
import { crdOf } from './crd.ts';

/**
 * Writes the version of package.json where it is needed, the CRDs, what monitoring reads, and the Helm chart. With
 * `--check` it writes nothing, and fails where a file differs. Run by `npm run generate` and `npm run check`.
 */

const header = '# Generated from manifests/api by `npm run generate`. Do not edit.\n';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const stale: string[] = [];

const files: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    Object.values(definitions).map((definition) => [`crds/${definition.plural}.yaml`, crdOf(definition)]),
  ),
  '../monitoring/kube-state-metrics.yaml': customResourceStateMetrics(),
  '../monitoring/kube-state-metrics-role.yaml': kubeStateMetricsRole(),
  '../monitoring/prometheus-rule.yaml': prometheusRule(),
  // A kustomization may name no file beside its own directory.
  'components/metrics/role.yaml': kubeStateMetricsRole(),
  'components/metrics/config-map.yaml': metricsConfigMap(),
  'components/prometheus-operator/pod-monitor.yaml': podMonitor(),
  'components/prometheus-operator/service-monitor.yaml': serviceMonitor(),
  'components/prometheus-operator/prometheus-rule.yaml': inOurNamespace(prometheusRule()),
  'components/dashboards/config-map.yaml': dashboardsConfigMap(),
};

for (const [file, content] of Object.entries(files)) {
  // Without anchors: kubectl reads them, people should not have to. Not folded: kustomize adds lines to such texts.
  const options = { lineWidth: 120, aliasDuplicateObjects: false, blockQuote: 'literal' } as const;
  await write(file, header + stringify(content, options));
}

for (const [file, text] of Object.entries(dashboardFiles())) await write(`../monitoring/dashboards/${file}`, text);

const { version } = JSON.parse(await readFile(at('../../package.json'), 'utf8')) as { readonly version: string };
await rewrite('../release.ts', /(?<=version = ')[^']*/, version);
await rewrite('../image/kustomization.yaml', /(?<=newTag: ).*/, `v${version}`);

// After the CRDs and the image's tag: the chart is made from the files.
const chart = chartFiles(version);
for (const [file, content] of Object.entries(chart)) await write(`../helm/etcd-ratchet/${file}`, content);
for await (const entry of glob('**/*', { cwd: at('../helm/etcd-ratchet'), withFileTypes: true })) {
  const file = `${entry.parentPath}/${entry.name}`.slice(fileURLToPath(at('../helm/etcd-ratchet')).length + 1);
  if (entry.isDirectory() || Object.hasOwn(chart, file)) continue;
  if (values.check) stale.push(`../helm/etcd-ratchet/${file}`);
  else await rm(at(`../helm/etcd-ratchet/${file}`));
}

if (stale.length > 0) {
  console.error(`manifests/install: ${stale.join(', ')} differ from the code and package.json; run npm run generate`);
  process.exitCode = 1;
}

async function rewrite(file: string, place: RegExp, wanted: string): Promise<void> {
  await write(file, (await readFile(at(file), 'utf8')).replace(place, wanted));
}

async function write(file: string, wanted: string): Promise<void> {
  if ((await readFile(at(file), 'utf8').catch(absent)) === wanted) return;
  if (values.check) stale.push(file);
  else {
    await mkdir(dirname(fileURLToPath(at(file))), { recursive: true });
    await writeFile(at(file), wanted);
  }
}

function inOurNamespace<T extends { readonly metadata: object }>(object: T): T {
  return { ...object, metadata: { ...object.metadata, namespace: 'etcd-ratchet' } };
}

function at(file: string): URL {
  return new URL(file, import.meta.url);
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
