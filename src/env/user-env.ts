import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { HubError } from '../core/errors.ts';

/** What the commands that talk to a hub take from the environment of the user who runs them. */
export interface UserEnv {
  /** `TOOLHUB_URL`. */
  readonly hubUrl: string | undefined;
  /** `TOOLHUB_TOKEN`: an access token or key, which is used in place of a login. */
  readonly token: string | undefined;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** Where programs keep their settings: `~/.config`, `~/Library/Application Support`, `%APPDATA%`. */
  readonly appFolder: string;
  /** `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in lower case too. */
  readonly proxies: { readonly http: string; readonly https: string; readonly except: string };
  /** Whether a browser can be expected to open a window. */
  readonly hasDisplay: boolean;
  /** For programs that are started: everything but the token. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Throws HubError `misconfigured` for what no header can carry; what would be said of it elsewhere shows the token. */
function tokenIn(text: string): string | undefined {
  if (/^[\x21-\x7e]*$/.test(text)) return text || undefined;
  throw new HubError(
    'misconfigured',
    'TOOLHUB_TOKEN has a blank, a line break or another character that no token has. Copy the token again, with nothing around it.',
  );
}

/**
 * Unlike the hub, these commands do not read `.env`: in a folder of a stranger it could send a token of the environment
 * to a hub of theirs. Throws HubError `misconfigured` for a token that is none.
 */
export function readUserEnv(source: NodeJS.ProcessEnv = process.env, platform = process.platform): UserEnv {
  const read = (...names: string[]): string =>
    names.map((name) => source[name]?.trim() ?? '').find((text) => text !== '') ?? '';
  const home = homedir();
  const { TOOLHUB_TOKEN: _, ...rest } = source;
  return {
    hubUrl: read('TOOLHUB_URL') || undefined,
    token: tokenIn(read('TOOLHUB_TOKEN')),
    platform,
    home,
    appFolder: appFolder(read, home, platform),
    proxies: {
      http: read('http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'),
      https: read('https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'),
      except: read('no_proxy', 'NO_PROXY'),
    },
    hasDisplay: platform === 'win32' || platform === 'darwin' || read('WAYLAND_DISPLAY', 'DISPLAY') !== '',
    variables: Object.fromEntries(
      Object.entries(rest).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
    ),
  };
}

function appFolder(read: (name: string) => string, home: string, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  const named = read(platform === 'win32' ? 'APPDATA' : 'XDG_CONFIG_HOME');
  // The XDG specification has relative ones passed over.
  if (isAbsolute(named)) return named;
  return platform === 'win32' ? join(home, 'AppData', 'Roaming') : join(home, '.config');
}
