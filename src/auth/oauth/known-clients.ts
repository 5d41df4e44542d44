import type { OAuthClient } from './client.ts';

/**
 * What the documents of these clients said in November 2026, by the addresses that are their ids. It counts only while
 * a document cannot be read: a network may have no way out, and the site of a vendor may turn programs away. Each
 * address that gets a code is the vendor's own, or on the computer of the user.
 */
export const knownClients: ReadonlyMap<string, OAuthClient> = new Map(
  [
    client('https://claude.ai/oauth/mcp-oauth-client-metadata', 'Claude', 'https://claude.ai/api/mcp/auth_callback'),
    client(
      'https://claude.ai/oauth/claude-code-client-metadata',
      'Claude Code',
      'http://localhost/callback',
      'http://127.0.0.1/callback',
    ),
    client('https://chatgpt.com/oauth/client.json', 'ChatGPT', 'https://chatgpt.com/connector_platform_oauth_redirect'),
    client(
      'https://chatgpt.com/oauth/codex/client.json',
      'Codex',
      'http://localhost/callback',
      'http://127.0.0.1/callback',
    ),
    client(
      'https://vscode.dev/oauth/client-metadata.json',
      'Visual Studio Code',
      'http://127.0.0.1:33418/',
      'https://vscode.dev/redirect',
    ),
  ].map((one) => [one.id, one]),
);

function client(id: string, name: string, ...redirectUris: string[]): OAuthClient {
  return { id, name, redirectUris, isProven: true };
}
