import type { Mutant } from '../mutant.ts';

const lists = 'test/unit/manifests/allow-lists.test.ts';
const clusters = 'test/unit/cluster/world/not-allowed.test.ts';
const backups = 'test/unit/backup/not-allowed.test.ts';
const allowed = 'reconcile/cluster/know/spec/allowed.ts';
const images = 'test/unit/cluster/effective-image.test.ts';
const image = 'reconcile/cluster/know/spec/effective-image.ts';
const unlisted = 'reconcile/cluster/decide/unlisted-image.ts';
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
    file: image,
    from: 'if (!kept) return',
    to: 'if (kept !== null) return',
    without: 'members of a cluster that runs get an image that is not listed',
    killers: [clusters],
  },
  {
    file: image,
    from: 'return { value: image, plan: { ...held, value: version }, refusal };',
    to: 'return { value: image, plan, refusal };',
    without: 'a refused digest runs the lower version under the name of the higher one',
    killers: [images, clusters],
  },
  {
    file: image,
    from: 'same.find(({ inputs }) => inputs.version === wanted) ?? highest',
    to: 'peers[0]',
    without: 'a roll that has begun is taken back to another minor by a list that was shortened (I6)',
    killers: [images, clusters],
  },
  {
    file: image,
    from: '(same.length > 0 ? same : peers)',
    to: 'peers',
    without: 'a patch is held at another minor than that of the data',
    killers: [images],
  },
  {
    file: image,
    from: 'return opens ? kept : undefined;',
    to: 'return kept;',
    without: 'data of the higher minor are started on the digest of the lower one (I6)',
    killers: [images],
  },
  {
    file: 'reconcile/cluster/decide/decide.ts',
    from: 'withoutUnlistedImage(rule(situation), situation)',
    to: 'rule(situation)',
    without: 'a cluster that is deleted and applied again starts an image that is not listed on its data',
    killers: [clusters],
  },
  {
    file: unlisted,
    from: 'decision.action.inputs.image?.repository !== inputs.image?.repository',
    to: 'decision.action.inputs.image === undefined',
    without: 'a birth that was begun with an image that is listed ends half recorded',
    killers: [images],
  },
  {
    file: unlisted,
    from: 'if (decision.action.inputs.image?.repository !== inputs.image?.repository) return decision;',
    to: 'return decision;',
    without: 'a birth whose peers are lost is finished with an image that is not listed',
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
