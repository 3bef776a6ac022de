import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';

export interface Contrast {
  readonly text: string;
  readonly ratio: number;
  /** By WCAG 2.2 AA: 4.5, or 3 for large text. */
  readonly needed: number;
}

/** The contrast of every text that is shown, against what is painted behind it. */
export async function contrasts(page: Page): Promise<readonly Contrast[]> {
  const script = await readFile(join(import.meta.dirname, 'contrast-in-page.js'), 'utf8');
  return (await page.evaluate(script)) as readonly Contrast[];
}
