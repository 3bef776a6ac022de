import { fleetKinds, isClusterScoped, isFleetKind } from '../../manifests/api/fleet-kinds.ts';
import type { Kind } from '../../manifests/api/group.ts';
import { isRecord } from '../../manifests/json.ts';
import { type Turns, takeTurns } from '../turns.ts';
import type { Documents } from './documents.ts';
import type { FoundDocument, Locate } from './found.ts';
import { fewProblems, ownerOf, type Problem } from './problem.ts';
import { recognise } from './recognise.ts';
import type { Reread } from './rereads.ts';

/** A desired resource, as it stands in Git: valid, with its namespace, defaults not filled in. */
interface SpecDocument {
  readonly object: Readonly<Record<string, unknown>>;
  readonly kind: Kind;
  /** Empty of a kind that belongs to none. */
  readonly namespace: string;
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Where its fields stand. */
  readonly locate: Locate;
  /** Values that were read otherwise before, with their places; absent: none. */
  readonly rereads?: readonly PlacedReread[];
}

interface PlacedReread extends Reread {
  readonly line: number;
  readonly column: number;
}

/** What the schema says against an object; `path` leads to the field, or to where it is missing. */
type Validate = (
  object: unknown,
) => readonly { readonly path: readonly (string | number)[]; readonly message: string }[];

export interface Specs {
  /** By namespace and name. */
  readonly specs: readonly SpecDocument[];
  /** By place, the first few of each file. One with a name belongs to that object, which is still listed in Git. */
  readonly problems: readonly Problem[];
  /** Whether the object of every document that could be ours is known. Unless it is, nothing may be pruned (I8). */
  readonly complete: boolean;
}

export interface SpecOptions {
  readonly validate: Validate;
  /** Namespace of documents that name none; without it they must. */
  readonly defaultNamespace?: string;
}

/** Finds the specs among the documents: recognised, named, valid and unique. One bad document never spoils another. */
export async function findSpecs(
  read: Pick<Documents, 'documents' | 'problems' | 'readWhole'>,
  options: SpecOptions,
  turns: Turns = takeTurns(),
): Promise<Specs> {
  const candidates: Candidate[] = [];
  const problems: Problem[] = [...read.problems];
  let complete = read.readWhole;

  for (const document of read.documents) {
    const pause = turns.next();
    if (pause) await pause;
    const outcome = examine(document, options);
    if (outcome.kind === 'foreign') continue;
    if (outcome.kind === 'nameless') {
      problems.push(...outcome.problems);
      complete = false;
    } else candidates.push(outcome);
  }

  const specs: SpecDocument[] = [];
  const byIdentity = Map.groupBy(candidates, ({ spec }) => `${spec.kind} ${spec.namespace}/${spec.name}`);
  for (const same of byIdentity.values()) {
    if (same.length > 1) {
      const places = same.slice(0, mostPlaces + 1).map(placeOf);
      for (const candidate of same) problems.push(duplicate(candidate, places, same.length - 1));
    }
    for (const candidate of same) problems.push(...candidate.problems);
    const [only] = same;
    if (only && same.length === 1 && only.problems.length === 0) specs.push(only.spec);
  }
  specs.sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name) || compare(a.kind, b.kind));
  const { told, all } = fewProblems(problems);
  // An object whose problem is left out is listed in Git all the same.
  return { specs, problems: told, complete: complete && all };
}

interface Candidate {
  readonly kind: 'candidate';
  readonly spec: SpecDocument;
  readonly problems: readonly Problem[];
}

type Outcome =
  | Candidate
  | { readonly kind: 'foreign' }
  | { readonly kind: 'nameless'; readonly problems: readonly Problem[] };

/** Under its own name, or the one it would have in the default namespace. */
function examine(document: FoundDocument, options: SpecOptions): Outcome {
  const { file, line, column, locate } = document;
  const recognition = recognise(document.object);
  if (recognition.kind === 'foreign') return { kind: 'foreign' };

  const isScoped = recognition.kind === 'ours' && !isClusterScoped(recognition.as);
  const object = isScoped ? inNamespace(document.object, options.defaultNamespace) : document.object;
  const owner = ownerOf(object);
  function problem(path: readonly (string | number)[], message: string): Problem {
    return { file, ...locate(path, saysTooMuch(message) ? 'key' : 'value'), message, ...owner };
  }

  if (recognition.kind === 'mistaken') {
    return { kind: 'nameless', problems: [problem(recognition.path, recognition.message)] };
  }
  if (!isFleetKind(recognition.as)) {
    const kinds = Object.keys(fleetKinds).join(', ');
    const instead =
      recognition.as === 'EtcdPeer'
        ? 'etcd-ratchet writes it itself'
        : `apply it with kubectl (a fleet applies ${kinds})`;
    return {
      kind: 'nameless',
      problems: [problem(['kind'], `${recognition.as} does not belong in Git: ${instead}`)],
    };
  }

  const problems = document.doubts.map((doubt) => ({ ...doubt, ...owner }));
  problems.push(...options.validate(object).map(({ path, message }) => problem(path, message)));
  if (object.status !== undefined) {
    problems.push(problem(['status'], 'status is written by etcd-ratchet, not in Git: remove it'));
  }
  if (!isScoped && owner.namespace !== undefined)
    problems.push(problem(['metadata', 'namespace'], `${recognition.as} belongs to no namespace: remove it`));
  const { namespace = isScoped ? undefined : '', name } = owner;
  if (namespace === undefined || name === undefined) {
    const [key, missing] = name === undefined ? ['name', 'metadata.name'] : ['namespace', 'metadata.namespace'];
    if (problems.length === 0) problems.push(problem(['metadata', key], `${missing} is required`));
    return { kind: 'nameless', problems };
  }
  return {
    kind: 'candidate',
    spec: { object, kind: recognition.as, namespace, name, file, line, column, locate, ...placed(document) },
    problems,
  };
}

function placed({ rereads, locate }: FoundDocument): Pick<SpecDocument, 'rereads'> {
  if (rereads.length === 0) return {};
  const placeOf = ({ isKey, path, now }: Reread) =>
    isKey ? locate([...path, String(now)], 'key') : locate(path, 'value');
  return { rereads: rereads.map((one) => ({ ...one, ...placeOf(one) })) };
}

/** Of the places that a duplicate names. */
const mostPlaces = 5;

function placeOf({ spec: { file, line, column } }: Candidate): string {
  return `${file}:${line}:${column}`;
}

/** @param places of the first few that share the name; @param others how many share it beside this one */
function duplicate(candidate: Candidate, places: readonly string[], others: number): Problem {
  const { file, line, column, kind, namespace, name } = candidate.spec;
  const own = placeOf(candidate);
  const listed = places.filter((place) => place !== own).slice(0, mostPlaces);
  const more = others > listed.length ? ` and ${others - listed.length} more places` : '';
  const message = `${kind} ${namespace === '' ? name : `${namespace}/${name}`} is also at ${listed.join(', ')}${more}: none of them is used until one is left`;
  return { file, line, column, message, kind, namespace, name };
}

function inNamespace(object: FoundDocument['object'], fallback: string | undefined): FoundDocument['object'] {
  const { metadata } = object;
  if (fallback === undefined || !isRecord(metadata)) return object;
  if (metadata.namespace !== undefined && metadata.namespace !== null) return object;
  return { ...object, metadata: { ...metadata, namespace: fallback } };
}

/** Whether the field itself is the mistake, and not its value. */
function saysTooMuch(message: string): boolean {
  return /not a known field|remove it|valid key/.test(message);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
