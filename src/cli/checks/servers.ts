import { availableParallelism } from 'node:os';
import { HubError } from '../../core/errors.ts';
import { reasonWords } from '../../core/reasons.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import { upstreamLimits } from '../../upstream/limits.ts';
import type { Check } from './check.ts';

/** What a server offers, as a trial connection found it. */
export interface Offer {
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  readonly ms: number;
}

type Probe = (server: ServerSettings) => Promise<Offer>;

/**
 * Really connects to each server, as many at once as a start would, and lists what it offers. `probe` is bounded in
 * time by itself.
 */
export async function checkServers(
  servers: readonly { readonly settings: ServerSettings }[],
  probe: Probe,
): Promise<Check[]> {
  const checks: Check[] = [];
  const queue = servers.entries();
  const worker = async (): Promise<void> => {
    for (const [at, { settings }] of queue) checks[at] = await checkServer(settings, probe);
  };
  await Promise.all(Array.from({ length: upstreamLimits.startsPerCore * availableParallelism() }, worker));
  return checks;
}

async function checkServer(server: ServerSettings, probe: Probe): Promise<Check> {
  const name = `server ${server.name}`;
  try {
    const { tools, prompts, resources, ms } = await probe(server);
    const offer = [
      count(tools, 'tool'),
      ...(prompts > 0 ? [count(prompts, 'prompt')] : []),
      ...(resources > 0 ? [count(resources, 'resource')] : []),
    ];
    const asleep = server.onDemand ? '; the hub starts it when it is called' : '';
    return { name, status: 'ok', detail: `${offer.join(', ')} (${(ms / 1000).toFixed(1)} s)${asleep}` };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    // A server that is only not ready yet needs no action: the hub tries again.
    const status = error.code === 'not_ready' ? 'warn' : 'fail';
    const advice = error.reason && reasonWords(error.reason).advice;
    if (advice === undefined) return { name, status, detail: error.message };
    return { name, status, detail: error.message.replace(` ${advice}`, ''), fix: advice };
  }
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? '' : 's'}`;
}
