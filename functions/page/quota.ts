import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { isQuantity } from '../../manifests/api/quantity.ts';
import { quotaBackendBytes } from '../../manifests/render/quota.ts';
import { type Filling, fillingAmong, fillingSteps } from '../../reconcile/cluster/know/space/filling.ts';
import type { Tone } from './state.ts';

/** Bytes at which etcd stops writes, by the spec; `undefined` where members run with another, as that is refused. */
export function quotaOf({ spec, status }: EtcdCluster): number | undefined {
  const isOther = status?.refusals?.some(({ field }) => field === 'spec.storage.size' || field === quotaField);
  const sizes = [
    spec.storage.size,
    ...(spec.etcd?.quotaBackendBytes === undefined ? [] : [spec.etcd.quotaBackendBytes]),
  ];
  return isOther || !sizes.every(isQuantity) ? undefined : quotaBackendBytes(spec);
}

/** As far as the status tells it, whatever else goes on. */
export function fillingSeen(cluster: EtcdCluster): Filling | undefined {
  const quota = quotaOf(cluster);
  if (quota === undefined) return undefined;
  return fillingAmong(
    (cluster.status?.members ?? []).flatMap(({ name, dbInUseBytes }) =>
      dbInUseBytes === undefined ? [] : [{ name, share: dbInUseBytes / quota }],
    ),
  );
}

const quotaField = 'spec.etcd.quotaBackendBytes';

/** How much of its quota a database file takes. */
export function toneOfShare(share: number): Tone {
  const [urgent, told] = fillingSteps;
  return share * 100 >= urgent ? 'bad' : share * 100 >= told ? 'busy' : 'good';
}
