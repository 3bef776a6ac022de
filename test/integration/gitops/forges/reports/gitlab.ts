import { replyJson } from '../../../../support/git/recorder.ts';
import { head } from '../kinds.ts';
import { type ForgeReport, textIn } from './report.ts';

const transition =
  'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")';

export const gitLab: readonly ForgeReport[] = [
  {
    does: 'refuses a status that is there already, as a transition',
    at: [
      'https://github.com/woodpecker-ci/woodpecker/issues/4067',
      'https://github.com/packit/packit-service/issues/741',
    ],
    plays: () => (_, answer) => replyJson(answer, { message: transition }, 400),
    heard: { status: { state: 'pending' } },
  },
  {
    does: 'refuses a status whose page has an address of more than 255 characters',
    at: ['https://gitlab.com/gitlab-org/gitlab/-/issues/501079'],
    plays: () => (request, answer) =>
      textIn(request, 'target_url').length > 255
        ? replyJson(answer, { message: { target_url: ['is too long (maximum is 255 characters)'] } }, 400)
        : replyJson(answer, {}, 201),
    heard: { status: { targetURL: `https://page.example.com/${'x'.repeat(300)}` }, without: 'target_url' },
  },
  {
    does: 'refuses a status whose page it cannot resolve',
    at: ['https://gitlab.com/gitlab-org/gitlab-foss/issues/66105'],
    plays: () => (request, answer) =>
      textIn(request, 'target_url') === ''
        ? replyJson(answer, {}, 201)
        : replyJson(answer, { message: { target_url: ['is blocked: Host cannot be resolved or invalid'] } }, 400),
    heard: { status: { targetURL: 'https://page.internal.example.com/checks/1' }, without: 'target_url' },
  },
  {
    does: 'answers 405 to a status for a project that was moved',
    at: [
      'https://github.com/VirtusLab/git-machete/issues/1212',
      'https://gitlab.com/gitlab-org/gitlab/-/merge_requests/259297',
    ],
    plays: () => (_, answer) =>
      replyJson(answer, { message: 'Non GET methods are not allowed for moved projects' }, 405),
    heard: { refused: 'status', reason: 'RepositoryNotFound', words: /has moved.*set spec\.git\.url/ },
  },
  {
    does: 'leads a list for a project that was moved on, by 301, to its number',
    at: ['https://gitlab.com/gitlab-org/gitlab/-/merge_requests/128642'],
    plays: (kind) => (request, answer) =>
      request.path.startsWith('/api/v4/projects/12/')
        ? replyJson(answer, kind.page([{ number: 1 }], true))
        : answer.writeHead(301, { location: `/api/v4/projects/12/merge_requests?page=1` }).end(),
    heard: { finds: [['1', head]] },
  },
  {
    does: 'tells no commit of a request whose branch is gone',
    at: [
      'https://github.com/swisscom/gitlab-merge-request-resource/issues/9',
      'https://github.com/gitbutlerapp/gitbutler/pull/15533',
    ],
    plays: (kind) => (_, answer) => replyJson(answer, kind.page([{ number: 2, sha: null }, { number: 1 }], true)),
    heard: { finds: [['1', head]] },
  },
  {
    does: 'limits us by 429 without a time',
    at: [
      'https://gitlab.com/gitlab-org/gitlab/-/issues/365728',
      'https://gitlab.com/gitlab-org/gitlab/-/issues/199738',
    ],
    plays: () => (_, answer) => replyJson(answer, { message: { error: 'Try again later.' } }, 429),
    heard: { refused: 'requests', reason: 'RateLimited', words: /limits our requests/ },
  },
];
