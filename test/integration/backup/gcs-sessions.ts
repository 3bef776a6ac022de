import type { IncomingMessage } from 'node:http';
import type { Shim } from './fault-proxy.ts';

/**
 * What fake-gcs-server lacks of resumable uploads: asked how far a session is (`Content-Range: bytes *\/*`), it would
 * end the session and make an object of what there is. Google answers 308 with the range it holds, or, once the object
 * is made, with that object.
 */
export function gcsSessions(): Shim {
  const sessions = new Map<string, { held: number; made?: string }>();
  const sessionOf = ({ method, url = '' }: IncomingMessage) =>
    method === 'PUT' ? new URL(url, 'http://gcs').searchParams.get('upload_id') : null;
  return {
    answer: (incoming) => {
      const id = sessionOf(incoming);
      if (id === null || incoming.headers['content-range'] !== 'bytes */*') return undefined;
      const { held = 0, made } = sessions.get(id) ?? {};
      if (made !== undefined) return { status: 200, headers: { 'content-type': 'application/json' }, body: made };
      return { status: 308, headers: held > 0 ? { range: `bytes=0-${held - 1}` } : {}, body: '' };
    },
    answered: (incoming, status, body) => {
      const id = sessionOf(incoming);
      const [, last] = /^bytes \d+-(\d+)\//.exec(incoming.headers['content-range'] ?? '') ?? [];
      if (id === null || (status !== 200 && status !== 308)) return;
      sessions.set(id, { held: last === undefined ? 0 : Number(last) + 1, ...(status === 200 && { made: body }) });
    },
  };
}
