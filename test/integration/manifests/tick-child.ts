import { main } from '../../../functions/tick.ts';

/** A tick as a process of its own, which says on stderr how much memory it took at most. */
process.exitCode = await main(process.argv.slice(2));
process.stderr.write(`peak ${Math.ceil(process.resourceUsage().maxRSS / 1024)} MiB\n`);
