import type { Written } from '../../../reconcile/cluster/act/requests/request.ts';
import type { Action } from '../../../reconcile/cluster/know/action.ts';

/** One thing that happens. */
export interface Event {
  readonly who: 'tick' | 'late' | 'world' | 'fault' | 'git' | 'person' | 'time';
  /** A sentence, or what is to follow who it is; `#` stands for the member's name. */
  readonly what: string;
  readonly name?: string;
  /** The action that is carried out. */
  readonly action?: Action;
  readonly write?: Pick<Written, 'fence' | 'object' | 'membership'>;
  /** It was not refused, though it should have been: only a bug lets it through. */
  readonly stale?: true;
  /** A lease, and with it the beginning of an action. */
  readonly begins?: true;
}

/** For a story: a line. */
export function describeEvent({ who, what, name }: Event): string {
  const sentence = what.replaceAll('#', name ?? '');
  switch (who) {
    case 'tick':
      return `tick: ${sentence}`;
    case 'late':
      return `late: ${sentence}`;
    case 'world':
      return name === undefined || what.includes('#') ? sentence : `${name}: ${sentence}`;
    case 'fault':
      return `FAULT: ${sentence}`;
    case 'git':
      return `git: ${sentence}`;
    case 'person':
      return `person: ${sentence}`;
    case 'time':
      return sentence;
  }
}
