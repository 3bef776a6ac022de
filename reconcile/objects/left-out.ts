import { kubectl } from '../../manifests/render/kubectl.ts';
import { labels } from '../../manifests/render/names.ts';
import type { LeftOut } from '../interfaces/kube.ts';
import { withCure } from '../reasons/cure.ts';

/** A namespace that the lists of a pass leave out, and why. */
export function sayLeftOut(namespace: string, { bytes, plural, mostBytes }: LeftOut): string {
  return `namespace ${namespace} is left out: what a pass lists of it takes about ${mebibytes(bytes)} of memory, most of it ${plural}, and there are ${mebibytes(mostBytes)} for all namespaces together`;
}

/** With what a person runs to see them, and what else helps. */
export function leftOutWithCure(namespace: string, why: LeftOut): string {
  const look = kubectl({ namespace }, `get ${why.plural} -l ${labels.managedBy}=etcd-ratchet`);
  const cure = `delete what etcd-ratchet did not make there and that bears its label (${look}), or give the CronJob more memory`;
  return withCure(sayLeftOut(namespace, why), cure);
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}
