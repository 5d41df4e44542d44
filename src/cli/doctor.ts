import { version } from '../version.ts';
import type { Check } from './checks/check.ts';
import { type Command, environmentHelp, environmentOptions, variablesFrom } from './command.ts';
import { exitCodes } from './exit.ts';
import { refuseDebugger } from './signals.ts';

/**
 * `toolhub doctor`: looks at everything a hub needs, connects to every server once, and says what to do. Changes
 * nothing.
 */
export const doctor: Command = {
  name: 'doctor',
  summary: 'check this machine, the settings and every server',
  help: `      --json               the report as JSON\n${environmentHelp}`,
  options: { ...environmentOptions, json: { type: 'boolean' } },
  async run(flags) {
    refuseDebugger();
    const { examine } = await import('./examine.ts');
    const { checks, misconfigured } = await examine(
      variablesFrom(flags),
      (line) => void process.stderr.write(`  … ${line}\n`),
    );
    const ok = checks.every(({ status }) => status !== 'fail');
    process.stdout.write(flags['json'] === true ? `${JSON.stringify({ ok, checks }, null, 2)}\n` : reportText(checks));
    if (misconfigured) return exitCodes.misconfigured;
    return ok ? exitCodes.stopped : exitCodes.failed;
  },
};

const signs: Record<Check['status'], string> = { ok: '✓', warn: '!', fail: '✗' };

/** The report for people: a line per check, below it what to do, and a last line that sums up. */
function reportText(checks: readonly Check[]): string {
  const column = Math.min(24, Math.max(...checks.map(({ name }) => name.length)));
  const indent = ' '.repeat(column + 6);
  const lines = checks.flatMap(({ name, status, detail, fix }) => [
    `  ${signs[status]} ${name.padEnd(column)}  ${detail.replaceAll('\n', `\n${indent}`)}`,
    ...(fix === undefined ? [] : [`${indent}→ ${fix}`]),
  ]);
  return ['', `  Tool Hub ${version}`, '', ...lines, '', `  ${summary(checks)}`, '', ''].join('\n');
}

function summary(checks: readonly Check[]): string {
  const failed = checks.filter(({ status }) => status === 'fail').length;
  const warned = checks.filter(({ status }) => status === 'warn').length;
  if (failed === 0 && warned === 0) return 'All is well.';
  const parts = [failed > 0 ? `${failed} to mend` : 'Nothing to mend', ...(warned > 0 ? [`${warned} to look at`] : [])];
  return `${parts.join(', ')}.`;
}
