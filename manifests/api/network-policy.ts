import Type, { type Static } from 'typebox';
import { cidr, exceptInside, isMasked } from './ip-block.ts';
import { celOfLabelKey, isLabelKey, labelValue } from './label-rules.ts';
import { shown } from './problem.ts';
import { type Rule, rule } from './rule.ts';
import { list, map, object, type ReadonlyDeep, text } from './schema.ts';
import { networkPolicyDefaults } from './spec-defaults.ts';

/** The sources that reach a cluster's members: the part of Kubernetes' NetworkPolicyPeer that says from where. */

/** Of one label. */
export const isKey = rule<string>({
  message: 'must be the key of a label, like app or example.com/app: a name has at most 63 characters',
  cel: celOfLabelKey('self'),
  holds: isLabelKey,
});

const haveKeys = rule<Readonly<Record<string, string>>>({
  message: 'must have keys of labels, like app or example.com/app: a name has at most 63 characters',
  cel: `self.all(key, ${celOfLabelKey('key')})`,
  holds: (labels) => Object.keys(labels).every(isLabelKey),
  explain: (labels) =>
    Object.keys(labels)
      .filter((key) => !isLabelKey(key))
      .map(shown)
      .join(', '),
});

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

const valuesFit = rule<{ operator: (typeof operators)[number]; values?: readonly string[] }>({
  message: 'In and NotIn take values, Exists and DoesNotExist take none',
  cel: `self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0`,
  holds: ({ operator, values = [] }) => (operator === 'In' || operator === 'NotIn') === values.length > 0,
  fieldPath: '.values',
});

/** Labels that something must have to be selected. */
export function labelsToSelect(description: string, rules: readonly Rule[] = [], most = 16) {
  return map<string>(text(63, { rules: [labelValue] }), most, { description, rules: [haveKeys, ...rules] });
}

function selector(description: string) {
  return Type.Optional(
    object(
      {
        matchLabels: Type.Optional(labelsToSelect('Labels that it must have.')),
        matchExpressions: Type.Optional(
          list(
            object(
              {
                key: text(317, { description: 'The key of a label.', rules: [isKey] }),
                operator: Type.Enum(operators, { description: 'How it compares with values.' }),
                values: Type.Optional(
                  list(text(63, { rules: [labelValue] }), 16, { description: 'For In and NotIn.' }),
                ),
              },
              { rules: [valuesFit] },
            ),
            16,
            { description: 'What must hold of its labels.' },
          ),
        ),
      },
      { description },
    ),
  );
}

const oneOrBoth = rule<{ podSelector?: unknown; namespaceSelector?: unknown; ipBlock?: unknown }>({
  message: 'must have podSelector, namespaceSelector or both; or ipBlock alone',
  cel: 'has(self.ipBlock) ? !has(self.podSelector) && !has(self.namespaceSelector) : has(self.podSelector) || has(self.namespaceSelector)',
  holds: ({ podSelector, namespaceSelector, ipBlock }) =>
    (ipBlock !== undefined) !== (podSelector !== undefined || namespaceSelector !== undefined),
});

const source = object(
  {
    podSelector: selector("Pods: of the cluster's namespace, or of those that namespaceSelector selects."),
    namespaceSelector: selector('Namespaces, by their labels; an empty one selects all.'),
    ipBlock: Type.Optional(
      object(
        {
          cidr: text(49, { description: 'Addresses outside of the Kubernetes cluster.', rules: [cidr, isMasked] }),
          except: Type.Optional(
            list(text(49, { rules: [cidr, isMasked] }), 16, {
              description: 'Smaller blocks inside of it that are left out.',
            }),
          ),
        },
        { description: 'Addresses, for clients that are no pods.', rules: [exceptInside] },
      ),
    ),
  },
  { rules: [oneOrBoth] },
);

export const networkPolicySchema = object(
  {
    mode: Type.Optional(
      Type.Enum(['Enabled', 'Disabled'], {
        default: networkPolicyDefaults.mode,
        description: 'Disabled: etcd-ratchet makes none, and deletes the one that it made.',
      }),
    ),
    clients: Type.Optional(
      list(source, 16, {
        description:
          'From where clients reach port 2379, as in a NetworkPolicy. Absent: from everywhere, and certificates alone decide. etcd-ratchet, its backups and the members always do.',
      }),
    ),
    monitoring: Type.Optional(
      list(source, 16, {
        description:
          'From where the metrics of port 2381 are read. Absent: from namespaces with the label etcd.ratchet.dev/monitoring=true. Empty: from nowhere. etcd-ratchet always reads them.',
      }),
    ),
  },
  { description: 'From where members are reached. Only members reach the peer port, 2380.' },
);

export type NetworkSource = ReadonlyDeep<Static<typeof source>>;
