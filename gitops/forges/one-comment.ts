import { ForgeError } from './error.ts';
import type { Comment } from './forge.ts';

export interface ToldComment {
  readonly id: number;
  readonly body: string;
  /** Written by the owner of our token. Any user can write our marker; what others wrote, they can change later. */
  readonly ours: boolean;
}

export interface CommentThread {
  readonly address: string;
  /** Pages from 1, oldest first. */
  page(number: number): Promise<{ readonly comments: readonly ToldComment[]; readonly last: boolean }>;
  create(body: string): Promise<unknown>;
  update(id: number, body: string): Promise<unknown>;
}

/** GitHub takes 65,536 characters, the others more. */
const longestBody = 65_000;
const mostPages = 10;

/**
 * Writes the comment, or updates the one that carries its marker; sends nothing if it says the same.
 * @throws ForgeError StatusRejected in a thread too long to search: the comment must never be written twice
 */
export async function keepOneComment(thread: CommentThread, { marker, body }: Comment): Promise<void> {
  const text = fitting(`${marker}\n${body}`);
  for (let number = 1; number <= mostPages; number++) {
    const { comments, last } = await thread.page(number);
    const ours = comments.find((comment) => comment.ours && comment.body.startsWith(marker));
    // Forges are free to turn line ends around.
    if (ours && ours.body.replaceAll('\r\n', '\n') !== text) await thread.update(ours.id, text);
    else if (!ours && last) await thread.create(text);
    if (ours || last) return;
  }
  throw new ForgeError('StatusRejected', `${thread.address} has too many comments in this thread to find ours`);
}

/** Cut at a line's end. */
function fitting(text: string): string {
  if (text.length <= longestBody) return text;
  const cut = text.slice(0, longestBody);
  return `${cut.slice(0, cut.lastIndexOf('\n'))}\n\n… cut: too long for a comment\n`;
}
