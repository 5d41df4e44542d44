import { apiUrl, pathOf } from '../../api/client.ts';
import { boot } from '../../boot.ts';
import type { JsonObject } from '../../api/types.ts';

/** The call as others make it. Tokens are left to the one who pastes it. */

export function curlText(server: string, toolName: string, args: JsonObject): string {
  const body = JSON.stringify({ toolName, arguments: args });
  return [
    `curl ${quoted(`${window.location.origin}${apiUrl(`/tools/call${pathOf(server)}`)}`)}`,
    `  -H "Authorization: Bearer $TOKEN"`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${quoted(body)}`,
  ].join(' \\\n');
}

export function clientText(server: string, name: string, args: JsonObject): string {
  const url = `${window.location.origin}${boot.basePath}/mcp${pathOf(server)}`;
  return `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const client = new Client({ name: 'example', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(${JSON.stringify(url)})));
const result = await client.callTool({
  name: ${JSON.stringify(name)},
  arguments: ${JSON.stringify(args, null, 2).replaceAll('\n', '\n  ')},
});
console.log(result.content);
await client.close();
`;
}

/** One word for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
