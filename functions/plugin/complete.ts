import type { Command, Option } from 'commander';
import { abortAfter } from '../../manifests/abort-after.ts';
import { printable } from '../../manifests/printable.ts';
import { approvals, group } from '../../manifests/render/names.ts';
import { type KubeObject, type Resource, resources } from '../../reconcile/interfaces/kube.ts';
import type { Common, Opened } from './command.ts';
import { resourceCalled, wordsOfKinds } from './subject.ts';
import type { Terminal } from './terminal.ts';

/** What kubectl calls at Tab: the words so far, and last the one to complete. It answers by kubectl-ratchet itself. */
export const completionScript = '#!/bin/sh\nexec kubectl ratchet __complete "$@"\n';

/** What a shell does with the candidates, in the numbers of cobra, whose protocol kubectl speaks. */
const directives = { failed: 1, noFiles: 4, files: 0 } as const;

/** Milliseconds for the API server: a person waits for it at each Tab. */
const patience = 2_000;
const mostNames = 500;

interface Candidate {
  readonly word: string;
  readonly about?: string;
}

interface Typed {
  readonly command: Command | undefined;
  readonly common: Partial<Common>;
  /** Arguments before the word that is completed. */
  readonly count: number;
  /** The option whose value is completed. */
  readonly pending: Option | undefined;
  readonly fleet: boolean;
}

/** Prints what may stand in place of the last word, and never fails: then there is nothing to choose from. */
export async function complete(
  words: readonly string[],
  program: Command,
  { out, stop }: Pick<Terminal, 'out' | 'stop'>,
  open: (common: Common) => Promise<Opened>,
): Promise<void> {
  const last = words.at(-1) ?? '';
  const typed = read(words.slice(0, -1), program);
  if (typed.pending && ['file', 'kubeconfig'].includes(typed.pending.attributeName())) {
    out(`:${directives.files}\n`);
    return;
  }
  const names = namesIn(typed, open, abortAfter(patience, stop));
  const found = await candidates(typed, last, program, names).catch(() => undefined);
  for (const { word, about } of found ?? [])
    if (word.startsWith(last)) out(`${printable(word)}${about === undefined ? '' : `\t${printable(about)}`}\n`);
  out(`:${found ? directives.noFiles : directives.failed}\n`);
}

function read(words: readonly string[], program: Command): Typed {
  const common: Record<string, string> = {};
  let command: Command | undefined;
  let pending: Option | undefined;
  let count = 0;
  for (const word of words) {
    if (pending) {
      common[pending.attributeName()] = word;
      pending = undefined;
    } else if (word.startsWith('-')) {
      const [flag = '', value] = word.split('=', 2);
      const option = optionsOf(program, command).find(({ long, short }) => flag === long || flag === short);
      if (option?.required && value === undefined) pending = option;
      else if (option) common[option.attributeName()] = value ?? '';
    } else if (command) count += 1;
    else command = program.commands.find((one) => one.name() === word);
  }
  return { command, common, count, pending, fleet: 'fleet' in common };
}

function optionsOf(program: Command, command: Command | undefined): readonly Option[] {
  return [...(command?.options ?? []), ...program.options];
}

type Names = (resource: Resource) => Promise<readonly Candidate[]>;

async function candidates(
  { command, count, pending, fleet }: Typed,
  last: string,
  program: Command,
  names: Names,
): Promise<readonly Candidate[]> {
  if (pending) return valuesOf(pending, names);
  if (last.startsWith('-'))
    return optionsOf(program, command).flatMap(({ long, description }) =>
      long ? [{ word: long, about: description }] : [],
    );
  if (!command) return program.commands.map((one) => ({ word: one.name(), about: one.description() }));
  const argument = command.registeredArguments[count]?.name();
  if (argument === 'object') return objects(last, names);
  if (argument === 'fleet') return names(resources.fleets);
  if (argument === 'cluster') return names(fleet ? resources.fleets : resources.clusters);
  return argument === 'backup' ? names(resources.backups) : [];
}

/** A cluster's name, or a kind and a slash, and behind it a name of that kind. */
async function objects(last: string, names: Names): Promise<readonly Candidate[]> {
  const [kind, ...more] = last.split('/');
  if (kind === undefined || more.length === 0)
    return [...(await names(resources.clusters)), ...wordsOfKinds().map((word) => ({ word: `${word}/` }))];
  const resource = resourceCalled(kind);
  return (resource ? await names(resource) : []).map(({ word }) => ({ word: `${kind}/${word}` }));
}

async function valuesOf(option: Option, names: Names): Promise<readonly Candidate[]> {
  if (option.argChoices) return option.argChoices.map((word) => ({ word }));
  switch (option.attributeName()) {
    case 'namespace':
      return names(resources.namespaces);
    case 'fleet':
      return names(resources.fleets);
    case 'schedule':
      return names(resources.schedules);
    case 'for':
      return approvals.map((annotation) => ({ word: annotation.slice(group.length + 1) }));
    default:
      return [];
  }
}

function namesIn({ common }: Typed, open: (common: Common) => Promise<Opened>, signal: AbortSignal): Names {
  return async (resource) => {
    const { kube, namespace: own } = await open({ ...common, output: 'text' });
    try {
      const namespace = resource.clusterScoped ? undefined : (common.namespace ?? own ?? 'default');
      const { items } = await kube.list<KubeObject>(resource, { namespace, limit: mostNames, signal });
      return items.map(({ metadata }) => ({ word: metadata.name }));
    } finally {
      kube.close();
    }
  };
}
