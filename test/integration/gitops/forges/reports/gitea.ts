import { replyJson } from '../../../../support/git/recorder.ts';
import { head, type Sample } from '../kinds.ts';
import type { ForgeReport } from './report.ts';

const many: readonly Sample[] = Array.from({ length: 31 }, (_, index) => ({ number: 31 - index }));

export const gitea: readonly ForgeReport[] = [
  {
    does: 'cuts a page to what its owner allows, whatever was asked for',
    at: ['https://github.com/go-gitea/gitea/issues/28815', 'https://github.com/go-gitea/gitea/issues/14698'],
    plays: (kind) => (request, answer) => {
      const start = (kind.pageAsked(request) ?? 0) * 30;
      replyJson(answer, kind.page(many.slice(start, start + 30), false));
    },
    heard: { finds: many.map(({ number }) => [`${number}`, head]) },
  },
  {
    does: 'tells no labels as null',
    at: ['https://github.com/go-gitea/gitea/issues/33288'],
    plays: (kind) => (request, answer) =>
      replyJson(answer, kind.page(kind.pageAsked(request) === 0 ? [{ number: 1, labels: [] }] : [], true)),
    heard: { finds: [['1', head]] },
  },
  {
    does: 'ignores the branch that is asked for',
    at: ['https://github.com/git-pkgs/forge/issues/111'],
    plays: (kind) => (request, answer) => {
      const all = [{ number: 2, target: 'other' }, { number: 1 }];
      replyJson(answer, kind.page(kind.pageAsked(request) === 0 ? all : [], true));
    },
    heard: { finds: [['1', head]] },
  },
];
