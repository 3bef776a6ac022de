import type { Place } from './value.ts';

export const podOf = {
  CronJob: '/spec/jobTemplate/spec/template/spec',
  Deployment: '/spec/template/spec',
} as const;

export const podsOfOurs = [
  { kind: 'CronJob', name: 'etcd-ratchet' },
  { kind: 'Deployment', name: 'etcd-ratchet-webhooks' },
  { kind: 'Deployment', name: 'etcd-ratchet-page' },
] as const;

export const metadataOf = {
  CronJob: '/spec/jobTemplate/spec/template/metadata',
  Deployment: '/spec/template/metadata',
} as const;

export const metricsPod = { kind: 'Deployment', name: 'etcd-ratchet-metrics' } as const;

export function inEveryPod(field: string): Place[] {
  return podsOfOurs.map(({ kind, name }) => ({ kind, name, at: `${podOf[kind]}/${field}`, as: 'where-set' }));
}

export function amongEvery(field: string): Place[] {
  return podsOfOurs.map(({ kind, name }) => ({ kind, name, at: `${podOf[kind]}${field}`, as: 'among' }));
}

export function everywhere(at: string): Place[] {
  return [{ kind: '*', name: '*', at, as: 'among' }];
}

export function resourcesOf(pod: (typeof podsOfOurs)[number]): Place[] {
  return [{ ...pod, at: `${podOf[pod.kind]}/containers/0/resources`, as: 'in-place' }];
}
