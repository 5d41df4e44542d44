import type { GuardedMoment, GuardSettings, SecretsInCalls, SecretsMode } from '../settings/governance.ts';
import type { Settings } from '../settings/settings.ts';

const none: readonly GuardSettings[] = [];
const known = new WeakMap<Settings, Map<string, readonly GuardSettings[]>>();

/** The guards that see the calls of a server, or their results, in the order of the settings. */
export function guardsOf(settings: Settings, server: string, on: GuardedMoment): readonly GuardSettings[] {
  const { guards } = settings.system;
  if (guards === undefined) return none;
  const ofSettings = known.get(settings) ?? new Map<string, readonly GuardSettings[]>();
  known.set(settings, ofSettings);
  const id = `${on} ${server}`;
  const found =
    ofSettings.get(id) ??
    guards.filter((guard) => guard.on.includes(on) && (guard.servers === undefined || guard.servers.includes(server)));
  // Bounded: calls go to servers that are in the settings.
  ofSettings.set(id, found);
  return found;
}

/** What becomes of secrets in calls of a server: as it says itself, else as the hub does. */
export function secretsMode({ servers, system }: Settings, server: string, of: keyof SecretsInCalls): SecretsMode {
  const own = servers.get(server);
  return own ? (own.secretsInCalls?.[of] ?? system.secretsInCalls?.[of] ?? 'allow') : 'allow';
}

/** Whatever looks at calls of a server besides policies: by name, and at what. Secrets are looked for first. */
export function guardNames(settings: Settings, server: string): { guard: string; on: GuardedMoment[] }[] {
  const secrets: GuardedMoment[] = [
    ...(secretsMode(settings, server, 'arguments') === 'allow' ? [] : (['call'] as const)),
    ...(secretsMode(settings, server, 'results') === 'allow' ? [] : (['result'] as const)),
  ];
  const own = new Set([...guardsOf(settings, server, 'call'), ...guardsOf(settings, server, 'result')]);
  return [
    ...(secrets.length > 0 ? [{ guard: 'secrets', on: secrets }] : []),
    ...(settings.system.guards ?? [])
      .filter((guard) => own.has(guard))
      .map(({ name, on }) => ({ guard: name, on: [...on] })),
  ];
}
