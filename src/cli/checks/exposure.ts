import { exposure } from '../../core/access/exposure.ts';
import { createOutside, type Place } from '../../core/access/outside.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { Check } from './check.ts';

/**
 * A warning per thing that callers without a credential can do on a hub that others can reach, with how to close it;
 * nothing to say of one that they cannot.
 */
export function checkExposure(place: Place, settings: Settings | undefined): Check[] {
  if (!settings || !isExposed(place, settings)) return [];
  const name = 'exposure';
  const lines = exposure(settings);
  const fix = lines.at(-1);
  if (fix === undefined)
    return [{ name, status: 'ok', detail: 'others can reach the hub, and do nothing without a credential' }];
  return lines.slice(0, -1).map((line) => ({
    name,
    status: 'warn',
    detail: `others can reach the hub, and without a credential ${line}`,
    fix,
  }));
}

/** Whether others can reach the hub; without settings as far as the environment says. */
export function isExposed(place: Place, settings: Settings | undefined): boolean {
  return createOutside(place, () => settings?.system.baseUrl).exposed();
}
