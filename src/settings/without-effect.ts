import { isObject } from '../core/protocol/rpc.ts';
import type { Path, Report } from './report.ts';

/**
 * What MCPHub does and this hub does not (README, What is not there yet): such members stay in the file, and whoever relied on one is told, because nothing
 * else would say why a server or a client gets less than before. What is empty or switched off says nothing.
 */
export function warnOfMissingFeatures(document: Record<string, unknown>, report: Report): void {
  for (const kind of ['prompts', 'resources']) {
    const items = document[kind];
    if (Array.isArray(items) && items.some((item) => isObject(item) && item['enabled'] !== false))
      report.warn([kind], `are not supported; clients get the ${kind} of servers only`);
  }
  const system = memberOf(document, 'systemConfig');
  const auth = memberOf(system, 'auth');
  for (const way of ['betterAuth', 'forwardAuth']) {
    if (memberOf(auth, way)['enabled'] === true)
      report.warn(
        ['systemConfig', 'auth', way],
        'is not supported; people log in with a password, and clients with an access key',
      );
  }
  if (memberOf(system, 'toolResultCompression')['enabled'] === true)
    report.warn(['systemConfig', 'toolResultCompression'], 'is not supported; results reach clients as they are');
}

/** The same of one server. */
export function warnOfMissingServerFeatures(config: Record<string, unknown>, path: Path, report: Report): void {
  if (memberOf(config, 'proxy')['enabled'] === true)
    report.warn([...path, 'proxy'], 'is not supported; the server is reached directly');
  const headers = 'is not supported; the server gets none of the headers that clients send';
  if (isFilled(config['passthroughHeaders'])) report.warn([...path, 'passthroughHeaders'], headers);
  if (isFilled(memberOf(config, 'openapi')['passthroughHeaders']))
    report.warn([...path, 'openapi', 'passthroughHeaders'], headers);
  if (isFilled(config['credentialTemplate']))
    report.warn(
      [...path, 'credentialTemplate'],
      'is not supported; every user reaches the server with what stands here',
    );
}

function memberOf(value: Record<string, unknown>, member: string): Record<string, unknown> {
  const inner = value[member];
  return isObject(inner) ? inner : {};
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
