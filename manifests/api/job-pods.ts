import Type, { type Static } from 'typebox';
import { isOurs, isOursInCel } from '../render/pod-template-limits.ts';
import { appArmorAnnotation } from '../render/privileges.ts';
import { objectName } from './common-rules.ts';
import { rule } from './rule.ts';
import { list, map, object, preserved, type ReadonlyDeep, stringMap, text } from './schema.ts';

/** What the pods of a backup's Jobs are given beside what they are made of: where they run, what platforms ask. */

const notOurs = rule<Readonly<Record<string, string>>>({
  message:
    'must not set labels of etcd.ratchet.dev, nor app.kubernetes.io/name, instance or managed-by: pods are found by them',
  cel: `!self.exists(key, ${isOursInCel})`,
  holds: (labels) => !Object.keys(labels).some(isOurs),
});

const confined = rule<Readonly<Record<string, string>>>({
  message: `must not set ${appArmorAnnotation}…: pods of backups are confined as the runtime does it`,
  cel: `!self.exists(key, key.startsWith('${appArmorAnnotation}'))`,
  holds: (annotations) => !Object.keys(annotations).some((key) => key.startsWith(appArmorAnnotation)),
});

/** Cordons and what befalls a node hold for backups: a pod of one there is waited for. */
const ofNodes = 'node.kubernetes.io/';

const tolerationSchema = object({
  key: text(317, {
    minLength: 1,
    description: 'The taint’s key.',
    rules: [
      rule<string>({
        message: `must not begin with ${ofNodes}: a backup keeps off nodes that are cordoned, or not well`,
        cel: `!self.startsWith('${ofNodes}')`,
        holds: (key) => !key.startsWith(ofNodes),
      }),
    ],
  }),
  operator: Type.Optional(Type.Enum(['Exists', 'Equal'], { description: 'Absent: Equal.' })),
  value: Type.Optional(text(63, { description: 'Of operator Equal: the taint’s value.' })),
  effect: Type.Optional(
    Type.Enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], { description: 'Absent: every effect.' }),
  ),
});

export const jobPodsSchema = object(
  {
    metadata: Type.Optional(
      object(
        {
          labels: Type.Optional(map<string>(text(63), 64, { description: 'Added to our own.', rules: [notOurs] })),
          annotations: Type.Optional(stringMap({ description: 'Added to our own.', rules: [confined] })),
        },
        { description: 'Labels and annotations of the pods.' },
      ),
    ),
    spec: Type.Optional(
      object(
        {
          nodeSelector: Type.Optional(stringMap({ description: "In place of the members'." })),
          tolerations: Type.Optional(list(tolerationSchema, 32, { description: "Beside the members'." })),
          affinity: Type.Optional(
            object(
              { nodeAffinity: preserved({ description: "As a pod's." }) },
              {
                description:
                  'Absent: the node affinity of the members. To pods there is none: it would bind those, too.',
              },
            ),
          ),
          runtimeClassName: Type.Optional(text(253, { rules: [objectName], description: "In place of the members'." })),
          schedulerName: Type.Optional(text(253, { rules: [objectName], description: "In place of the members'." })),
        },
        { description: 'Fields of a pod, as Kubernetes has them.' },
      ),
    ),
    users: Type.Optional(
      Type.Enum(['Ours', 'OfPlatform'], {
        description:
          "Ours: the pods name the user and group of our image. OfPlatform: they name none, where the platform assigns them (OpenShift). Absent: as the members' podTemplate has it.",
      }),
    ),
  },
  {
    description:
      "The pods of its Jobs. Where they run is as the EtcdCluster's podTemplate has it for members, where it is not said here; they are pulled with the members' secrets. Meshes are told to inject nothing: a Job with a sidecar may never end.",
  },
);

export type JobPods = ReadonlyDeep<Static<typeof jobPodsSchema>>;
