export const boolean = { type: 'boolean' };
export const string = { type: 'string' };
const quantities = { type: 'object', additionalProperties: { type: ['string', 'number'] } };
export const resources = {
  type: 'object',
  additionalProperties: false,
  properties: { requests: quantities, limits: quantities },
};
export const peers = {
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    properties: {
      ipBlock: { type: 'object' },
      namespaceSelector: { type: 'object' },
      podSelector: { type: 'object' },
    },
  },
};

export const dnsName = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const labelWord = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const key = `^(${dnsName}/)?${labelWord}$`;
/** By patterns of keys: of `propertyNames`, Helm tells a wrong place. */
const keyed = (value: object) => ({
  type: 'object',
  maxProperties: 32,
  patternProperties: { [key]: value },
  additionalProperties: false,
});
export const labels = keyed({ type: 'string', pattern: `^(${labelWord})?$` });
export const annotations = keyed({ type: 'string', maxLength: 65_536 });
export const ours = [
  { prefix: 'etcd.ratchet.dev/', instead: 'etcd-ratchet acts by these' },
  { prefix: 'app.kubernetes.io/managed-by', instead: 'Helm and etcd-ratchet act by it' },
  { prefix: 'helm.sh/', instead: 'Helm acts by these' },
  { prefix: 'meta.helm.sh/', instead: 'Helm acts by these' },
];
export const hostName = { type: 'string', maxLength: 253, pattern: `^(\\*\\.)?${dnsName}$` };
export const id = { type: ['integer', 'null'], minimum: 1 };
const profile = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: { type: { enum: ['RuntimeDefault', 'Localhost'] }, localhostProfile: string },
};
/** What containers and pods have in common, as far as Pod Security's level `restricted` lets them. */
export const confined = {
  runAsNonRoot: { const: true },
  runAsUser: id,
  runAsGroup: id,
  seccompProfile: profile,
  appArmorProfile: profile,
  seLinuxOptions: { type: ['object', 'null'] },
};
export const fixedNames =
  "admission policies hold etcd-ratchet's accounts by these names (docs/decisions/0016-own-accounts-are-held.md). For another installation take another namespace, with namespaced";
