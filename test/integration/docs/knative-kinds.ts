import { join } from 'node:path';
import type { Kubectl } from '../../support/cluster/kubectl.ts';
import type { PageTools } from '../../support/cluster/tools.ts';
import { pluralOf, standIn } from './stand-in-kinds.ts';

/** What manifests/knative has objects of: the group, the kind, and the file of its definition. */
const kinds = [
  ['serving.knative.dev', 'Service', 'service.yaml'],
  ['eventing.knative.dev', 'Broker', 'broker.yaml'],
  ['eventing.knative.dev', 'Trigger', 'trigger.yaml'],
  ['sources.knative.dev', 'ApiServerSource', 'apiserversource.yaml'],
  ['sources.knative.dev', 'PingSource', 'pingsource.yaml'],
  ['sources.knative.dev', 'SinkBinding', 'sinkbindings.yaml'],
] as const;

/** Knative's own definitions, or some that take any field where those can't be had (a unit test judges the fields). */
export async function installKnativeKinds(kubectl: Kubectl, { knative }: PageTools): Promise<void> {
  if ('missing' in knative) {
    const items = kinds.map(([group, kind]) => standIn(group, kind));
    await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  } else {
    const [serving = '', eventing = ''] = knative;
    const fileOf = ([group, , file]: (typeof kinds)[number]) =>
      join(group === 'serving.knative.dev' ? serving : eventing, file);
    await kubectl(['apply', '--server-side', ...kinds.flatMap((one) => ['-f', fileOf(one)])]);
  }
  const names = kinds.map(([group, kind]) => `crd/${pluralOf(kind)}.${group}`);
  await kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names]);
}
