import { problemTable } from '../../core/problems.ts';
/** RFC 9110 §5.6.2: a header's name is a token. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** What is wrong with a header's name, or undefined. */
export function headerNameProblem(name: string): string | undefined {
  return token.test(name) ? undefined : problemTable.header_name;
}

/** Headers about one connection or one message, which say nothing of who sends them, and those that proxies add. */
const notPassed =
  /^(host|origin|connection|keep-alive|transfer-encoding|upgrade|te|trailer|expect|date|forwarded|via|x-real-ip|last-event-id|x-csrf-token|set-cookie|(accept|content|mcp|proxy|x-forwarded|access-control|sec|if)(-.*)?|:.*)$/;

/** Why a header of clients cannot be passed on to a server, by its name in lower case; undefined when it can. */
export function passedNameProblem(name: string): string | undefined {
  if (!notPassed.test(name)) return headerNameProblem(name);
  return 'is a header of one connection or of the protocol, which the hub sets itself; it cannot be passed on';
}

/** What is wrong with a header's value (RFC 9110 §5.5), or undefined. Never repeats the value. */
export function headerValueProblem(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return problemTable.header_line;
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(value)) return problemTable.header_control;
  return /[^\0-\xff]/.test(value) ? problemTable.header_latin : undefined;
}
