import { HubError } from '../core/errors.ts';
import { type Command, environmentOptions } from './command.ts';
import { exitCodes } from './exit.ts';

const places = {
  settings: environmentOptions.settings,
  'data-dir': environmentOptions['data-dir'],
} as const;

const placesHelp = `  -s, --settings <file>    settings file                         (SETTINGS_PATH, default ./mcp_settings.json)
      --data-dir <folder>  what the hub keeps on disk            (DATA_DIR, default ./data)`;

/** `toolhub backup` (CONTRACT §12): everything that a hub keeps, in one file, also while it runs. */
export const backup: Command = {
  name: 'backup',
  summary: 'everything that a hub keeps, in one file; the hub may run',
  argument: '<file>',
  help: `  Writes a zip that "toolhub restore" takes. It has all secrets: keep it like one.
  The hub is that of this machine (its data folder and DB_URL), or with --url any, for its admins.
      --url <address>      the hub                               (TOOLHUB_URL)
${placesHelp}`,
  options: { url: { type: 'string' }, ...places },
  async run(flags, given) {
    const file = oneFile(given, 'toolhub backup <file>');
    const { makeBackup } = await import('./make-backup.ts');
    await makeBackup(file, flags);
    return exitCodes.stopped;
  },
};

/** `toolhub restore` (CONTRACT §12). The hub must not run. */
export const restore: Command = {
  name: 'restore',
  summary: 'put a backup in the place of what a hub keeps; the hub must not run',
  argument: '<file>',
  help: `  Into the data folder, the settings file and the database of the hub of this machine (DATA_DIR, SETTINGS_PATH,
  DB_URL).
      --replace            also where there is data already, which is kept aside
      --undo               bring back what was there before a restore that was interrupted
${placesHelp}`,
  options: { replace: { type: 'boolean' }, undo: { type: 'boolean' }, ...places },
  async run(flags, given) {
    const isUndo = flags['undo'] === true;
    if (isUndo && (given.length > 0 || flags['replace'] === true)) throw wrongUse('toolhub restore --undo');
    const file = isUndo ? undefined : oneFile(given, 'toolhub restore <file> [--replace]');
    const { restoreInto } = await import('./restore-backup.ts');
    await restoreInto(file, flags);
    return exitCodes.stopped;
  },
};

function oneFile(given: readonly string[], use: string): string {
  const [file] = given;
  if (file === undefined || given.length > 1) throw wrongUse(use);
  return file;
}

function wrongUse(use: string): HubError {
  return new HubError('misconfigured', `It is "${use}".`);
}
