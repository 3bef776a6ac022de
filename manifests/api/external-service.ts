import Type from 'typebox';
import { cidr, isMasked } from './ip-block.ts';
import { celOfLabelKey, isLabelKey, labelValue } from './label-rules.ts';
import { matching, type Rule, rule } from './rule.ts';
import { int32, list, map, object, text } from './schema.ts';
import { externalServiceDefaults } from './spec-defaults.ts';

/** A second Service, for clients outside of the Kubernetes cluster. */

const types = ['ClusterIP', 'NodePort', 'LoadBalancer'] as const;

/** Ours say which cluster a Service is of. */
const theirs = /^([^/]*[.])?ratchet[.]dev\/|^app[.]kubernetes[.]io\//;

const keys = rule<Readonly<Record<string, string>>>({
  message:
    'must have keys like example.com/name, and none of ratchet.dev or app.kubernetes.io: those are set by etcd-ratchet',
  cel: `self.all(key, ${celOfLabelKey('key')} && !key.matches('^([^/]*[.])?ratchet[.]dev/|^app[.]kubernetes[.]io/'))`,
  holds: (given) => Object.keys(given).every((key) => isLabelKey(key) && !theirs.test(key)),
  hidesValue: true,
});

interface Given {
  readonly type?: (typeof types)[number];
  readonly nodePort?: number;
  readonly loadBalancerClass?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly externalTrafficPolicy?: string;
}

const isBalanced = `self.type == 'LoadBalancer'`;
const isNoPort = `has(self.type) && self.type == 'ClusterIP'`;

const balancerOnly = rule<Given>({
  message: 'loadBalancerClass and loadBalancerSourceRanges go with type LoadBalancer',
  cel: `(!has(self.loadBalancerClass) && !has(self.loadBalancerSourceRanges)) || (has(self.type) && ${isBalanced})`,
  holds: ({ type, loadBalancerClass, loadBalancerSourceRanges }) =>
    (loadBalancerClass === undefined && loadBalancerSourceRanges === undefined) || type === 'LoadBalancer',
});

const outsideOnly = rule<Given>({
  message: 'nodePort and externalTrafficPolicy go with type NodePort or LoadBalancer',
  cel: `(!has(self.nodePort) && !has(self.externalTrafficPolicy)) || !(${isNoPort})`,
  holds: ({ type, nodePort, externalTrafficPolicy }) =>
    (nodePort === undefined && externalTrafficPolicy === undefined) || type !== 'ClusterIP',
});

const typeIsSaid =
  'From where it is reached. NodePort: at a port of every node. LoadBalancer: at an address of its own.';

export const externalServiceSchema = object(
  {
    type: Type.Enum(types, { description: `${typeIsSaid} ClusterIP: within the Kubernetes cluster, for a proxy.` }),
    labels: Type.Optional(
      map<string>(text(63, { rules: [labelValue] }), 16, {
        description: 'Of the Service, beside our own.',
        rules: [keys],
      }),
    ),
    annotations: Type.Optional(
      map<string>(text(1024), 16, {
        description: 'Of the Service: what a cloud or external-dns reads.',
        rules: [keys],
      }),
    ),
    nodePort: Type.Optional(
      int32({ minimum: 1, maximum: 65_535, description: 'Absent: Kubernetes chooses one, which stays.' }),
    ),
    loadBalancerClass: Type.Optional(
      text(317, {
        description: 'Which load balancer makes it. It can not be changed while the type is LoadBalancer.',
        rules: [
          matching(
            '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
            'must be a class like service.k8s.aws/nlb',
          ),
        ],
      }),
    ),
    loadBalancerSourceRanges: Type.Optional(
      list(text(49, { rules: [cidr, isMasked] }), 64, {
        description: 'Addresses that the load balancer lets in. Absent: all. Not each load balancer heeds it.',
      }),
    ),
    externalTrafficPolicy: Type.Optional(
      Type.Enum(['Cluster', 'Local'], {
        default: externalServiceDefaults.externalTrafficPolicy,
        description:
          'Cluster: any node takes a connection to any member, which sees the address of the node. Local: only nodes with a member take any, and the member sees the address of the client.',
      }),
    ),
  },
  {
    description:
      'A Service <name>-external for clients outside of the Kubernetes cluster, beside the one of the cluster. Absent: none. The names that they connect to belong in tls.dnsNames.',
    rules: [balancerOnly, outsideOnly],
  },
);

/** Of the cluster's spec as a whole. */
export const externalTakesTls: Rule = rule<{ service?: { type: string }; tls?: { mode?: string } }>({
  message:
    'service of type NodePort or LoadBalancer takes TLS: with tls.mode Disabled, every client that reaches it could read and write everything',
  cel: `!has(self.service) || self.service.type == 'ClusterIP' || !has(self.tls) || !has(self.tls.mode) || self.tls.mode != 'Disabled'`,
  holds: ({ service, tls }) => service === undefined || service.type === 'ClusterIP' || tls?.mode !== 'Disabled',
  fieldPath: '.service.type',
});
