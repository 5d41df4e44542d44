import { isObject } from '../../core/protocol/rpc.ts';
import type { TransportSettings } from '../../core/settings/server.ts';
import type { InstallSettings } from '../../core/settings/system.ts';
import type { Path, Report } from '../document/report.ts';

/**
 * What programs get besides their own `env`, which comes first: where packages are taken from (`systemConfig.install`),
 * and the proxy of their entry, as MCPHub's files have both.
 */
export function withLaunchEnv(
  transport: TransportSettings | undefined,
  { install, proxy }: { readonly install: InstallSettings | undefined; readonly proxy: unknown },
  path: Path,
  report: Report,
): TransportSettings | undefined {
  const given = isObject(proxy) && proxy['enabled'] === true ? proxy : undefined;
  if (transport?.type !== 'stdio') {
    if (given)
      report.warn([...path, 'proxy'], 'has no effect: it is for programs (stdio); the server is reached directly');
    return transport;
  }
  const more = { ...indexes(install ?? {}), ...(given && proxyEnv(given, [...path, 'proxy'], report)) };
  return Object.keys(more).length === 0 ? transport : { ...transport, env: { ...more, ...transport.env } };
}

function indexes({ npmRegistry, pythonIndexUrl }: InstallSettings): Record<string, string> {
  return {
    ...(npmRegistry !== undefined && { npm_config_registry: npmRegistry }),
    ...(pythonIndexUrl !== undefined && { UV_DEFAULT_INDEX: pythonIndexUrl, PIP_INDEX_URL: pythonIndexUrl }),
  };
}

const schemes: Readonly<Record<string, string>> = { http: 'http', socks4: 'socks4', socks5: 'socks5h' };

/** The variables that programs, and what they are made with, take a proxy from. */
function proxyEnv(proxy: Record<string, unknown>, path: Path, report: Report): Record<string, string> {
  const { type = 'socks5', host, port, username, password, configPath } = proxy;
  const scheme = schemes[String(type)];
  const isPort = typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536;
  if (typeof host !== 'string' || !/^[\w.:[\]-]{1,255}$/.test(host) || !isPort || scheme === undefined) {
    const what =
      configPath === undefined
        ? 'needs a "type" (http, socks4, socks5), a "host" and a "port"'
        : 'takes no "configPath"; give its "type", "host" and "port"';
    report.warn(path, `${what}; the program connects without it`);
    return {};
  }
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const who =
    text(username) === '' ? '' : `${encodeURIComponent(text(username))}:${encodeURIComponent(text(password))}@`;
  const url = `${scheme}://${who}${host}:${port}`;
  const names = scheme === 'http' ? ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'] : ['ALL_PROXY'];
  report.warn(
    path,
    `is given to the program in its environment (${names.join(', ')}); one that does not read that connects directly`,
  );
  return Object.fromEntries(names.flatMap((name) => [name, name.toLowerCase()]).map((name) => [name, url]));
}
