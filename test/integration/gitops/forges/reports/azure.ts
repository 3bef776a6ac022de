import type { ServerResponse } from 'node:http';
import { replyJson } from '../../../../support/git/recorder.ts';
import { head } from '../kinds.ts';
import type { ForgeReport } from './report.ts';

function signIn(answer: ServerResponse, status: 203 | 302): void {
  const location = status === 302 ? { location: 'https://spsprodeus27.vssps.visualstudio.com/_signin' } : {};
  answer.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...location }).end('<html>Sign in</html>');
}

export const azureDevOps: readonly ForgeReport[] = [
  {
    does: 'answers 203 and a page to sign in to a token that it does not know',
    at: [
      'https://github.com/MicrosoftDocs/vsts-rest-api-specs/issues/574',
      'https://github.com/microsoft/azure-devops-auth-samples/issues/52',
    ],
    plays: () => (_, answer) => signIn(answer, 203),
    heard: { refused: 'status', reason: 'ForgeUnauthorized', words: /web page.*renew it in the Secret/ },
  },
  {
    does: 'leads to another host to sign in, unless that is suppressed',
    at: ['https://github.com/getsentry/sentry-plugins/pull/271', 'https://github.com/eclipse-che/che-server/pull/755'],
    plays: () => (request, answer) =>
      request.headers['x-tfs-fedauthredirect'] === 'Suppress'
        ? replyJson(answer, { message: 'TF400813: The user is not authorized.' }, 401)
        : signIn(answer, 302),
    heard: { refused: 'requests', reason: 'ForgeUnauthorized', words: /does not accept/ },
  },
  {
    does: 'tells a request from a fork that was deleted without its repository',
    at: ['https://github.com/edgafner/dorkag/issues/162'],
    plays: (kind) => (_, answer) => replyJson(answer, kind.page([{ number: 1, fork: 'gone' }], true)),
    heard: { finds: [['1', head]], fork: true },
  },
  {
    does: 'limits us by 429, and says when to come back',
    at: ['https://learn.microsoft.com/en-us/azure/devops/integrate/concepts/rate-limits'],
    plays: () => (_, answer) => replyJson(answer, {}, 429, { 'retry-after': '120' }),
    heard: { refused: 'status', reason: 'RateLimited', words: /limits our requests/, retry: 120_000 },
  },
];
