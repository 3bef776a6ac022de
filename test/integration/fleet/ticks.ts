import type { TickOptions } from '../../../functions/tick/options.ts';
import { runTick } from '../../../functions/tick/run-tick.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';

/** Whole ticks against the API server of this kubeconfig. */
export function ticksOn(kubeconfig: string) {
  return async (options: Partial<TickOptions> = {}) => {
    const lines: { fields: Readonly<Record<string, unknown>>; message: string }[] = [];
    let out = '';
    const code = await runTick(
      {
        clusters: [],
        dryRun: false,
        output: 'json',
        detailedExitcode: false,
        wait: 0,
        timeout: 30,
        kubeconfig,
        ...options,
      },
      {
        version: '0.1.0',
        log: (fields, message) => lines.push({ fields, message }),
        stop: new AbortController().signal,
        env: {},
        out: (text) => {
          out += text;
        },
      },
    );
    return { code, lines, result: out === '' ? undefined : JSON.parse(out) };
  };
}

/** The CRDs, the namespaces, and the right of the account `fleet` of `platform` to these kinds in `payments`. */
export async function prepareFleets(kubectl: Kubectl, kinds: readonly string[]): Promise<void> {
  await kubectl(['apply', '-k', 'manifests/install/crds']);
  await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
  for (const name of ['payments', 'platform', 'closed']) await kubectl(['create', 'namespace', name]);
  await kubectl(['create', 'serviceaccount', '-n', 'platform', 'fleet']);
  const resources = kinds.map((kind) => `--resource=${kind}.etcd.ratchet.dev`);
  await kubectl(['create', 'clusterrole', 'fleet', '--verb=get,create,update,patch,delete', ...resources]);
  const binding = ['rolebinding', '-n', 'payments', 'fleet', '--clusterrole=fleet', '--serviceaccount=platform:fleet'];
  await kubectl(['create', ...binding]);
}
