/**
 * What the audit log calls each request that may change something, by method and path below `/api`. One that is in
 * neither list has its method and path as its name; `test/e2e/audit.test.ts` fails for it.
 */
export const auditActions: Readonly<Record<string, string>> = {
  'POST /auth/login': 'login',
  'POST /auth/reauthenticate': 'login.again',
  'POST /auth/logout': 'logout',
  'POST /auth/change-password': 'password.change',
  'DELETE /auth/sessions': 'session.end-others',
  'DELETE /auth/sessions/:id': 'session.end',
  'POST /auth/oidc/:id/backchannel-logout': 'session.end-by-provider',
  'DELETE /auth/grants/:id': 'grant.end',
  'POST /auth/second-factor/totp': 'second-factor.begin',
  'POST /auth/second-factor/totp/confirm': 'second-factor.create',
  'DELETE /auth/second-factor/totp': 'second-factor.delete',
  'POST /auth/second-factor/recovery-codes': 'second-factor.recovery-codes',
  'POST /auth/second-factor/passkeys/options': 'second-factor.begin',
  'POST /auth/second-factor/passkeys': 'second-factor.create',
  'DELETE /auth/second-factor/passkeys/:id': 'second-factor.delete',
  'DELETE /users/:username/second-factor': 'second-factor.reset',
  'POST /auth/keys': 'key.create',
  'PUT /auth/keys/:id': 'key.update',
  'POST /auth/keys/:id/rotate': 'key.rotate',
  'DELETE /auth/keys/:id': 'key.delete',
  'POST /users': 'user.create',
  'PUT /users/:username': 'user.update',
  'DELETE /users/:username': 'user.delete',
  'DELETE /users/:username/sessions': 'session.end-of-user',
  'POST /servers': 'server.create',
  'POST /servers/batch': 'server.create',
  'POST /servers/import': 'server.import',
  'PUT /servers/:name': 'server.update',
  'DELETE /servers/:name': 'server.delete',
  'POST /servers/:name/toggle': 'server.toggle',
  'POST /servers/:name/reload': 'server.reload',
  'POST /servers/:name/payloads': 'server.payloads-keep',
  'DELETE /servers/:name/payloads': 'server.payloads-end',
  'POST /servers/:name/oauth/authorize': 'server.sign-in-begin',
  'POST /servers/:name/oauth/disconnect': 'server.sign-out',
  'POST /mcpb/upload': 'bundle.install',
  'PUT /credentials/:name': 'credential.set',
  'DELETE /credentials/:name': 'credential.delete',
  'POST /groups': 'group.create',
  'POST /groups/batch': 'group.create',
  'PUT /groups/:id': 'group.update',
  'DELETE /groups/:id': 'group.delete',
  'POST /groups/:id/servers': 'group.update',
  'PUT /groups/:id/servers/batch': 'group.update',
  'DELETE /groups/:id/servers/:serverName': 'group.update',
  'PUT /groups/:id/server-configs/:serverName/tools': 'group.update',
  'PUT /groups/:id/server-configs/:serverName/tools/:tool/override': 'group.update',
  'DELETE /groups/:id/server-configs/:serverName/tools/:tool/override': 'group.update',
  'POST /prompts': 'prompt.create',
  'PUT /prompts/:id': 'prompt.update',
  'DELETE /prompts/:id': 'prompt.delete',
  'POST /resources': 'resource.create',
  'PUT /resources/:id': 'resource.update',
  'DELETE /resources/:id': 'resource.delete',
  'PUT /servers/:server/tools/:item/override': 'tool.update',
  'DELETE /servers/:server/tools/:item/override': 'tool.update',
  'PUT /servers/:server/tools/:item/max-result-tokens': 'tool.update',
  'PUT /system-config': 'system-config.update',
  'POST /mcp-settings/import': 'settings.import',
  'GET /mcp-settings/export': 'settings.export',
  'GET /backup': 'backup.make',
  'GET /audit/export': 'audit.export',
  'DELETE /logs': 'logs.clear',
  'DELETE /activities/cleanup': 'activity.clear',
  'POST /approvals/:id': 'approval.decide',
  'DELETE /approvals/:id': 'approval.withdraw',
  'POST /pins/:server/approve': 'pins.approve',
  'POST /pins/:server/reject': 'pins.reject',
  'POST /smart-routing/reindex': 'search.reindex',
  ...itemActions(),
};

/** What has no record of its own when it succeeds, and why. */
export const notAudited: Readonly<Record<string, string>> = {
  'POST /tools/call/:server': 'a call, which is in the activity',
  'POST /tools/:serverName/:toolName': 'a call, which is in the activity',
  'POST /:name/tools/:serverName/:toolName': 'a call, which is in the activity',
  'POST /mcp/:serverName/prompts/:promptName': 'reads a prompt',
  'POST /resources/read': 'reads a resource',
  'POST /guards/:guard/try': 'shows a guard a sample',
  'POST /policies/simulate': 'tries policies on recorded calls',
  'POST /smart-routing/search': 'a search, which changes nothing',
  'POST /auth/password-check': 'judges a password that is not kept',
};

/** With `?dryRun=true` they change nothing. */
export const canBeTried: ReadonlySet<string> = new Set([
  'POST /servers/import',
  'POST /mcp-settings/import',
  'PUT /servers/:server/tools/:item/override',
  'PUT /groups/:id/server-configs/:serverName/tools/:tool/override',
]);

/** Tools, prompts and resources of a server. */
function itemActions(): Record<string, string> {
  return Object.fromEntries(
    ['tool', 'prompt', 'resource'].flatMap((noun) => {
      const path = `/servers/:server/${noun}s`;
      return [
        [`POST ${path}/toggle`, `${noun}.toggle`],
        [`POST ${path}/:item/toggle`, `${noun}.toggle`],
        [`PUT ${path}/:item/description`, `${noun}.update`],
        [`DELETE ${path}/:item/description`, `${noun}.update`],
      ];
    }),
  );
}
