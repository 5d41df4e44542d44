import { Hono } from 'hono';
import { parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Draft } from '../../settings/document/document.ts';
import { reducedSettingsAnswer, settingsAnswer } from '../../settings/document/settings-answer.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { changeSystemConfig, systemConfigAnswer, systemConfigInput } from '../../settings/system/system-config.ts';
import { jsonBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv, changeAsAdmin, editorOf } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';
import { withRequestPaths } from '../frame/request-paths.ts';

export interface SettingsRoutes {
  readonly settings: Pick<SettingsStore, 'change' | 'document'>;
  /** What the environment says of `smartRouting`, which wins over the settings. */
  readonly smart: { readonly [member in keyof typeof variables]: boolean | string | undefined };
  readonly log: Logger;
}

const variables = {
  progressiveDisclosure: 'SMART_ROUTING_PROGRESSIVE_DISCLOSURE',
  serverDescriptionMode: 'SMART_ROUTING_SERVER_DESCRIPTION_MODE',
} as const;

/** `/settings` and `/system-config` (reference: MCPHub §1.6). Their answers contain no secret, for any caller. */
export function settingsRoutes({ settings, smart, log }: SettingsRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/settings', (c) => {
    const { caller } = c.var;
    const document = settings.document as Readonly<Draft>;
    if (!caller.admin || !caller.user) {
      const username = caller.principal.kind === 'user' ? caller.user?.username : undefined;
      return ok(c, reducedSettingsAnswer(document, username));
    }
    return ok(c, settingsAnswer(document, caller.settings, caller.user.username));
  });

  routes.put('/system-config', adminOnly, async (c) => {
    const by = editorOf(c.var.caller);
    const attempt = 'Cannot change the system configuration';
    const input = parseInput(systemConfigInput, await jsonBody(c.req.raw), attempt);
    const change = changeAsAdmin(settings, c.var.caller, (draft) => changeSystemConfig(draft, input));
    const config = await withRequestPaths(change, { settings: ['systemConfig'], body: '' }, attempt);
    log.info('system configuration changed', { sections: Object.keys(input).join(', '), by: by.username });
    const message = ['System configuration updated successfully.', ...overruled(input, smart)].join(' ');
    return ok(c, systemConfigAnswer(config), { message });
  });

  return routes;
}

/** A sentence for each setting that was sent and has no effect, so that the user knows why nothing changes. */
function overruled({ smartRouting }: Readonly<Record<string, unknown>>, smart: SettingsRoutes['smart']): string[] {
  if (!isObject(smartRouting)) return [];
  return (['progressiveDisclosure', 'serverDescriptionMode'] as const)
    .filter((member) => member in smartRouting && smart[member] !== undefined && smartRouting[member] !== smart[member])
    .map(
      (member) =>
        `smartRouting.${member} stays ${String(smart[member])}: the environment says so (${variables[member]}).`,
    );
}
