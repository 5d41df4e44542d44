import { isObject } from '../../core/protocol/rpc.ts';
import { isApiDocument } from '../document/read-part.ts';
import type { Path, Report } from '../document/report.ts';

/**
 * Warns of texts that look like placeholders and are none. Neither the text nor the name after the `$` is shown: either
 * may be part of a password, which is why `$VAR` is not expanded in the first place.
 */
export function warnOfPlaceholders(value: unknown, path: Path, report: Report): void {
  if (typeof value === 'string') {
    const advice = adviceOn(value);
    if (advice !== undefined) report.warn(path, advice);
  } else if (Array.isArray(value)) {
    for (const [i, element] of value.entries()) warnOfPlaceholders(element, [...path, i], report);
  } else if (isObject(value) && !isApiDocument(path)) {
    for (const [key, member] of Object.entries(value))
      if (key !== 'description') warnOfPlaceholders(member, [...path, key], report);
  }
}

function adviceOn(text: string): string | undefined {
  if (/\$\{(env|input):/.test(text))
    return 'only ${VAR}, ${VAR:-default} and ${file:/path} are expanded: write the bare name of an environment variable';
  if (/\$\{(?![A-Za-z_]\w*(\}|:-)|file:|credential:[\w.-]+\})/.test(text))
    return 'has "${" without a variable\'s name and "}" after it; it stays as it is';
  return /\$[A-Z_][A-Z0-9_]*/.test(text)
    ? 'only ${VAR} is expanded, $VAR stays as it is; add the braces if a variable is meant'
    : undefined;
}
