import { join } from 'node:path';
import type { Endpoint } from './snippet.ts';

/** Where programs of a user keep their files. */
export interface UserFolders {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** `~/.config`, `~/Library/Application Support`, `%APPDATA%`. */
  readonly appFolder: string;
}

/** The file of a user in which a client keeps its servers, for `toolhub connect`. */
export interface ClientFile {
  /** As in `Snippet`. */
  readonly client: string;
  readonly title: string;
  /** JSON may have comments: they are kept. */
  readonly format: 'json' | 'toml';
  readonly path: (folders: UserFolders) => string;
  /** The member of the file that holds the servers by name. */
  readonly servers: string;
  /** The entry of the hub there. */
  readonly entry: (endpoint: Endpoint) => Readonly<Record<string, unknown>>;
  /** False: the client takes no key from its file; it signs in by itself. */
  readonly takesKey: boolean;
  /** What has to be done for the client to see the change. */
  readonly nextStep: string;
}

/** The folder of VS Code's own settings, which its extensions share. */
export function vscodeFolder({ appFolder }: UserFolders): string {
  return join(appFolder, 'Code', 'User');
}
