import { createInterface } from 'node:readline';
import { HubError } from '../core/errors.ts';
import { readUserEnv, type UserEnv } from '../env/user-env.ts';
import type { Command, Flags } from './command.ts';
import { exitCodes } from './exit.ts';
import { cliLimits } from './limits.ts';
import type { Credential } from './remote/credential-file.ts';
import type { HubConnection } from './remote/hub-connection.ts';
import { ask, isTerminal, say } from './terminal.ts';

/** `toolhub login`: by the hub's page in a browser, or with a password. Keeps what the hub gives for later commands. */
export const login: Command = {
  name: 'login',
  summary: 'log in at a hub, for the commands that use one',
  argument: '[URL]',
  help: `The hub is the one at URL, or TOOLHUB_URL, or http://127.0.0.1:3000. Without options a browser opens.

      --no-browser         print the address to open, and open none
      --username <name>    log in with a password, which is asked for
      --password-stdin     read the password from standard input (a code of the second factor on a second line)

What the hub gives is kept in a file of yours alone, below your configuration folder; "toolhub logout" ends it.`,
  options: {
    'no-browser': { type: 'boolean' },
    username: { type: 'string' },
    'password-stdin': { type: 'boolean' },
  },
  async run(flags, given) {
    const { connectTo, hubAddress } = await import('./remote/hub-connection.ts');
    const { credentialFile } = await import('./remote/credential-file.ts');
    const env = readUserEnv();
    const hub = connectTo(hubAddress(oneAddress(given), env), env);
    const file = credentialFile(hub.url, env);
    const credential = await logIn(hub, env, flags);
    const before = await file.read().catch(() => undefined);
    await file.alone(() => file.write(credential));
    if (before !== undefined) await end(before, hub).catch(() => undefined);
    process.stdout.write(`Logged in at ${hub.url}.\n`);
    if (credential.kind === 'oauth' && !credential.scope.split(' ').includes('api'))
      say('Tools can be listed and called. To manage the hub too, log in again and tick the box for that.');
    if (env.token !== undefined) say('TOOLHUB_TOKEN is set: commands use that in place of this login.');
    return exitCodes.stopped;
  },
};

/** `toolhub logout`: ends the login at the hub, and removes it here. */
export const logout: Command = {
  name: 'logout',
  summary: 'end the login at a hub',
  argument: '[URL]',
  help: 'The hub is the one at URL, or TOOLHUB_URL, or http://127.0.0.1:3000.',
  options: {},
  async run(_flags, given) {
    const { connectTo, hubAddress } = await import('./remote/hub-connection.ts');
    const { credentialFile } = await import('./remote/credential-file.ts');
    const env = readUserEnv();
    const hub = connectTo(hubAddress(oneAddress(given), env), env);
    const file = credentialFile(hub.url, env);
    // One that cannot be read is removed too.
    const kept = await file.read().catch(() => undefined);
    await file.remove();
    if (kept !== undefined)
      await end(kept, hub).catch((error: unknown) => {
        const why = error instanceof HubError ? error.message : 'it did not answer';
        say(`toolhub: the hub was not told: ${why}`);
      });
    process.stdout.write(kept === undefined ? `No login at ${hub.url}.\n` : `Logged out at ${hub.url}.\n`);
    return exitCodes.stopped;
  },
};

async function logIn(hub: HubConnection, env: UserEnv, flags: Flags): Promise<Credential> {
  const { username } = flags;
  const fromInput = flags['password-stdin'] === true;
  if (typeof username !== 'string') {
    if (fromInput) throw new HubError('misconfigured', '--password-stdin needs --username.');
    const { logInByBrowser } = await import('./remote/browser-login.ts');
    return logInByBrowser(hub, env, flags['no-browser'] !== true);
  }
  const { isLoopbackUrl } = await import('../core/access/outside.ts');
  if (hub.url.startsWith('http:') && !isLoopbackUrl(hub.url))
    say(`toolhub: ${hub.url} is not encrypted: others on the way can read the password.`);
  const { logInByPassword } = await import('./remote/password-login.ts');
  const [password = '', code] = fromInput ? await linesOfInput() : [await askPassword()];
  if (password === '') throw new HubError('misconfigured', 'No password was given.');
  const askCode = async () => (code ?? (fromInput || !isTerminal() ? undefined : await ask('Code: ')))?.trim();
  return logInByPassword(hub, { username, password }, askCode);
}

async function askPassword(): Promise<string> {
  if (isTerminal()) return ask('Password: ', { hidden: true });
  throw new HubError('misconfigured', 'There is no terminal to ask for the password. Use --password-stdin.');
}

/** The first two lines, without their breaks. */
async function linesOfInput(): Promise<string[]> {
  const lines: string[] = [];
  let chars = 0;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    chars += line.length;
    if (chars > cliLimits.passwordInputChars) throw new HubError('misconfigured', 'Standard input is no password.');
    lines.push(line);
    if (lines.length === 2) break;
  }
  return lines;
}

async function end(credential: Credential, hub: HubConnection): Promise<void> {
  if (credential.kind === 'oauth') return (await import('./remote/browser-login.ts')).revoked(credential, hub);
  const { status } = await hub.api('/auth/logout', { method: 'POST', token: credential.access });
  // 401: it was over already.
  if (status !== 200 && status !== 401) throw new HubError('upstream_failed', `it answered ${status}`);
}

function oneAddress(given: readonly string[]): string | undefined {
  if (given.length > 1) throw new HubError('misconfigured', 'Name one hub.');
  return given[0];
}
