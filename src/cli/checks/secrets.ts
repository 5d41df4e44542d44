import type { TransportSettings } from '../../core/settings/server.ts';
import { type ReadableSecrets, readableText } from '../../env/withdraw.ts';
import type { Check } from './check.ts';

/**
 * One warning per process that shows secrets of the hub to the programs it starts; nothing to say when it starts none.
 */
export function checkSecrets(
  readable: readonly ReadableSecrets[],
  servers: readonly { readonly transport: Pick<TransportSettings, 'type'> }[],
): Check[] {
  if (!servers.some(({ transport }) => transport.type === 'stdio')) return [];
  return readable.map((secrets) => ({ name: 'secrets', status: 'warn', detail: readableText(secrets) }));
}
