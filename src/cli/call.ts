import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { HubError } from '../core/errors.ts';
import { readUserEnv } from '../env/user-env.ts';
import type { Command } from './command.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { wrongUse } from './failure.ts';
import { cliLimits } from './limits.ts';
import { nearNames } from './near-names.ts';
import type { ListedTool, Progress, Session, ToolResult } from './remote/session.ts';
import { ask, disarmed, isTerminal, oneLine, say } from './terminal.ts';

/** `toolhub call`: one call of a tool, with progress on stderr and the result on stdout. */
export const call: Command = {
  name: 'call',
  summary: 'call a tool',
  argument: '<tool> [--name value …]',
  help: `Arguments of the tool follow its name, by its schema: --name value, --name=value, --flag, --no-flag; a name given
twice is a list, --a.b is member b of a. Those below are this command's own; a tool's argument of the same name
comes after a "--" alone.

      --json <object>      all arguments as JSON; "-" reads it from standard input
      --raw                the whole result as JSON
      --output <file>      write pictures, sound and other bytes of the result there; a result of text alone, too
  -g, --group <name>       as a group or server shows its tools
      --url <address>      the hub                               (TOOLHUB_URL, default http://127.0.0.1:3000)

Exit code: 0 = the result, 1 = the tool reports an error or could not be reached, 2 = wrong use. Ctrl-C cancels the call.`,
  options: {
    json: { type: 'string' },
    raw: { type: 'boolean' },
    output: { type: 'string' },
    group: { type: 'string', short: 'g' },
    url: { type: 'string' },
  },
  takesAnyOption: true,
  async run(_flags, words) {
    const asked = askedIn(words);
    const { connectTo, hubAddress } = await import('./remote/hub-connection.ts');
    const { openSession } = await import('./remote/session.ts');
    const env = readUserEnv();
    const hub = connectTo(hubAddress(asked.url, env), env);
    const { answerQuestion } = await import('./questions.ts');
    const json = asked.json === '-' ? await readInput() : asked.json;
    const interrupt = new AbortController();
    const stop = () => (interrupt.signal.aborted ? process.exit(exitCodes.failed) : interrupt.abort());
    process.on('SIGINT', stop).on('SIGTERM', stop);
    const { signal } = interrupt;
    const asking = { say, ask: (question: string) => ask(question, { signal }) };
    const session = await openSession(hub, env, {
      scope: asked.group === undefined ? [] : [asked.group],
      ...(isTerminal() && { elicit: (params) => answerQuestion(params, asked.tool, asking) }),
    });
    try {
      const tool = await found(session, asked.tool);
      const result = await session.call(tool.name, await argumentsOf(tool, asked.words, json), {
        signal,
        progressed: showProgress,
      });
      return await show(result, asked);
    } finally {
      await session.close();
    }
  },
};

interface Asked {
  readonly tool: string;
  /** The tool's own arguments. */
  readonly words: readonly string[];
  readonly json: string | undefined;
  readonly raw: boolean;
  readonly output: string | undefined;
  readonly group: string | undefined;
  readonly url: string | undefined;
}

/** Tells this command's own options from those of the tool. Throws HubError `misconfigured`. */
function askedIn(words: readonly string[]): Asked {
  const end = words.indexOf('--');
  const before = end === -1 ? words : words.slice(0, end);
  const own: string[] = [];
  const others: string[] = [];
  const valued = new Set(['--json', '--output', '--group', '--url', '-g']);
  for (let at = 0; at < before.length; at++) {
    const word = before[at] ?? '';
    const name = word.split('=', 1)[0] ?? '';
    if (name === '--raw') own.push(word);
    else if (!valued.has(name)) others.push(word);
    else if (word.includes('=')) own.push(word);
    else own.push(word, ...before.slice(++at, at + 1));
  }
  const [tool, ...rest] = others;
  if (tool === undefined || tool.startsWith('-'))
    throw new HubError('misconfigured', 'Name the tool first: toolhub call <tool>. "toolhub tools" lists them.');
  const { values } = parsed(own);
  const { json, raw = false, output, group, url } = values;
  const named = [...rest, ...(end === -1 ? [] : words.slice(end + 1))];
  if (json !== undefined && named.length > 0)
    throw new HubError('misconfigured', 'Give arguments by name or with --json, not both.');
  return { tool, words: named, json, raw, output, group, url };
}

function parsed(args: string[]) {
  const { json, raw, output, group, url } = call.options as {
    json: { type: 'string' };
    raw: { type: 'boolean' };
    output: { type: 'string' };
    group: { type: 'string'; short: 'g' };
    url: { type: 'string' };
  };
  try {
    return parseArgs({ args, options: { json, raw, output, group, url }, strict: true });
  } catch (error) {
    throw new HubError('misconfigured', wrongUse(error));
  }
}

async function found(session: Session, name: string): Promise<ListedTool> {
  const tools = await session.tools();
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const near = nearNames(
    name,
    tools.map((each) => each.name),
  ).map((each) => oneLine(each, 100));
  const hint = near.length > 0 ? `Did you mean ${near.join(', ')}?` : '"toolhub tools" lists those there are.';
  throw new HubError('misconfigured', `There is no tool "${oneLine(name, 100)}" for you. ${hint}`);
}

async function argumentsOf(tool: ListedTool, words: readonly string[], json: string | undefined) {
  const { createToolArguments } = await import('../core/arguments/tool.ts');
  const { jsonArguments, namedArguments } = await import('./call-arguments.ts');
  const schemas = createToolArguments();
  return json === undefined ? namedArguments(tool, words, schemas) : jsonArguments(tool, json, schemas);
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > cliLimits.argumentBytes)
      throw new HubError('misconfigured', `Standard input has more than ${cliLimits.argumentBytes / 1024 / 1024} MB.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function showProgress({ progress, total, message = '' }: Progress): void {
  say(`… ${progress}${total === undefined ? '' : `/${total}`}${message === '' ? '' : ` ${oneLine(message, 200)}`}`);
}

async function show(result: ToolResult, { raw, output }: Asked): Promise<ExitCode> {
  const { fileName, shownResult } = await import('./call-result.ts');
  const { text, files } = shownResult(result, output !== undefined);
  if (output !== undefined) {
    const [{ writeFileAtomic }, { diskError }] = await Promise.all([
      import('../disk/write-file-atomic.ts'),
      import('../disk/disk-error.ts'),
    ]);
    const all = files.length > 0 ? files : [{ bytes: Buffer.from(text), what: 'text' }];
    for (const [index, { bytes, what }] of all.entries()) {
      const path = fileName(output, index);
      await writeFileAtomic(path, bytes).catch((error: unknown) => {
        throw diskError(error, `Cannot write ${path}`, dirname(path));
      });
      say(`Written to ${path} (${what}).`);
    }
  }
  const shown = raw ? `${JSON.stringify(result, null, 2)}\n` : output !== undefined && files.length === 0 ? '' : text;
  await write(process.stdout.isTTY ? disarmed(shown) : shown);
  if (result.isError !== true) return exitCodes.stopped;
  say('toolhub: the tool reports an error.');
  return exitCodes.failed;
}

/** Until it is written: the process ends right after, and a pipe may be slow. */
function write(text: string): Promise<void> {
  return new Promise((done) => process.stdout.write(text, () => done()));
}
