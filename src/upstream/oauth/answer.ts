import { HubError } from '../../core/errors.ts';
import type { Attempt } from './attempts.ts';
import { isFailureCode } from './failure.ts';
import type { Answer } from './negotiation.ts';

/**
 * The code and the issuer of an answer. Whom it is from is checked before anything else is believed (RFC 9207 §2.4).
 * Throws HubError with what to do.
 */
export async function readAnswer(query: URLSearchParams, { server, authority }: Attempt): Promise<Answer> {
  const { checkIssuer, refusalOf } = await import('./flows.ts');
  const iss = only(query, 'iss');
  try {
    checkIssuer(authority, iss ?? (query.has('iss') ? '' : undefined));
  } catch (error) {
    throw refusalOf(error, `Cannot finish signing in to server "${server}"`);
  }
  const error = only(query, 'error');
  if (query.has('error')) {
    const why = error !== undefined && isFailureCode(error) ? ` (${error})` : '';
    const text = `Signing in to server "${server}" was refused there${why}. Begin again if that was a mistake.`;
    throw new HubError('invalid_input', text);
  }
  const code = only(query, 'code');
  if (code === undefined)
    throw new HubError('invalid_input', 'This sign-in cannot be finished. The answer has no code. Begin again.');
  return { code, iss };
}

/** A parameter that is there exactly once; of two it is not known which is meant. */
export function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}
