import { type Teller, type Told, tellEvent } from './tell-event.ts';

/** An event is kept for an hour. */
const hourMs = 3_600_000;

/** Says it once an hour where its users look. Never throws for what the API server says. */
export async function tellHourly(context: Teller, id: string, told: Told): Promise<void> {
  const at = context.kube.now() ?? new Date();
  await tellEvent(context, told, { id: `${id}-${Math.floor(at.getTime() / hourMs)}`, at });
}
