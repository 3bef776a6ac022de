import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import { type Named, namedBy, namedByBackup, offerCommand } from '../../manifests/render/offers.ts';
import { isReason, type Kube, resources } from '../../reconcile/interfaces/kube.ts';
import { problemOfOffers } from '../../reconcile/objects/offers.ts';
import type { Asked, ExitCode } from './command.ts';
import { dataText } from './objects.ts';

interface Used extends Named {
  readonly namespace: string;
}

/** Commands that offer what backups, schedules, restores and clusters name, where it is not offered yet. */
export async function offers(asked: Asked, { allNamespaces }: { readonly allNamespaces: boolean }): Promise<ExitCode> {
  const { kube, out, err, output, stop } = asked;
  const where = allNamespaces ? undefined : asked.namespace;
  const missing: Used[] = [];
  for (const one of await usedIn(kube, where, stop)) if (!(await isOfferedNow(one, kube, stop))) missing.push(one);
  const commands = missing.map((one) => offerCommand(one.namespace, one));
  if (output !== 'text')
    out(dataText({ offers: missing.map((one, at) => ({ ...one, command: commands[at] })) }, output));
  else if (missing.length === 0) err('all that backups and restores name is offered to them\n');
  else out(`${commands.join('\n')}\n`);
  return 0;
}

/** Where it can't be read, the command is printed all the same: to run it twice changes nothing. */
async function isOfferedNow({ namespace, ...one }: Used, kube: Kube, stop: AbortSignal): Promise<boolean> {
  try {
    return (await problemOfOffers(kube, { namespace, named: [one] }, stop)) === undefined;
  } catch (error) {
    if (isReason(error, 'Forbidden')) return false;
    throw error;
  }
}

/** Each once, by namespace, kind and name. */
async function usedIn(kube: Kube, where: string | undefined, signal: AbortSignal): Promise<readonly Used[]> {
  const options = { namespace: where, signal };
  const [backups, schedules, restores, clusters] = await Promise.all([
    kube.list<EtcdBackup>(resources.backups, options),
    kube.list<EtcdBackupSchedule>(resources.schedules, options),
    kube.list<EtcdRestore>(resources.restores, options),
    kube.list<EtcdCluster>(resources.clusters, options),
  ]);
  const all = [
    ...backups.items.map(({ metadata, spec }) => usedBy(metadata, namedByBackup(spec))),
    ...schedules.items.map(({ metadata, spec }) => usedBy(metadata, namedByBackup(spec.template))),
    ...restores.items.map(({ metadata, spec }) => usedBy(metadata, spec.from ? namedBy(spec.from) : [])),
    ...clusters.items.map(({ metadata, spec: { bootstrap, rollback, backup } }) =>
      usedBy(
        metadata,
        [bootstrap?.snapshot, rollback?.snapshot, backup?.to].flatMap((settings) =>
          settings ? namedBy(settings) : [],
        ),
      ),
    ),
  ];
  const byKey = new Map(all.flat().map((one) => [`${one.namespace}/${one.kind}/${one.name}`, one]));
  return [...byKey].toSorted(([a], [b]) => a.localeCompare(b, 'en')).map(([, one]) => one);
}

function usedBy({ namespace = 'default' }: { readonly namespace?: string }, all: readonly Named[]): readonly Used[] {
  return all.map((one) => ({ ...one, namespace }));
}
