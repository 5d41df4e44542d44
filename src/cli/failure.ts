import { HubError } from '../core/errors.ts';
import { type ExitCode, exitCodes } from './exit.ts';

/**
 * Tells the operator on stderr why it did not work; the exit code says what is needed (2: something configured must
 * change).
 */
export function explainFailure(error: unknown): ExitCode {
  if (!(error instanceof HubError)) {
    process.stderr.write(
      `toolhub: unexpected error, please report it\n${error instanceof Error ? error.stack : String(error)}\n`,
    );
    return exitCodes.failed;
  }
  process.stderr.write(`${explain(error)}\n`);
  return error.code === 'misconfigured' || error.code === 'invalid_input' ? exitCodes.misconfigured : exitCodes.failed;
}

/** The message, and each problem at its path unless the message says it already. */
function explain(error: HubError): string {
  const unsaid = error.problems.filter(
    ({ path, message }) => !(error.message.includes(path) && error.message.includes(message)),
  );
  return [`toolhub: ${error.message}`, ...unsaid.map(({ path, message }) => `  ${path}: ${message}`)].join('\n');
}
