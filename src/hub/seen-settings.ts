import { dirname, resolve } from 'node:path';
import type { AuditSink } from '../core/audit.ts';
import type { Closers } from '../core/closers.ts';
import type { Logger } from '../core/logger.ts';
import type { OwnSkill } from '../core/settings/own-items.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { Env } from '../env/env.ts';
import type { SettingsStore } from '../settings/store.ts';
import { watchSkillFolder } from '../settings/skills/skill-folder.ts';
import { withEnvOverrides } from './env-overrides.ts';
import { recordSkillFiles } from './record-settings.ts';
import { isLead, type Worker } from './worker.ts';

export interface SeenSettingsParts {
  readonly env: Pick<Env, 'settingsPath' | 'smart'>;
  readonly settings: Pick<SettingsStore, 'current'>;
  readonly audit: Pick<AuditSink, 'record'>;
  readonly log: (service: string) => Logger;
  readonly changed: () => void;
  readonly worker: Worker | undefined;
}

/**
 * The settings as views have them: with the skills of the folder that they name, and with what the environment says.
 * The same settings and skills give the same result, which is how views are kept.
 */
export async function openSeenSettings(
  parts: SeenSettingsParts,
  closers: Closers,
): Promise<(settings: Settings) => Settings> {
  const { env, settings, audit, log, changed, worker } = parts;
  const record = recordSkillFiles(audit);
  const withEnv = withEnvOverrides(env);
  const folder = await watchSkillFolder({
    folder: () => settings.current.system.skillFolder,
    base: dirname(resolve(env.settingsPath)),
    log: log('hub'),
    changed,
    filesChanged: (before, after) => {
      if (isLead(worker)) record(before, after);
    },
  });
  closers.add(() => folder.close());
  let of: readonly OwnSkill[] = [];
  let kept = new WeakMap<Settings, Settings>();
  return (now) => {
    if (folder.skills.length === 0) return withEnv(now);
    if (folder.skills !== of) kept = new WeakMap();
    of = folder.skills;
    const known = kept.get(now) ?? { ...now, own: { prompts: [], resources: [], ...now.own, skills: of } };
    kept.set(now, known);
    return withEnv(known);
  };
}
