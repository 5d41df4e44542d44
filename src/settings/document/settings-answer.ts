import { isObject } from '../../core/protocol/rpc.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { keyAnswers } from '../key/key-edits.ts';
import { maskServer } from '../server/server-secrets.ts';
import { systemConfigAnswer } from '../system/system-config.ts';
import { userAnswer } from '../user/user-edits.ts';
import type { Draft } from './document.ts';
import { maskDeep } from './mask-deep.ts';

type Document = Readonly<Draft>;

/**
 * The whole settings document as an admin sees it (reference: MCPHub §1.6): unknown members and all, no secret in it,
 * and no hash.
 */
export function settingsAnswer(document: Document, settings: Settings, username: string) {
  const { mcpServers = {}, users: _users, bearerKeys: _keys, systemConfig, oauthTokens: _tokens, ...others } = document;
  const servers = Object.entries(mcpServers).map(([name, entry]) => [name, isObject(entry) ? maskServer(entry) : {}]);
  return {
    ...(maskDeep(others) as Record<string, unknown>),
    mcpServers: Object.fromEntries(servers) as Record<string, unknown>,
    users: settings.users.map(userAnswer),
    systemConfig: systemConfigAnswer(systemConfig),
    bearerKeys: keyAnswers(document, { username, isAdmin: true }),
  };
}

/** What users who are no admin may know: how the hub is reached from outside, and their own keys. */
export function reducedSettingsAnswer({ systemConfig, ...document }: Document, username: string | undefined) {
  const install = systemConfig?.['install'];
  const baseUrl = isObject(install) && typeof install['baseUrl'] === 'string' ? install['baseUrl'] : undefined;
  return {
    mcpServers: {},
    systemConfig: { install: { ...(baseUrl !== undefined && { baseUrl }) } },
    bearerKeys: username === undefined ? [] : keyAnswers(document, { username, isAdmin: false }),
  };
}
