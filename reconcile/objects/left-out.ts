import { kubectl } from '../../manifests/render/kubectl.ts';
import { labels } from '../../manifests/render/names.ts';
import type { LeftOut } from '../interfaces/kube.ts';

/** A namespace that the lists of a pass leave out, and why. */
export function sayLeftOut(namespace: string, { bytes, plural, mostBytes }: LeftOut): string {
  return `namespace ${namespace} is left out: what a pass lists of it takes about ${mebibytes(bytes)} of memory, most of it ${plural}, and there are ${mebibytes(mostBytes)} for all namespaces together`;
}

/** What a person runs to see them, and what else helps. */
export function leftOutCure(namespace: string, { plural }: LeftOut): string {
  const look = kubectl({ namespace }, `get ${plural} -l ${labels.managedBy}=etcd-ratchet`);
  return `delete what etcd-ratchet did not make there and that bears its label (${look}), or give the CronJob more memory`;
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}
