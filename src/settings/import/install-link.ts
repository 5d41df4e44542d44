import { isObject } from '../../core/protocol/rpc.ts';
import type { Found } from './command-line.ts';

/**
 * A server from a link that installs it: of Cursor (`name`, and `config` as base64 of JSON) or VS Code (JSON as the
 * query, or `name` and `config`).
 */
export function fromInstallLink(text: string): Found | undefined {
  if (!/^\S+$/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const nested = url.searchParams.get('url');
  if (/^vscode(-insiders)?:/.test(nested ?? '')) return fromInstallLink(nested ?? '');
  if (!/install|redirect/.test(url.pathname)) return undefined;
  const config = url.searchParams.get('config');
  const raw = config === null ? fromQuery(url) : (json(config) ?? json(Buffer.from(config, 'base64').toString('utf8')));
  if (!isObject(raw)) return undefined;
  const name = url.searchParams.get('name') ?? raw['name'];
  return { name: typeof name === 'string' ? name : undefined, raw, path: 'link' };
}

function fromQuery(url: URL): unknown {
  try {
    return json(decodeURIComponent(url.search.slice(1)));
  } catch {
    return undefined;
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
