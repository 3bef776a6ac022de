import { checkMetadata } from './document-metadata.ts';
import { apiVersion, group, type Kind, kinds } from './group.ts';
import { definitions } from './kinds.ts';
import type { PodTemplate } from './member-settings.ts';
import { isPlainObject, notPlainData } from './plain-data.ts';
import { findRefusedInPods } from './pod-template.ts';
import { collectProblems, type DocumentProblem, dotted, type Path, type Problems, shown } from './problem.ts';
import { didYouMean } from './suggest.ts';
import { applyRules, walk } from './walk.ts';

export type { DocumentProblem } from './problem.ts';

/**
 * Problems of one document of our group, without an API server: schema, rules across fields, and contents that Git may
 * not have. None: as far as the document tells, the API server would take it. Takes any value, never throws, says at
 * most 20 things; a path may lead to a field that is absent.
 */
export function validateDocument(object: unknown): DocumentProblem[] {
  const problems = collectProblems();
  const strange = notPlainData(object);
  if (strange !== undefined) problems.add([], `the document ${strange}`);
  else if (!isPlainObject(object))
    problems.add([], `the document must be an object with apiVersion, kind, metadata and spec, is ${shown(object)}`);
  else validateObject(object, problems);
  return problems.found;
}

function validateObject(object: Record<string, unknown>, problems: Problems): void {
  const kind = kindOf(object, problems);
  if (kind === undefined) return;
  const { spec, rules, clusterScoped = false } = definitions[kind];

  for (const key of Object.keys(object)) {
    if (!topLevel.includes(key)) problems.add([key], `${key} is not a known field${didYouMean(key, topLevel)}`);
  }
  checkMetadata(object.metadata, problems, { clusterScoped });
  if (object.spec === undefined || object.spec === null) problems.add(['spec'], 'spec is required');
  else walk(spec, object.spec, ['spec'], problems);

  if (problems.found.length === 0) applyRules(rules, object, [], problems);
  checkTemplates(object.spec, problems);
}

const topLevel = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

function kindOf(object: Record<string, unknown>, problems: Problems): Kind | undefined {
  const given = object.apiVersion;
  if (given !== apiVersion) {
    const served = typeof given === 'string' && given.startsWith(`${group}/`) ? ', which is not served' : '';
    problems.add(['apiVersion'], `apiVersion must be ${apiVersion}, is ${orAbsent(given)}${served}`);
    return undefined;
  }
  const kind = kinds.find((known) => known === object.kind);
  if (kind === undefined) {
    const hint = typeof object.kind === 'string' ? didYouMean(object.kind, kinds) : '';
    problems.add(['kind'], `kind must be one of ${kinds.join(', ')}, is ${orAbsent(object.kind)}${hint}`);
  }
  return kind;
}

function orAbsent(value: unknown): string {
  return value === undefined ? 'absent' : shown(value);
}

/** What the schema preserves without looking inside. */
function checkTemplates(spec: unknown, problems: Problems): void {
  if (!isPlainObject(spec)) return;
  const template = spec.podTemplate;
  if (isPlainObject(template) && !problems.found.some(({ path }) => path[1] === 'podTemplate')) {
    findRefusedInPods(template as PodTemplate, ['spec', 'podTemplate'], problems);
  }
  const storage = spec.storage;
  if (isPlainObject(storage)) {
    findBadClaim(storage.volumeClaimTemplate, ['spec', 'storage', 'volumeClaimTemplate'], problems);
  }
}

export { warningsFor } from './warnings.ts';

const ownedInClaims: Readonly<Record<string, string>> = {
  resources: 'the size is spec.storage.size',
  storageClassName: 'use spec.storage.storageClassName',
  volumeName: 'one volume cannot serve every member; use a selector',
  dataSource: 'a member starts on an empty volume or on its own',
  dataSourceRef: 'a member starts on an empty volume or on its own',
};

/** What a volumeClaimTemplate may not have, because it has a field of its own or because etcd could not live on it. */
function findBadClaim(template: unknown, path: Path, problems: Problems): void {
  if (!isPlainObject(template) || !isPlainObject(template.spec)) return;
  const spec = template.spec;

  for (const [key, cure] of Object.entries(ownedInClaims)) {
    const at = [...path, 'spec', key];
    if (Object.hasOwn(spec, key) && spec[key] !== null) problems.add(at, `${dotted(at)} may not be set: ${cure}`);
  }
  if (spec.volumeMode === 'Block') {
    const at = [...path, 'spec', 'volumeMode'];
    problems.add(at, `${dotted(at)} must be Filesystem: etcd keeps files`);
  }
  const modes = spec.accessModes;
  if (Array.isArray(modes) && modes.every((mode) => mode === 'ReadOnlyMany')) {
    const at = [...path, 'spec', 'accessModes'];
    problems.add(at, `${dotted(at)} must allow writing: ReadWriteOnce or ReadWriteOncePod`);
  }
}
