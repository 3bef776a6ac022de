import assert from 'node:assert/strict';
import { typedIn } from '../../../support/docs/typed-by.ts';
import { isWholeOf } from '../conditions.ts';
import { lookNow } from '../look-now.ts';
import { until } from '../until.ts';
import { born, loseVolumes, push, type Story, says, within } from './story.ts';
import { asOf, line, type } from './typing.ts';

/** Of docs/runbooks/member-does-not-run.md and member-list.md. */

const blocksAt = typedIn('e2e/support/runbooks/members.ts');

const unknownFlag = { etcd: { extraArgs: { 'no-such-flag': 'true' } } };

const failing = { name: 'beside', image: 'busybox', command: ['sh', '-c', 'exit 3'] };

const healing = { podGracePeriod: '5s', memberGracePeriod: '25s' };

export const ofMembers: readonly Story[] = [
  {
    title: 'a quota refuses the pod',
    page: 'member-does-not-run.md',
    sections: ['there-is-no-room-for-its-pod'],
    reason: 'PodRefused',
    name: 'refused',
    async happen(scene, name) {
      await within(scene, 'create', 'quota', 'small', '--hard=pods=0');
      await until(
        'the quota counts',
        async () => (await within(scene, 'get', 'quota', 'small', '-o', 'jsonpath={.status.hard.pods}')) === '0',
      );
      await push(scene, name);
      return { MEMBER: `${name}-0` };
    },
    async correct(scene) {
      await within(scene, 'patch', 'quota', 'small', '-p', '{"spec":{"hard":{"pods":"100"}}}');
    },
  },
  {
    title: 'there is no image of that version',
    page: 'member-does-not-run.md',
    looks: ['look-at-it-first', 'its-image-or-its-container-does-not-start'],
    sections: ['it-is-over'],
    reason: 'ImageUnavailable',
    name: 'image',
    async happen(scene, name) {
      await push(scene, name, { version: '3.6.99' });
      return { MEMBER: `${name}-0` };
    },
    correct: (scene, name) => push(scene, name),
  },
  {
    title: 'etcd does not know a flag of the spec',
    page: 'member-does-not-run.md',
    looks: ['look-at-it-first', 'etcd-exits-again-and-again'],
    sections: ['it-is-over'],
    reason: 'MemberKeepsExiting',
    name: 'flag',
    earlier: [
      {
        reason: 'OtherContainerFails',
        happen: (scene, name) => push(scene, name, { podTemplate: { spec: { containers: [failing] } } }),
      },
    ],
    async happen(scene, name) {
      await push(scene, name, unknownFlag);
      return { MEMBER: `${name}-0` };
    },
    correct: (scene, name) => push(scene, name),
  },
  {
    title: 'the disk of one member is given up',
    page: 'member-does-not-run.md',
    sections: ['look-at-it-first', 'its-volume-is-not-there', 'it-is-over'],
    reason: 'Converged',
    name: 'disk',
    seen: says('Converged'),
    async happen(scene, name) {
      await born(scene, name, { replicas: 3, healing });
      return { MEMBER: `${name}-1` };
    },
    over: (cluster) =>
      says('Converged')(cluster) && cluster.status?.members?.every(({ name }) => name !== 'disk-1') === true,
  },
  {
    title: 'a member is lost, and its spec asks a person first',
    page: 'member-does-not-run.md',
    sections: ['look-at-it-first', 'a-person-decides-whether-it-is-replaced', 'it-is-over'],
    reason: 'HealingHeld',
    name: 'byhand',
    async happen(scene, name) {
      await born(scene, name, { replicas: 3, healing: { ...healing, mode: 'Manual' } });
      await loseVolumes(scene, `${name}-1`);
      return { MEMBER: `${name}-1` };
    },
    over: isWholeOf(3),
    async check(scene, name) {
      const names = (await scene.cluster(name)).status?.members?.map((member) => member.name);
      // Its number may be a higher one: a learner that does not come up in time is tried once more.
      assert.match(names?.toSorted().join(' ') ?? '', new RegExp(`^${name}-0 ${name}-2 ${name}-[3-9]$`));
    },
    afterwards: [
      {
        reason: 'HealingHeld',
        happen: (scene, name) => loseVolumes(scene, `${name}-2`),
        // Its reader is asked on a terminal, and answers.
        correct: (scene, name) =>
          type(
            scene,
            name,
            {},
            asOf(
              { payments: scene.namespace, 'approve orders': `approve ${name} --yes`, orders: name },
              blocksAt('docs/how-to/scale-and-heal.md#let-a-person-decide'),
            ),
          ),
      },
    ],
  },
  {
    // The machine itself can't be off here: the taint is set on a Node that stands for it.
    title: 'a pod does not end, and its cluster is to hibernate',
    page: 'member-does-not-run.md',
    sections: ['a-pod-or-an-object-does-not-go-away'],
    reason: 'PodStays',
    name: 'stays',
    async happen(scene, name) {
      await born(scene, name, { healing });
      await within(scene, 'patch', 'pod', `${name}-0-0`, '-p', '{"metadata":{"finalizers":["example.com/dead-node"]}}');
      await push(scene, name, { replicas: 0, healing });
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: `off-${scene.namespace}` } };
      await scene.kubectl(['create', '-f', '-'], { stdin: JSON.stringify(node) });
      return { MEMBER: `${name}-0`, NODE: node.metadata.name };
    },
    async correct(scene, name) {
      await within(scene, 'patch', 'pod', `${name}-0-0`, '-p', '{"metadata":{"finalizers":null}}');
    },
    over: says('Hibernating'),
  },
  {
    title: 'a tool has added a member that never starts',
    page: 'member-list.md',
    sections: ['a-member-that-etcd-ratchet-did-not-add'],
    reason: 'UnknownMember',
    name: 'stranger',
    async happen(scene, name) {
      await born(scene, name);
      const add = 'member add stranger --learner --peer-urls=https://10.244.255.250:2380';
      await type(scene, name, {}, [line(`etcdctl ${name} ${add}`)]);
      await lookNow(scene, name);
      return undefined;
    },
  },
  {
    title: 'the disruption budget of a single member refuses a drain',
    page: 'member-list.md',
    sections: ['a-drain-is-refused'],
    reason: 'QuorumNeedsEveryMember',
    name: 'single',
    seen: says('QuorumNeedsEveryMember', 'Drainable'),
    async happen(scene, name) {
      await born(scene, name, { disruption: { whenQuorumIsLost: 'Refuse' } });
      return undefined;
    },
    correct: (scene, name) => push(scene, name, { disruption: { whenQuorumIsLost: 'Allow' } }),
    over: says('QuorumLossAllowed', 'Drainable'),
  },
];
