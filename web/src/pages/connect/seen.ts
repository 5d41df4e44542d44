import type { ClientSeen } from '../../api/types.ts';

/** How the client that is waited for says whose it is. */
export type Credential = 'key' | 'have' | 'signIn' | 'none';

interface Awaited {
  readonly client: string;
  readonly credential: Credential;
  /** The id of the key that was made for it. */
  readonly key: string | undefined;
  /** The hub's time of the last client that was there before; empty: there was none. */
  readonly since: string;
  /** Who waits. */
  readonly username: string;
}

/** What clients call themselves; they may change it, and others may say the same. */
const ownNames: Readonly<Record<string, RegExp>> = {
  'claude-code': /claude.?code/i,
  'claude-desktop': /claude|mcp-remote/i,
  'claude-ai': /claude/i,
  chatgpt: /openai|chatgpt/i,
  cursor: /cursor/i,
  vscode: /visual studio code|vs.?code|copilot/i,
  codex: /codex/i,
  'gemini-cli': /gemini/i,
  windsurf: /windsurf|codeium/i,
  cline: /cline/i,
};

/**
 * The client that is waited for. A key that was made for it is proof, and a sign-in of the one who waits nearly so;
 * without a credential there is only what it calls itself.
 */
export function arrived(seen: readonly ClientSeen[], awaited: Awaited): ClientSeen | undefined {
  const { client, credential, key, since, username } = awaited;
  if (credential === 'key') return seen.find(({ keyId }) => keyId !== undefined && keyId === key);
  const fresh = seen.filter(({ at }) => at > since);
  if (credential === 'signIn') return fresh.find((each) => each.credential === 'app' && each.username === username);
  if (credential === 'have') return fresh.find((each) => each.credential === 'key' && isNamed(each, client));
  return fresh.find((each) => each.credential === 'anonymous' && isNamed(each, client));
}

/** Another client that came since: its name is shown, and it counts as no connection. */
export function another(seen: readonly ClientSeen[], { credential, since }: Awaited): ClientSeen | undefined {
  return credential === 'key' ? undefined : seen.find(({ at }) => at > since);
}

function isNamed({ name }: ClientSeen, client: string): boolean {
  return ownNames[client]?.test(name) === true;
}

/** The time of the last of them, by the clock of the hub. */
export function lastOf(seen: readonly ClientSeen[]): string {
  return seen.reduce((last, { at }) => (at > last ? at : last), '');
}
