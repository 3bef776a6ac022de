import type { EtcdAdmin } from '../../interfaces/etcd-admin.ts';
import { moved } from '../know/outcome.ts';

/**
 * Read just before something rests on it: each of these members answers for itself, and all hold the same keys at this
 * revision.
 *
 * @throws {StepError | EtcdError}
 */
export async function requireOneHash(
  etcd: EtcdAdmin,
  endpoints: readonly string[],
  {
    clusterId,
    memberIds,
    revision,
    signal,
  }: {
    readonly clusterId: string;
    readonly memberIds: readonly string[];
    readonly revision: bigint;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const asked = await Promise.allSettled(
    endpoints.map(async (endpoint) => ({ endpoint, status: await etcd.status(endpoint, { signal }) })),
  );
  const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const places = memberIds.map((memberId) => {
    const found = answers.find(({ status }) => status.memberId === memberId && status.clusterId === clusterId);
    if (!found) throw moved(`member ${memberId} does not answer any more, so its data cannot be compared`);
    return found.endpoint;
  });
  const hashes = await Promise.all(places.map((endpoint) => etcd.hashKv(endpoint, { revision, signal })));
  const different = new Set(hashes.map(({ compactRevision, hash }) => `${compactRevision} ${hash}`));
  if (different.size > 1) throw moved(`the data of members ${memberIds.join(', ')} no longer agree`);
}
