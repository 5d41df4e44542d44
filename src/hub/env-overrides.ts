import type { Settings } from '../core/settings/settings.ts';
import type { Env } from '../env/env.ts';

/**
 * The settings with the values of the environment in their place. The same settings give the same result, which is how
 * views are kept.
 */
export function withEnvOverrides({ smart }: Pick<Env, 'smart'>): (settings: Settings) => Settings {
  const { progressiveDisclosure, serverDescriptionMode } = smart;
  const said = {
    ...(progressiveDisclosure !== undefined && { progressiveDisclosure }),
    ...(serverDescriptionMode !== undefined && { serverDescriptionMode }),
  };
  if (Object.keys(said).length === 0) return (settings) => settings;
  const changed = new WeakMap<Settings, Settings>();
  return (settings) => {
    const known = changed.get(settings) ?? { ...settings, system: { ...settings.system, ...said } };
    changed.set(settings, known);
    return known;
  };
}
