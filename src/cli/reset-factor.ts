import { HubError } from '../core/errors.ts';
import { type Command, environmentOptions } from './command.ts';
import { exitCodes } from './exit.ts';

/** `toolhub reset-factor`: for an admin who has lost the second factor, where no other admin is left to reset it. */
export const resetFactor: Command = {
  name: 'reset-factor',
  summary: 'take the second factor off a user of the hub of this machine',
  argument: '<user>',
  help: `  Who can read the data folder may: nothing else proves anything. The hub may run; the audit log records it.
  All logins and apps of the user end.
  -s, --settings <file>    settings file                         (SETTINGS_PATH, default ./mcp_settings.json)
      --data-dir <folder>  what the hub keeps on disk            (DATA_DIR, default ./data)`,
  options: { settings: environmentOptions.settings, 'data-dir': environmentOptions['data-dir'] },
  async run(flags, given) {
    const [username] = given;
    if (username === undefined || given.length > 1)
      throw new HubError('misconfigured', 'It is "toolhub reset-factor <user>".');
    const { removeFactor } = await import('./remove-factor.ts');
    await removeFactor(username, flags);
    return exitCodes.stopped;
  },
};
