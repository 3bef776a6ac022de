import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { livePeer, readStatefulSet } from '../../../reconcile/cluster/act/requests/objects.ts';
import {
  readDrift,
  tryTemplate,
  writeInputs,
  writeTemplate,
} from '../../../reconcile/cluster/act/requests/templates.ts';
import type { Inputs } from '../../../reconcile/cluster/know/spec/inputs.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Contracts, type Difference, othersAct } from './contract.ts';
import type { Doing } from './doing.ts';
import { inputsOf, member } from './members.ts';
import type { Scene } from './scene.ts';

const name = 'orders-0';
const newer = { version: '3.6.17' } as const;
const writes: Doing = { does: 'writes to', object: 'peer', name };
const deletes: Doing = { does: 'deletes', object: 'peer', name };
const remakes: Doing = { does: 'makes anew', object: 'peer', name };

const revisionIsLater: Difference = {
  because: 'the controller of StatefulSets names the revision, later; and a plan keeps what it made the template from',
  not: ['answer.updateRevision', 'answer.inputs'],
};

function* tried(inputs: Inputs) {
  const { readAt } = yield* livePeer(name);
  return yield* tryTemplate({ readAt, inputs });
}

function* written(scene: Scene, more: Partial<Inputs> = newer) {
  const { readAt } = yield* livePeer(name);
  yield* othersAct();
  return yield* writeInputs({ readAt, inputs: inputsOf(scene, more) });
}

function* followed(scene: Scene, isNew = true) {
  const { readAt } = yield* livePeer(name);
  const peer = isNew ? yield* writeInputs({ readAt, inputs: inputsOf(scene, newer) }) : { readAt };
  yield* othersAct();
  return yield* writeTemplate({ readAt: peer.readAt });
}

function* compared() {
  const peer = yield* livePeer(name);
  const set = yield* readStatefulSet({ name });
  return set && (yield* readDrift({ peer: peer.readAt, set: set.readAt }));
}

/** As an image updater does it, and something that adds a flag. */
async function changedByAnother(scene: Scene): Promise<void> {
  await member(scene);
  const found = await scene.read<StatefulSet>('statefulSet', name);
  const { template } = found.spec;
  const containers = template.spec.containers.map((container) => ({
    ...container,
    image: 'example.org/etcd:v3.7.3',
    args: [...(container.args ?? []), '--unsafe-no-fsync=true'],
  }));
  const changed = { ...template, spec: { ...template.spec, containers } };
  await scene.kube.update(resources.statefulSets, {
    ...found,
    spec: { ...found.spec, replicas: 0, template: changed },
  });
}

export const templates = {
  tryTemplate: [
    { when: 'the API server takes it', asks: (_, scene) => tried(inputsOf(scene, newer)) },
    {
      when: 'the API server does not take it',
      // Not resources: in 1.33 only the pod is checked for these, when it is made.
      asks: (_, scene) =>
        tried(inputsOf(scene, { podTemplate: { metadata: { annotations: { 'no key': '' } } } as never })),
      refused: 'terminal Invalid',
      differs: { because: 'a model does not know what an API server makes of a template', model: 'well' },
    },
    {
      when: 'there is no StatefulSet',
      start: (scene) => member(scene, { upTo: 'configMap' }),
      asks: (_, scene) => tried(inputsOf(scene, newer)),
    },
  ],
  writeInputs: [
    { when: 'the peer is as it was read', asks: (_, scene) => written(scene) },
    {
      when: 'everything changes',
      asks: (_, scene) =>
        written(scene, {
          ...newer,
          image: { repository: 'example.org/etcd' },
          storage: { size: '2Gi', storageClassName: 'grows' },
          etcd: { quotaBackendBytes: '1Gi', heartbeatInterval: '200ms', electionTimeout: '2s' } as never,
          resources: { requests: { memory: '1Gi' } },
          podTemplate: { metadata: { labels: { team: 'a' } } } as never,
        }),
    },
    {
      when: 'others wrote to it',
      others: [writes],
      asks: (_, scene) => written(scene),
      refused: 'precondition Conflict',
    },
    { when: 'it was deleted', others: [deletes], asks: (_, scene) => written(scene), refused: 'precondition Conflict' },
    {
      when: 'it was made anew',
      others: [remakes],
      asks: (_, scene) => written(scene),
      refused: 'precondition Conflict',
    },
  ],
  writeTemplate: [
    { when: 'the peer asks for another one', asks: (_, scene) => followed(scene), differs: revisionIsLater },
    { when: 'it is that one already', asks: (_, scene) => followed(scene, false), differs: revisionIsLater },
    {
      when: 'there is no StatefulSet',
      start: (scene) => member(scene, { upTo: 'configMap' }),
      asks: (_, scene) => followed(scene),
    },
    {
      when: 'it is of an earlier peer',
      start: (scene) => member(scene, { upTo: 'statefulSet', owners: { statefulSet: 'earlier' } }),
      asks: (_, scene) => followed(scene),
    },
    {
      when: 'another client changed it',
      start: changedByAnother,
      asks: (_, scene) => followed(scene, false),
      differs: revisionIsLater,
    },
  ],
  readDrift: [
    { when: 'it is as its peer asks for', asks: compared },
    { when: 'another client changed it', start: changedByAnother, asks: compared },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
