import { BlockList, isIPv6 } from 'node:net';
import { parseAllDocuments } from 'yaml';

/** What NetworkPolicies admit, read as Kubernetes' documentation has it: for a cluster without a policy engine. */

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

export interface Policy {
  readonly metadata: { readonly namespace?: string };
  readonly spec: {
    readonly podSelector?: Selector;
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly {
      readonly ports?: readonly { readonly protocol?: string; readonly port?: number | string }[];
      readonly from?: readonly Peer[];
    }[];
  };
}

type Labels = Readonly<Record<string, string>>;

export interface Pod {
  readonly namespace: string;
  readonly labels: Labels;
  /** By name. */
  readonly ports?: Readonly<Record<string, number>>;
}

export interface Flow {
  readonly to: Pod;
  /** TCP. */
  readonly port: number;
  /** A pod, or an address outside of the Kubernetes cluster. */
  readonly from: Pod | string;
}

/** Labels of namespaces; beside them each has its name as `kubernetes.io/metadata.name`. */
type Namespaces = Readonly<Record<string, Labels>>;

export function admits(policies: readonly Policy[], namespaces: Namespaces, { to, port, from }: Flow): boolean {
  const about = policies.filter(
    ({ metadata, spec }) =>
      (metadata.namespace ?? 'default') === to.namespace &&
      matches(spec.podSelector, to.labels) &&
      (spec.policyTypes ?? ['Ingress']).includes('Ingress'),
  );
  if (about.length === 0) return true;
  return about.some(({ spec }) =>
    (spec.ingress ?? []).some(
      ({ ports = [], from: sources = [] }) =>
        (ports.length === 0 || ports.some((one) => isPort(one, port, to))) &&
        (sources.length === 0 || sources.some((source) => comesFrom(source, from, to.namespace, namespaces))),
    ),
  );
}

function isPort(
  { protocol = 'TCP', port }: { readonly protocol?: string; readonly port?: number | string },
  wanted: number,
  { ports = {} }: Pod,
): boolean {
  if (protocol !== 'TCP') return false;
  return port === undefined || (typeof port === 'number' ? port : ports[port]) === wanted;
}

function comesFrom(
  { ipBlock, podSelector, namespaceSelector }: Peer,
  from: Pod | string,
  namespace: string,
  namespaces: Namespaces,
): boolean {
  if (ipBlock)
    return typeof from === 'string' && isIn(ipBlock.cidr, from) && !ipBlock.except?.some((one) => isIn(one, from));
  if (typeof from === 'string') return false;
  const labels = { ...namespaces[from.namespace], 'kubernetes.io/metadata.name': from.namespace };
  const isThere = namespaceSelector ? matches(namespaceSelector, labels) : from.namespace === namespace;
  return isThere && matches(podSelector, from.labels);
}

function isIn(cidr: string, address: string): boolean {
  const [net = '', bits = ''] = cidr.split('/');
  const family = isIPv6(net) ? 'ipv6' : 'ipv4';
  if (isIPv6(address) !== isIPv6(net)) return false;
  const block = new BlockList();
  block.addSubnet(net, Number(bits), family);
  return block.check(address, family);
}

/** An empty selector selects all; `NotIn` also what has no such label. */
function matches({ matchLabels = {}, matchExpressions = [] }: Selector = {}, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      const isAmong = value !== undefined && values.includes(value);
      switch (operator) {
        case 'In':
          return isAmong;
        case 'NotIn':
          return !isAmong;
        case 'Exists':
          return value !== undefined;
        case 'DoesNotExist':
          return value === undefined;
        default:
          throw new Error(`Kubernetes has no operator ${operator}`);
      }
    })
  );
}

interface Workload {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
  readonly spec?: {
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec: { readonly template: Template } };
  };
}

interface Template {
  readonly metadata: { readonly labels: Labels };
  readonly spec: {
    readonly containers: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
    }[];
  };
}

/** The pods that rendered manifests make, the first of each kind, and the policies beside them. */
export function rendered(yaml: string): { readonly policies: readonly Policy[]; pod(kind: string): Pod } {
  const documents = parseAllDocuments(yaml).map((document) => document.toJS() as Workload);
  return {
    policies: documents.filter(({ kind }) => kind === 'NetworkPolicy') as unknown as readonly Policy[],
    pod: (kind) => {
      const [found] = documents.flatMap((document) => {
        const template = document.spec?.jobTemplate?.spec.template ?? document.spec?.template;
        return document.kind === kind && template ? [podOf(template, document.metadata.namespace ?? 'default')] : [];
      });
      if (!found) throw new Error(`nothing of kind ${kind} makes pods`);
      return found;
    },
  };
}

export function podOf({ metadata, spec }: Template, namespace: string): Pod {
  const ports = spec.containers.flatMap(({ ports: given = [] }) => given);
  const named = ports.flatMap(({ name, containerPort }) =>
    name === undefined ? [] : [[name, containerPort] as const],
  );
  return { namespace, labels: metadata.labels, ports: Object.fromEntries(named) };
}
