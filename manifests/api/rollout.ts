import Type from 'typebox';
import { durationBetween, objectName } from './common-rules.ts';
import { longestDurationText } from './duration.ts';
import { labelsToSelect } from './network-policy.ts';
import { rule } from './rule.ts';
import { list, object, text } from './schema.ts';

const selectsSome = rule<Readonly<Record<string, string>>>({
  message: 'must name at least one label: the clusters that no stage selects come after all stages',
  cel: 'size(self) > 0',
  holds: (labels) => Object.keys(labels).length > 0,
});

const namesAreTold = rule<readonly { readonly name: string }[]>({
  message: 'must have at least one stage, each with another name; without spec.rollout there are none',
  cel: 'size(self) > 0 && self.all(one, self.exists_one(other, other.name == one.name))',
  holds: (stages) => stages.length > 0 && new Set(stages.map(({ name }) => name)).size === stages.length,
});

/** Of an EtcdFleet: the order in which its clusters take what a commit changes. */
export const rolloutSchema = object(
  {
    stages: list(
      object({
        name: text(30, { description: 'What messages call it.', rules: [objectName] }),
        matchLabels: labelsToSelect(
          'Labels that a cluster of this stage has. It belongs to the first stage that selects it.',
          [selectsSome],
          2,
        ),
        soak: Type.Optional(
          text(longestDurationText, {
            description:
              'For how long all of its clusters must have been well since their last restart, before the next stage begins.',
            rules: [durationBetween('1m', '2160h')],
          }),
        ),
      }),
      6,
      { description: 'In order. Clusters that none of them selects come last.', rules: [namesAreTold] },
    ),
  },
  {
    description:
      'Another version, configuration or pod template begins in a cluster only when every cluster of the stages before has it and is well. Sizes, births and healing wait for no stage.',
  },
);
