import { HubError } from '../core/errors.ts';
import { type ExitCode, exitCodes } from './exit.ts';

/** What ends a command with 2: something configured or given, or the login, has to change. */
const toChange: ReadonlySet<HubError['code']> = new Set([
  'misconfigured',
  'invalid_input',
  'unauthenticated',
  'forbidden',
  'not_found',
]);

/** Tells the operator on stderr why it did not work; the exit code says what is needed (docs/command.md). */
export function explainFailure(error: unknown): ExitCode {
  if (!(error instanceof HubError)) {
    process.stderr.write(
      `toolhub: unexpected error, please report it\n${error instanceof Error ? error.stack : String(error)}\n`,
    );
    return exitCodes.failed;
  }
  process.stderr.write(`${explain(error)}\n`);
  return toChange.has(error.code) ? exitCodes.misconfigured : exitCodes.failed;
}

/** The message, and each problem at its path unless the message says it already. */
function explain(error: HubError): string {
  const unsaid = error.problems.filter(
    ({ path, message }) => !(error.message.includes(path) && error.message.includes(message)),
  );
  return [`toolhub: ${error.message}`, ...unsaid.map(({ path, message }) => `  ${path}: ${message}`)].join('\n');
}

/** Wrong use of a command: the first sentence of what Node's `parseArgs` says. The others are about dashes. */
export function wrongUse(error: unknown): string {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split(/\n|\. /, 1);
  return first.endsWith('.') ? first : `${first}.`;
}
