import type { Pod } from '../../manifests/kube-types.ts';
import { peerUrl } from '../../manifests/render/names.ts';
import { until } from '../e2e/support/until.ts';
import { post } from '../integration/clients/etcd-members.ts';
import { serves } from './backup-by-hand.ts';
import type { Sizes } from './full-size-by-hand.ts';
import { afresh, type Listed, listedOf } from './plain-members.ts';
import { isPodReady, namespace, podsOf, type Stage } from './stage.ts';

/**
 * What a careful person does with kubectl and etcd's own image where nothing reconciles: the very objects that a
 * cluster has, under another name. A pod's own time is in it, as it is in ours.
 */
export interface Wanted {
  readonly name: string;
  readonly keys: number;
  /** The PVC that has the snapshot, and the file's name there. */
  readonly shelf: { readonly claimName: string; readonly file: string };
}

/** The objects of `from`, as long as they are there, to be applied by `growByKubectl`. */
export async function objectsOf({ kubectl }: Stage, from: string, name: string): Promise<readonly Listed[]> {
  const items = await listedOf(kubectl, from);
  return JSON.parse(JSON.stringify(items).replaceAll(from, name)) as readonly Listed[];
}

const patience = { every: 50, within: 300 };
const shelfPath = '/shelf';

/** An init container restores the first member; each further one is added as a learner, started and promoted. */
export async function growByKubectl(stage: Stage, objects: readonly Listed[], wanted: Wanted): Promise<Sizes> {
  const { kubectl, kube } = stage;
  const { name, keys } = wanted;
  const members = [0, 1, 2].map((ordinal) => `${name}-${ordinal}`);
  const urlOf = (member: string) => peerUrl(namespace, name, member);
  const listed = (count: number) =>
    members
      .slice(0, count)
      .map((member) => `${member}=${urlOf(member)}`)
      .join(',');
  const apply = async (items: readonly Listed[], initialCluster: string) => {
    const made = items.map((item) => afresh(item, { initialCluster, state: 'existing' }));
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: made });
    await kubectl(['-n', namespace, 'apply', '-f', '-'], { stdin });
  };
  const own = (member: string) => objects.filter(({ metadata }) => metadata.name === member);
  const ready = (member: string) =>
    until(
      `${member} is Ready`,
      async () =>
        (await podsOf(kube, namespace, name)).find((pod) => pod.metadata.name === `${member}-0` && isPodReady(pod)),
      patience,
    );

  const started = performance.now();
  const since = () => (performance.now() - started) / 1000;
  const [first = ''] = members;
  const shared = objects.filter(({ kind }) => kind === 'Service');
  await apply([...shared, ...own(first).map((item) => restoring(item, first, urlOf(first), wanted))], listed(1));
  const leader = clientOf(await ready(first));
  await serves(leader, keys);
  const seconds = since();
  for (const [index, member] of members.entries()) {
    if (index === 0) continue;
    const ID = await until(
      `${member} is added`,
      async () => {
        const asked = { peerURLs: [urlOf(member)], isLearner: true };
        const answer = await post(leader, '/v3/cluster/member/add', asked);
        return (answer.member as { readonly ID: string } | undefined)?.ID;
      },
      patience,
    );
    await apply(own(member), listed(index + 1));
    const promoted = async () => 'members' in (await post(leader, '/v3/cluster/member/promote', { ID }));
    await until(`${member} is a voter`, promoted, patience);
    await serves(clientOf(await ready(member)), keys);
  }
  return { first: seconds, full: since() };
}

/** All of it, with its volumes. */
export async function removeByKubectl({ kubectl, kube }: Stage, name: string): Promise<void> {
  const own = ['-n', namespace, 'delete', '-l', `etcd.ratchet.dev/cluster=${name}`];
  await kubectl([...own, 'statefulsets,services,configmaps']);
  await until(`${name} is gone`, async () => (await podsOf(kube, namespace, name)).length === 0);
  await kubectl([...own, 'persistentvolumeclaims']);
}

function clientOf({ status }: Pod): string {
  return `http://${status?.podIP}:2379`;
}

/** The first member's StatefulSet, with an init container of etcd's image that runs etcdutl. */
function restoring(item: Listed, member: string, url: string, { shelf }: Wanted): Listed {
  if (item.kind !== 'StatefulSet') return item;
  const spec = structuredClone(item.spec) as { readonly template: { spec: PodParts } };
  const { containers, volumes = [] } = spec.template.spec;
  const etcd = containers.find(({ name }) => name === 'etcd');
  if (!etcd) throw new Error(`StatefulSet ${member} runs no etcd`);
  const data = etcd.args.find((arg) => arg.startsWith('--data-dir='));
  const { image, securityContext, volumeMounts } = etcd;
  spec.template.spec = {
    ...spec.template.spec,
    initContainers: [
      {
        name: 'restore',
        image,
        securityContext,
        command: ['/usr/local/bin/etcdutl'],
        args: [
          ...['snapshot', 'restore', `${shelfPath}/${shelf.file}`, data, `--name=${member}`],
          ...[`--initial-cluster=${member}=${url}`, `--initial-advertise-peer-urls=${url}`],
          ...['--initial-cluster-token=bench', '--bump-revision=1000000000', '--mark-compacted'],
        ],
        volumeMounts: [...volumeMounts, { name: 'shelf', mountPath: shelfPath, readOnly: true }],
      },
    ],
    volumes: [...volumes, { name: 'shelf', persistentVolumeClaim: { claimName: shelf.claimName } }],
  };
  return { ...item, spec };
}

interface PodParts {
  readonly initContainers?: readonly unknown[];
  readonly containers: readonly {
    readonly name: string;
    readonly image: string;
    readonly args: readonly string[];
    readonly securityContext?: object;
    readonly volumeMounts: readonly object[];
  }[];
  readonly volumes?: readonly object[];
}
