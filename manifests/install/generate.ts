import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { definitions } from '../api/kinds.ts';
import { prometheusRule } from '../monitoring/alerts.ts';
import { customResourceStateMetrics, kubeStateMetricsRole } from '../monitoring/kube-state-metrics.ts';
import { crdOf } from './crd.ts';

/**
 * Writes the CRDs, and what monitoring reads; with `--check` it writes nothing, and fails when a file is not what it
 * would write. Run by `npm run generate` and `npm run check`.
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
};

for (const [file, content] of Object.entries(files)) {
  const at = new URL(file, import.meta.url);
  // Without anchors: kubectl reads them, people should not have to.
  const wanted = header + stringify(content, { lineWidth: 120, aliasDuplicateObjects: false });
  if ((await readFile(at, 'utf8').catch(absent)) === wanted) continue;
  if (values.check) stale.push(file);
  else await writeFile(at, wanted);
}

if (stale.length > 0) {
  console.error(`manifests/install: ${stale.join(', ')} differ from the code; run npm run generate`);
  process.exitCode = 1;
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
