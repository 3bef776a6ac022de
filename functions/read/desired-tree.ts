import type { Tree } from '../../gitops/git/tree.ts';
import { type ParsedBefore, readDocuments } from '../../gitops/specs/documents.ts';
import { findSpecs } from '../../gitops/specs/specs.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { validateDocument, warningsFor } from '../../manifests/api/validate.ts';
import type { FleetObject } from '../../reconcile/fleet/objects.ts';
import type { DesiredTree } from '../../reconcile/fleet/reading.ts';

export interface Reading {
  readonly signal: AbortSignal;
  /** What was parsed of another commit. */
  readonly before?: ParsedBefore;
  /** Told of each file before it is parsed. */
  readonly onFile?: (file: string) => void;
}

/** What a commit's files ask of a fleet. @throws {GitError} */
export async function desiredTree(
  tree: Tree,
  fleet: Pick<EtcdFleet, 'metadata' | 'spec'>,
  { signal, before, onFile }: Reading,
): Promise<DesiredTree> {
  const documents = await readDocuments(tree, fleet.spec.git.path ?? fleetDefaults.path, {}, signal, before, onFile);
  const { namespace } = fleet.metadata;
  const found = await findSpecs(documents, {
    validate: validateDocument,
    ...(namespace && { defaultNamespace: namespace }),
  });
  // `findSpecs` saw to it that these are objects with a name.
  const specs = found.specs as unknown as DesiredTree['specs'];
  return {
    specs,
    problems: found.problems,
    files: documents.names,
    complete: found.complete,
    notes: documents.notes,
    warnings: specs.flatMap(({ object, locate: _, ...where }) =>
      warningsFor(object as unknown as FleetObject).map(({ message }) => ({ ...where, message })),
    ),
  };
}
