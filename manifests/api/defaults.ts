import { type EtcdCluster, etcdClusterSpecSchema } from './etcd-cluster.ts';
import { type Structural, structural } from './schema.ts';

/**
 * The defaults that the API server writes into an EtcdCluster. All others hold where the field is read: see
 * docs/explanation/api-conventions.md.
 * @param cluster one that `validateDocument` passed
 */
export function withDefaults(cluster: EtcdCluster): EtcdCluster {
  return { ...cluster, spec: fill(structural(etcdClusterSpecSchema), cluster.spec) as EtcdCluster['spec'] };
}

/** As the API server does it: an absent (or null) field gets its default, then that default's own fields get theirs. */
function fill(schema: Structural, value: unknown): unknown {
  if (!schema.properties || typeof value !== 'object' || value === null || Array.isArray(value)) return value;

  const filled: Record<string, unknown> = { ...value };
  for (const [key, property] of Object.entries(schema.properties)) {
    const given = filled[key] ?? (property.keepsDefault ? property.default : undefined);
    if (given === undefined || given === null) delete filled[key];
    else filled[key] = fill(property, given);
  }
  return filled;
}
