import type { Mutant } from '../mutant.ts';

/** The deadline and the version of a lease, and what speaks to the API server and to etcd. */
export const ofClients: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/write-fence.ts',
    from: 'if (!signal.aborted && performance.now() <= deadline) return',
    to: 'if (!signal.aborted) return',
    without: 'a write is sent after the deadline of the claim (I7)',
    killers: ['test/unit/cluster/lease.test.ts'],
  },
  {
    file: 'reconcile/cluster/act/lease.ts',
    from: 'resources.clusters, { ...cluster, status }, { signal }',
    to: 'resources.clusters, { ...((await kube.get<EtcdCluster>(resources.clusters, cluster.metadata.namespace, cluster.metadata.name)) ?? cluster), status }, { signal }',
    without: 'a claim does not carry the resourceVersion that was observed (I7)',
    killers: ['test/unit/cluster/lease.test.ts'],
  },
  {
    file: 'reconcile/clients/kube.ts',
    from: 'if (isWrite(target) || wait === undefined ||',
    to: 'if (!isWrite(target) || wait === undefined ||',
    without: 'a write is repeated, and a read is not, when the API server asks for patience',
    killers: ['test/unit/clients/kube-requests.test.ts'],
  },
  {
    file: 'reconcile/clients/kube.ts',
    from: "if (next === '' || !mayRestart || !isReason(error, 'Expired')) throw error;",
    to: "if (next === '' || !isReason(error, 'Expired')) throw error;",
    without: 'a list whose pages expire is begun anew without end',
    killers: ['test/unit/clients/kube-repeats.test.ts'],
  },
  {
    file: 'reconcile/clients/kube-connection.ts',
    from: 'if (!mayRepeat || isWrite(question.target) ||',
    to: 'if (!mayRepeat ||',
    without: 'a write is repeated on a new connection when the kept one is stale',
    killers: ['test/unit/clients/kube-repeats.test.ts'],
  },
  {
    file: 'reconcile/clients/kube-watch.ts',
    from: 'if (size > 0) throw',
    to: 'if (size === 0) throw',
    without: 'a watch that ends in the middle of an event ends quietly',
    killers: ['test/unit/clients/kube-answers.test.ts'],
  },
  {
    file: 'reconcile/clients/kube-answers.ts',
    from: 'if (kind !== target.resource.kind ||',
    to: 'if (kind === target.resource.kind ||',
    without: 'an answer that is another object is taken for the one that was asked for',
    killers: ['test/unit/clients/kube-answers.test.ts'],
  },
  {
    file: 'reconcile/clients/etcd-reading.ts',
    from: 'running -= 1;',
    to: 'running += 1;',
    without: 'candidates that failed count as running, so that the last failure is never told',
    killers: ['test/unit/clients/hedge.test.ts'],
  },
  {
    file: 'reconcile/clients/etcd-errors.ts',
    from: 'server stopped|server is stopping)|raft: stopped/;',
    to: 'server stopped|server is stopping)\\b\\B/;',
    without: 'no answer of etcd counts as "I do not know": a change that may still come is taken for refused',
    killers: ['test/unit/clients/etcd-errors.test.ts'],
  },
  {
    file: 'reconcile/clients/etcd-errors.ts',
    from: ", certain ? 'refused' : 'down'",
    to: ", certain ? 'down' : 'refused'",
    without: 'a change that was not sent, because the reads before it failed, is told as refused',
    killers: ['test/unit/clients/etcd-errors.test.ts'],
  },
  {
    file: 'reconcile/clients/x509.ts',
    from: 'iPAddress: withoutDots(address)',
    to: 'iPAddress: address',
    without: 'a certificate for an IPv6 address with dots is for another one',
    killers: ['test/unit/certificates/issue.test.ts'],
  },
];
