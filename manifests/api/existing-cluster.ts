import Type, { type Static } from 'typebox';
import { dnsSubdomain } from './common-rules.ts';
import { etcdIdPattern } from './identifiers.ts';
import { labelsToSelect } from './network-policy.ts';
import { matching, rule, transitionRule } from './rule.ts';
import { int32, list, object, type ReadonlyDeep, text } from './schema.ts';
import { existingDefaults } from './spec-defaults.ts';

const etcdId = matching(
  etcdIdPattern,
  'must be an ID of etcd, as etcdctl prints it: up to 16 lower-case hexadecimal digits, without leading zeros',
);

const once = rule<readonly string[]>({
  message: 'must name each member once',
  cel: 'self.all(one, self.exists_one(other, other == one))',
  holds: (ids) => new Set(ids).size === ids.length,
});

const someLabel = rule<Readonly<Record<string, string>>>({
  message: 'must have a label at least: without one it selects every pod of the namespace',
  cel: 'size(self) > 0',
  holds: (labels) => Object.keys(labels).length > 0,
});

/** A running cluster of etcd that etcd-ratchet did not make, and that this one takes over. */
export const existingClusterSchema = object(
  {
    clusterID: text(16, {
      description: 'Its ID, in hexadecimal. No other etcd cluster is ever joined.',
      rules: [etcdId],
    }),
    memberIDs: list(text(16, { rules: [etcdId] }), 9, {
      minItems: 1,
      description:
        'The IDs of all its members, in hexadecimal. They leave, one at a time, when as many members as the spec asks for vote beside them and a person approves it. No other member is removed.',
      rules: [once],
    }),
    podLabels: labelsToSelect('Labels that select the pods of its members, in the namespace of the EtcdCluster.', [
      someLabel,
    ]),
    clientPort: Type.Optional(
      int32({
        minimum: 1,
        maximum: 65_535,
        default: existingDefaults.clientPort,
        description: 'Where its members listen for clients.',
      }),
    ),
    serverName: Type.Optional(
      text(253, {
        description:
          'With TLS: a DNS name that the server certificates of all its members bear. Absent: each has the name of its pod, HOSTNAME.SUBDOMAIN.NAMESPACE.svc.',
        rules: [matching(dnsSubdomain, 'must be a DNS name in lower case, without wildcards')],
      }),
    ),
  },
  {
    description:
      'An etcd cluster that runs already: the members of this one join it, and then its members leave. It takes an approval, the annotation etcd.ratchet.dev/adopt. Remove the field when they have left.',
  },
);

export type ExistingCluster = ReadonlyDeep<Static<typeof existingClusterSchema>>;

/**
 * The cluster that is taken over. While members of it vote beside ours, a commit that removes them from the spec
 * changes nothing: the status keeps what the spec said when ours joined (I13).
 */
export function existingOf({
  spec,
  status,
}: {
  readonly spec: { readonly bootstrap?: { readonly existing?: ExistingCluster } };
  readonly status?: { readonly existing?: ExistingCluster };
}): ExistingCluster | undefined {
  const asked = spec.bootstrap?.existing;
  const kept = status?.existing;
  return kept && !namesAll(asked, kept) ? kept : asked;
}

export function namesAll(asked: ExistingCluster | undefined, kept: ExistingCluster): boolean {
  return asked?.clusterID === kept.clusterID && kept.memberIDs.every((id) => asked.memberIDs.includes(id));
}

/** As `namesAll`, of an object that has `self.status.existing`. */
function celNamesAll(object: 'self' | 'oldSelf'): string {
  const existing = `${object}.spec.bootstrap.existing`;
  return `(has(${object}.spec.bootstrap) && has(${existing}) && ${existing}.clusterID == self.status.existing.clusterID && self.status.existing.memberIDs.all(id, id in ${existing}.memberIDs))`;
}

export const existingStays = transitionRule({
  message:
    'bootstrap.existing stays, with its clusterID and all its memberIDs, while members of that cluster vote beside ours: approve that they leave (kubectl ratchet approve), or delete the EtcdCluster, whose members then leave first',
  cel: `!has(self.status) || !has(self.status.existing) || !${celNamesAll('oldSelf')} || ${celNamesAll('self')}`,
  fieldPath: '.spec.bootstrap.existing',
});
