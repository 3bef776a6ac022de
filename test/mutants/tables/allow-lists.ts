import type { Mutant } from '../mutant.ts';

const lists = 'test/unit/manifests/allow-lists.test.ts';
const clusters = 'test/unit/cluster/world/not-allowed.test.ts';
const backups = 'test/unit/backup/not-allowed.test.ts';
const allowed = 'reconcile/cluster/know/spec/allowed.ts';
const effective = 'reconcile/cluster/know/spec/effective.ts';

/** What keeps authors to what the admin of an installation has listed. */
export const ofAllowLists: readonly Mutant[] = [
  {
    file: 'manifests/egress/allow-lists.ts',
    from: "entry.endsWith('/') ? entry : ",
    to: "entry !== '' ? entry : ",
    without: 'an image in registry.example.com.evil passes for one in registry.example.com',
    killers: [lists],
  },
  {
    file: 'manifests/egress/allow-lists.ts',
    from: "return entry.includes('/') && ",
    to: 'return ',
    without: 'another port of a listed host is another registry, and allowed',
    killers: [lists],
  },
  {
    file: 'functions/environment.ts',
    from: 'env[variable]?.trim() || isStrict(env)',
    to: 'env[variable]?.trim()',
    without: 'a list that is not set allows everything in a strict installation',
    killers: [lists],
  },
  {
    file: effective,
    from: 'return { value: slots.find(({ peer }) => peer?.current)?.peer?.inputs.image ?? spec.image, refusal };',
    to: 'return { value: spec.image, refusal };',
    without: 'members of a cluster that runs get an image that is not listed',
    killers: [clusters],
  },
  {
    file: effective,
    from: 'if (other) return { value: before, refusal: other };',
    to: 'if (other) return { value: podTemplate, refusal: other };',
    without: 'members of a cluster that runs get a container whose image is not listed',
    killers: [clusters],
  },
  {
    file: allowed,
    from: "['containers', 'initContainers'].flatMap",
    to: "['containers'].flatMap",
    without: 'an init container has an image that is not listed',
    killers: [clusters],
  },
  {
    file: allowed,
    from: '[...ofContainers, ...ofVolumes].flatMap',
    to: '[...ofContainers].flatMap',
    without: 'a volume is an image that is not listed',
    killers: [clusters],
  },
  {
    file: 'reconcile/cluster/decide/rules/birth/support-members.ts',
    from: 'sealed && !effective.keepsService && isToBeMade(shared.externalService)',
    to: 'sealed && isToBeMade(shared.externalService)',
    without: 'a cluster that runs opens a load balancer that is not listed',
    killers: [clusters],
  },
  {
    file: 'manifests/egress/host-refusal.ts',
    from: "if (ofHost !== undefined || stores[location.scheme].reach === 'claim') return ofHost;",
    to: 'return ofHost;',
    without: 'a Job writes into a bucket that is not listed',
    killers: [backups],
  },
  {
    file: 'reconcile/backup/orders.ts',
    from: "if (problem !== undefined) return failed(situation, 'ImageRefused'",
    to: "if (problem === '') return failed(situation, 'ImageRefused'",
    without: 'a drill runs an image that is not listed',
    killers: [backups],
  },
];
