import { parseArgs } from 'node:util';
import { version } from '../version.ts';
import { audit } from './audit.ts';
import { backup, restore } from './backup.ts';
import { pins } from './pins.ts';
import { why } from './why.ts';
import type { Command, Flags } from './command.ts';
import { doctor } from './doctor.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { explainFailure, wrongUse } from './failure.ts';
import { call } from './call.ts';
import { connect } from './connect.ts';
import { login, logout } from './login.ts';
import { search } from './search.ts';
import { resetFactor } from './reset-factor.ts';
import { serve } from './serve.ts';
import { tools } from './tools.ts';

const commands: readonly Command[] = [
  serve,
  doctor,
  search,
  login,
  logout,
  tools,
  call,
  connect,
  why,
  pins,
  audit,
  backup,
  restore,
  resetFactor,
];

const common = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } } as const;

/**
 * The whole program: what the arguments ask for, until it is done. Resolves to the exit code (CONTRACT §1) and never
 * rejects.
 */
export async function run(args: readonly string[]): Promise<ExitCode> {
  const [first = ''] = args;
  if (first === 'help') return help(args[1]);
  const named = commands.find(({ name }) => name === first);
  if (named === undefined && first !== '' && !first.startsWith('-')) return unknownCommand(first);
  const command = named ?? serve;

  let flags: Flags;
  let given: readonly string[];
  try {
    const options = { ...command.options, ...common };
    const allowPositionals = command.argument !== undefined;
    const own = args.slice(named === undefined ? 0 : 1);
    if (command.takesAnyOption) return await runWithWords(command, own);
    ({ values: flags, positionals: given } = parseArgs({ args: own, options, allowPositionals, strict: true }));
  } catch (error) {
    return refuse(`${wrongUse(error)}\nRun "toolhub help ${command.name}" for what it takes.`);
  }
  if (flags['version'] === true) return print(version);
  if (flags['help'] === true) return help(named?.name);
  try {
    return await command.run(flags, given);
  } catch (error) {
    return explainFailure(error);
  }
}

async function runWithWords(command: Command, words: readonly string[]): Promise<ExitCode> {
  const [first] = words;
  if (first === '--help' || first === '-h') return print(details(command));
  try {
    return await command.run({}, words);
  } catch (error) {
    return explainFailure(error);
  }
}

function help(name: string | undefined): ExitCode {
  if (name === undefined) return print(overview());
  const command = commands.find((command) => command.name === name);
  return command === undefined ? unknownCommand(name) : print(details(command));
}

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const list = commands.map(({ name, summary }) => `  toolhub ${name.padEnd(width)} ${summary}`).join('\n');
  return `Tool Hub ${version}: one address for all your MCP tool servers.

${list}
  toolhub help <command>

Without a command: serve.

${serve.help}
  -h, --help
  -v, --version

Every setting is described in docs/configuration.md.`;
}

function details({ name, argument, summary, help }: Command): string {
  return `toolhub ${name}${argument === undefined ? '' : ` ${argument}`}: ${summary}\n\n${help}\n  -h, --help`;
}

function unknownCommand(name: string): ExitCode {
  return refuse(`There is no command "${name}".\n\n${overview()}`);
}

function print(text: string): ExitCode {
  process.stdout.write(`${text}\n`);
  return exitCodes.stopped;
}

function refuse(text: string): ExitCode {
  process.stderr.write(`toolhub: ${text}\n`);
  return exitCodes.misconfigured;
}
