import { curedBy } from '../../reconcile/reasons/cure.ts';
import type { ShownCluster } from './check-report.ts';
import { type Html, markup } from './markup.ts';
import { nothingSaid, type Said } from './said.ts';
import type { Tone } from './state.ts';
import { wayOn } from './told.ts';

/** A plan as it was made just now, or as a report keeps it. */
export type Planned = NonNullable<ShownCluster['planned']>;

export type PlanView =
  | { readonly kind: 'planned'; readonly planned: Planned }
  /** It could not be made here: why, and what makes it. */
  | { readonly kind: 'none'; readonly message: string; readonly command?: string };

/** Enough for every plan that is readable; `tick --plan` prints the longest. */
const mostSteps = 100;

const ends = {
  done: { tone: 'good', says: 'Then' },
  refused: { tone: 'bad', says: 'Then a person is needed' },
  waits: { tone: 'busy', says: 'Then it waits, for an unknown time' },
  circles: { tone: 'bad', says: 'Then it would repeat the same steps; please report it' },
  'goes-on': { tone: 'busy', says: 'And it goes on' },
} as const satisfies Record<Planned['end']['kind'], { tone: Tone; says: string }>;

/** Every step to where it ends, in words. `said`: what stands above already. */
export function planSteps({ risk, rights = [], steps, end }: Planned, said: Said = nothingSaid): Html {
  const more = steps.length - mostSteps;
  return markup`${risk !== undefined && markup`<p class="quiet"><bdi>${risk}</bdi></p>`}${rightsList(rights)}${
    steps.length > 0 &&
    markup`<ol class="steps">${steps
      .slice(0, mostSteps)
      .map(
        ({ action, target, reason, message }) =>
          markup`<li><div><bdi>${message}</bdi><div class="quiet small">${action}${target && markup` <bdi>${clipped(target)}</bdi>`} · ${reason}</div></div></li>`,
      )}</ol>`
  }${more > 0 && markup`<p class="quiet">and ${more} more steps</p>`}${planEnd(end, steps.length, said)}`;
}

/** Of users of etcd: who may do more, and who less. */
function rightsList(rights: NonNullable<Planned['rights']>): Html | false {
  return (
    rights.length > 0 &&
    markup`<ul class="small">${rights.map(
      ({ who, gains, loses }) =>
        markup`<li><bdi>${who}</bdi>${gains !== undefined && markup` gains <bdi>${gains}</bdi>`}${
          gains !== undefined && loses !== undefined && markup` and`
        }${loses !== undefined && markup` loses <bdi>${loses}</bdi>`}</li>`,
    )}</ul>`
  );
}

function planEnd(end: Planned['end'], steps: number, said: Said): Html {
  const { tone, says } = ends[end.kind];
  const lead = steps === 0 && end.kind === 'done' ? 'Nothing to do' : says;
  const { reason, message, cure } = end;
  const whole = cure === undefined ? message : curedBy(message, cure);
  const isSaid = said.has(whole);
  const words = isSaid ? markup`as above` : markup`<bdi>${message}</bdi>`;
  return markup`<div class="end ${tone}">${lead}: <strong>${reason}</strong>, ${words}${!isSaid && cure !== undefined && wayOn(cure)}</div>`;
}

const longestTarget = 60;

function clipped(target: string): string {
  return target.length <= longestTarget ? target : `${target.slice(0, longestTarget)}…`;
}
