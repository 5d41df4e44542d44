import { z } from 'zod';
import { coreLimits } from '../../core/limits.ts';
import { problemTable } from '../../core/problems.ts';
import type { GuardSettings } from '../../core/settings/governance.ts';
import type { SystemSettings } from '../../core/settings/system.ts';
import { type Path, type Report, unique } from '../document/report.ts';
import { flag, range, text, texts } from '../document/shape.ts';
import { settingsLimits } from '../limits.ts';

/** `systemConfig.guards` (CONTRACT §9). Strict: what is mistyped here would let through what was to be looked at. */
export const guardsShape = z
  .array(
    z.strictObject({
      id: text.optional(),
      url: z.string().regex(/^https?:\/\/[^\s/]\S*$|^\s*\$\{/i, problemTable.http_address),
      on: z.array(z.enum(['call', 'result'])).min(1, problemTable.empty),
      servers: texts.optional(),
      timeoutMs: range(settingsLimits.guardMsLeast, settingsLimits.guardMsMost, 'milliseconds').optional(),
      onFailure: z.enum(['allow', 'refuse']).optional(),
      secret: text.optional(),
      enabled: flag.optional(),
    }),
  )
  .max(coreLimits.guards);

/** Those that are switched on, each named. */
export function readGuards(
  given: z.output<typeof guardsShape> = [],
  isServer: (name: string) => boolean,
  report: Report,
): Pick<SystemSettings, 'guards'> {
  const path: Path = ['systemConfig', 'guards'];
  const ids = new Map<string, Path>();
  const guards = given.flatMap(({ id, url, on, servers, enabled = true, ...rest }, i): GuardSettings[] => {
    if (id !== undefined) checkId(id, [...path, i, 'id'], ids, report);
    if (!url.includes('${') && !URL.canParse(url)) report.problem([...path, i, 'url'], problemTable.http_address);
    for (const [j, server] of (servers ?? []).entries())
      if (!isServer(server))
        report.warn(
          [...path, i, 'servers', j],
          `there is no server ${JSON.stringify(server)}; kept for when there is one`,
        );
    if (servers?.length === 0) report.warn([...path, i, 'servers'], 'names no server, so this guard is never asked');
    if (!enabled) return [];
    const { timeoutMs = settingsLimits.guardMs, onFailure = 'refuse', secret } = rest;
    return [
      { name: id ?? String(i + 1), url: url.trim(), on: [...new Set(on)], servers, timeoutMs, onFailure, secret },
    ];
  });
  return guards.length === 0 ? {} : { guards };
}

function checkId(id: string, path: Path, ids: Map<string, Path>, report: Report): void {
  if (!/^[\p{L}\p{N}._ -]{1,100}$/u.test(id)) report.problem(path, problemTable.id_letters);
  else if (/^\d+$/.test(id)) report.problem(path, problemTable.id_digits);
  else if (id === 'secrets') report.problem(path, problemTable.id_secrets);
  else unique(ids, id, path, 'the ids of guards must differ', report);
}
