import { join } from 'node:path';
import { type ClientFile, vscodeFolder } from './client-file.ts';
import { type Endpoint, pretty, type Snippet } from './snippet.ts';

/** The file of the user for all projects. */
export const vscodeFile: ClientFile = {
  client: 'vscode',
  title: 'VS Code',
  format: 'json',
  path: (folders) => join(vscodeFolder(folders), 'mcp.json'),
  servers: 'servers',
  entry: ({ url }) => ({ type: 'http', url }),
  takesKey: false,
  nextStep: 'VS Code sees the change by itself; "MCP: List Servers" starts the server, and signs in.',
};

/** VS Code keeps secrets out of its file: it asks for the token once and stores it in the keychain. */
export function vscode({ name, url, token }: Endpoint): Snippet {
  const inputId = `${name}-token`;
  const input = { type: 'promptString', id: inputId, description: 'Tool Hub access key', password: true };
  const secret =
    token === undefined ? undefined : { inputs: [input], headers: { Authorization: `Bearer \${input:${inputId}}` } };
  const entry = { type: 'http', url, ...(secret && { headers: secret.headers }) };
  const inputs = secret && { inputs: secret.inputs };
  return {
    client: 'vscode',
    title: 'VS Code',
    where: '.vscode/mcp.json (or “MCP: Open User Configuration”)',
    language: 'json',
    text: pretty({ ...inputs, servers: { [name]: entry } }),
    installUrl: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name, ...entry, ...inputs }))}`,
  };
}
