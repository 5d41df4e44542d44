import { HubError } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { createVariableNames, hideAgain, serverWithoutSecrets } from './export-server.ts';
import { strip } from './strip-secrets.ts';

export interface ExportOptions {
  /** Only this server. */
  readonly serverName?: string | undefined;
  /** The document as it is, secrets and all. The caller decides who may ask for that, and logs it. */
  readonly secrets?: 'include' | undefined;
}

type Document = Readonly<Record<string, unknown>>;

/**
 * The settings as a document that can be given to another person, and imported again (CONTRACT §4, Export). Without
 * `secrets: 'include'`:
 *
 * - In what connects a server (`env`, `headers`, `args`, `url`, `openapi`) a secret becomes a variable,
 * `${<SERVER>_<NAME>}`, which the importing hub takes from
 *   its environment. Every value of `env` and `headers` counts as one, because the hub cannot tell; variables and
 * `true`/`false` stay.
 * - Everywhere else a secret is left out: password hashes, OAuth secrets and tokens, API keys of `systemConfig`.
 * - Access keys and OAuth tokens (`bearerKeys`, `oauthTokens`) are left out whole: without their secret they open
 * nothing.
 * - A secret that was recognised in one place is hidden wherever else it occurs.
 *
 * Throws HubError `not_found` for a server that is not there.
 */
export function exportSettings(
  document: Document,
  { serverName, secrets }: ExportOptions = {},
): Record<string, unknown> {
  const chosen = structuredClone(serverName === undefined ? document : onlyServer(document, serverName));
  if (secrets === 'include') return { ...chosen };
  const { mcpServers, bearerKeys: _keys, oauthTokens: _tokens, ...rest } = chosen;
  const known: [string, string][] = [];
  const found = (secret: string, replacement: string, isNamed: boolean) => {
    if (isNamed) known.push([secret, replacement]);
  };
  const nameVariable = createVariableNames();
  const servers = Object.entries(isObject(mcpServers) ? mcpServers : {}).flatMap(([name, entry]) =>
    isObject(entry) ? [[name, serverWithoutSecrets(name, entry, nameVariable, found)] as const] : [],
  );
  const others = strip(rest, found) as Document;
  const result = { ...(mcpServers !== undefined && { mcpServers: Object.fromEntries(servers) }), ...others };
  return hideAgain(result, known);
}

function onlyServer(document: Document, name: string): Document {
  const { mcpServers } = document;
  if (isObject(mcpServers) && Object.hasOwn(mcpServers, name)) return { mcpServers: { [name]: mcpServers[name] } };
  throw new HubError('not_found', `Cannot export server "${name}": no such server.`);
}
