import Type, { type Static } from 'typebox';
import { backupNameSchema, snapshotSourceSchema } from './backup-settings.ts';
import { etcdClusterSpecSchema } from './etcd-cluster.ts';
import { type CustomResource, conditionsSchema } from './metadata.ts';
import { type Rule, rule, transitionRule } from './rule.ts';
import { object, type ReadonlyDeep, text, time } from './schema.ts';
import { etcdId, observedGeneration } from './status-fields.ts';

interface Spec {
  readonly from?: unknown;
  readonly backupName?: string;
  readonly cluster: { readonly spec: { readonly bootstrap?: unknown; readonly rollback?: unknown } };
}

const oneSource = rule<Spec>({
  message: 'name what is restored: either backupName or from, not both',
  cel: 'has(self.backupName) != has(self.from)',
  holds: ({ backupName, from }) => (backupName === undefined) !== (from === undefined),
});

const noBootstrap = rule<Spec>({
  message: 'cluster.spec.bootstrap is filled in from backupName or from: leave it out',
  cel: '!has(self.cluster.spec.bootstrap)',
  holds: ({ cluster }) => cluster.spec.bootstrap === undefined,
  fieldPath: '.cluster.spec.bootstrap',
});

const noRollback = rule<Spec>({
  message: 'cluster.spec.rollback is for a cluster that exists: leave it out',
  cel: '!has(self.cluster.spec.rollback)',
  holds: ({ cluster }) => cluster.spec.rollback === undefined,
  fieldPath: '.cluster.spec.rollback',
});

export const etcdRestoreSpecSchema = object(
  {
    from: Type.Optional(snapshotSourceSchema),
    backupName: Type.Optional(backupNameSchema),
    cluster: object(
      {
        name: text(48, { minLength: 1, description: 'Of the new EtcdCluster. None of that name may exist.' }),
        spec: object(etcdClusterSpecSchema.properties, {
          ...etcdClusterSpecSchema,
          description: 'Its spec, without bootstrap and rollback.',
        }),
      },
      { description: 'The EtcdCluster that is made, in the same namespace. It is not deleted with this.' },
    ),
  },
  { rules: [oneSource, noBootstrap, noRollback] },
);

export const etcdRestoreStatusSchema = object({
  observedGeneration,
  object: Type.Optional(text(1100, { description: 'The snapshot that the cluster was made from.' })),
  clusterUID: Type.Optional(text(64, { description: 'Of the EtcdCluster that was made. No other is ever made.' })),
  clusterID: Type.Optional(etcdId),
  startedAt: Type.Optional(time({ description: 'When its EtcdCluster was made.' })),
  finishedAt: Type.Optional(time({ description: 'When nothing more was to be done, however it ended.' })),
  conditions: Type.Optional(conditionsSchema),
});

export const etcdRestoreRules: readonly Rule[] = [
  transitionRule({
    message: 'spec never changes: a restore is done once; create another one',
    cel: 'self.spec == oldSelf.spec',
    fieldPath: '.spec',
  }),
];

type EtcdRestoreSpec = ReadonlyDeep<Static<typeof etcdRestoreSpecSchema>>;
export type EtcdRestoreStatus = ReadonlyDeep<Static<typeof etcdRestoreStatusSchema>>;

export type EtcdRestore = CustomResource<'EtcdRestore', EtcdRestoreSpec, EtcdRestoreStatus>;
