import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { ObjectMeta } from '../../manifests/api/metadata.ts';
import { isReason, resources } from '../../reconcile/interfaces/kube.ts';
import { withCure } from '../../reconcile/reasons/cure.ts';
import { type Concern, silentMs } from '../page/attention.ts';
import { duration } from '../page/time.ts';
import type { CronJob } from '../pass/follow-up/chain.ts';
import type { Asked } from './command.ts';
import type { Installation } from './reconcile.ts';

export interface Passes {
  /** When the last one looked at a fleet that this person sees. */
  readonly last?: string;
  /** Why none has run of late, as far as this person may see. */
  readonly problem?: Concern;
}

interface Trigger extends CronJob {
  readonly status?: { readonly lastScheduleTime?: string };
}

/** Whether passes run. Each leaves its time at every fleet; where none is seen, the CronJob and new clusters tell. */
export async function passesSeen(
  { fleets, clusters }: { readonly fleets: readonly EtcdFleet[]; readonly clusters: readonly EtcdCluster[] },
  installation: Installation,
  asked: Asked,
): Promise<Passes> {
  const now = asked.now();
  const last = fleets.flatMap(({ status }) => status?.lastRun ?? []).reduce(later, '');
  const seen = last === '' ? {} : { last };
  if (isRecent(last, now)) return seen;
  const place = `${installation.namespace}/${installation.name}`;
  const trigger = await triggerOf(installation, asked);
  const waiting = [
    ...fleets.filter(({ status }) => !status?.lastRun),
    ...clusters.filter(({ status }) => !status),
  ].find(({ metadata }) => isOld(metadata.creationTimestamp, now));
  const silence = last !== '' ? sinceLast(last, now) : waiting && sinceMade(waiting, now);
  const why = troubleOf(trigger, place, now);
  if (silence === undefined && why === undefined) return seen;
  // The CronJob runs, and what it does is seen by nothing here.
  const { what, cure } = why ?? elsewhere(trigger, place, installation);
  const message = withCure([silence, what].filter((part) => part !== undefined).join(': '), cure);
  return { ...seen, problem: { tone: 'bad', reason: 'NoPass', message } };
}

function later(one: string, other: string): string {
  return one > other ? one : other;
}

function isRecent(time: string | undefined, now: Date): boolean {
  return now.getTime() - Date.parse(time ?? '') <= silentMs;
}

function isOld(time: string | undefined, now: Date): boolean {
  return now.getTime() - Date.parse(time ?? '') > silentMs;
}

function sinceLast(last: string, now: Date): string {
  return `no pass for ${duration(now.getTime() - Date.parse(last))}`;
}

function sinceMade({ metadata }: { readonly metadata: ObjectMeta }, now: Date): string {
  const age = duration(now.getTime() - Date.parse(metadata.creationTimestamp ?? ''));
  return `no pass has looked at ${metadata.namespace}/${metadata.name}, which was made ${age} ago`;
}

/** `forbidden`: this person may not read it. */
type Read = { readonly kind: 'there'; readonly trigger: Trigger } | { readonly kind: 'none' | 'forbidden' };

async function triggerOf({ namespace, name }: Installation, { kube, stop }: Asked): Promise<Read> {
  try {
    const trigger = await kube.get<Trigger>(resources.cronJobs, namespace, name, { signal: stop });
    return trigger ? { kind: 'there', trigger } : { kind: 'none' };
  } catch (error) {
    if (isReason(error, 'Forbidden')) return { kind: 'forbidden' };
    throw error;
  }
}

interface Trouble {
  readonly what: string;
  readonly cure: string;
}

/** What the CronJob itself says. */
function troubleOf(read: Read, place: string, now: Date): Trouble | undefined {
  if (read.kind !== 'there') return undefined;
  const { metadata, spec, status } = read.trigger;
  const on = `kubectl -n ${metadata.namespace}`;
  if (spec.suspend)
    return {
      what: `CronJob ${place} is suspended`,
      cure: `${on} patch cronjob ${metadata.name} -p '{"spec":{"suspend":false}}'`,
    };
  const started = status?.lastScheduleTime;
  if (!isOld(started ?? metadata.creationTimestamp, now)) return undefined;
  const since = started === undefined ? 'no Job yet' : `no Job since ${started}`;
  return { what: `CronJob ${place} has started ${since}`, cure: `${on} describe cronjob ${metadata.name}` };
}

/** Something is not looked at, and the CronJob does not say why. */
function elsewhere({ kind }: Read, place: string, { namespace }: Installation): Trouble {
  switch (kind) {
    case 'there':
      return {
        what: `CronJob ${place} starts Jobs, and none of them looks here`,
        cure: `read their logs: kubectl -n ${namespace} get jobs`,
      };
    case 'none':
      return { what: `there is no CronJob ${place}`, cure: 'install etcd-ratchet, or name it by --installation' };
    case 'forbidden':
      return {
        what: `you may not read CronJob ${place}, which would say why`,
        cure: `ask who may: kubectl -n ${namespace} get cronjobs,jobs`,
      };
  }
}
