import type { LogLevel } from '../../api/types.ts';
import type { Tone } from '../../ui/badge.tsx';

export const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export const toneOf: Record<LogLevel, Tone> = { debug: 'plain', info: 'accent', warn: 'warn', error: 'bad' };

/** The levels in a text like `warn,error`; none means all. */
export function levelsIn(text: string): readonly LogLevel[] {
  const given = text.split(',');
  return levels.filter((level) => given.includes(level));
}

/** The text with that level added or taken out. */
export function toggled(text: string, level: LogLevel): string {
  const before = levelsIn(text);
  const after = levels.filter((each) => before.includes(each) !== (each === level));
  return after.join(',');
}
