import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { createToolArguments } from '../core/arguments/tool.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { typesOf } from '../core/schema/types.ts';
import { disarmed, oneLine } from './terminal.ts';

/** Where a person is asked. */
export interface Asking {
  say(line: string): void;
  /** Rejects when the person ends the input. */
  ask(question: string): Promise<string>;
}

type Answers = NonNullable<ElicitResult['content']>;

/**
 * Puts what a server asks in the middle of a call to the person at the terminal: a form, member by member, or a page to
 * visit. What cannot be understood is declined.
 */
export async function answerQuestion(params: ElicitRequest['params'], tool: string, at: Asking): Promise<ElicitResult> {
  const { message } = params;
  at.say(`\n${oneLine(tool, 100)} asks: ${disarmed(message)}`);
  try {
    if (params.mode === 'url') return await visit(params.url, at);
    return await fillIn(params.requestedSchema, at);
  } catch {
    return { action: 'cancel' };
  }
}

async function visit(url: string, at: Asking): Promise<ElicitResult> {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isWeb) {
    at.say('It names no http address, so it is declined.');
    return { action: 'decline' };
  }
  at.say(`Open this address, if you trust ${oneLine(new URL(url).host, 200)}:\n\n  ${disarmed(url)}\n`);
  return { action: (await yes('Did you open it?', at)) ? 'accept' : 'decline' };
}

async function fillIn(schema: unknown, at: Asking): Promise<ElicitResult> {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const required = isObject(schema) && Array.isArray(schema['required']) ? schema['required'] : [];
  const content: Answers = {};
  for (const [name, property] of Object.entries(properties)) {
    const about = isObject(property) ? property : {};
    const isRequired = required.includes(name);
    for (;;) {
      const text = (await at.ask(questionFor(name, about, isRequired))).trim();
      if (text === '' && about['default'] !== undefined) content[name] = about['default'] as Answers[string];
      if (text === '' && (about['default'] !== undefined || !isRequired)) break;
      const read = text === '' ? { problem: 'It cannot be left out.' } : readAnswer(about, text);
      if ('value' in read) {
        content[name] = read.value;
        break;
      }
      at.say(`  ${oneLine(read.problem)}`);
    }
  }
  return (await yes('Send this?', at)) ? { action: 'accept', content } : { action: 'decline' };
}

function questionFor(name: string, about: Record<string, unknown>, isRequired: boolean): string {
  const { title, description } = about;
  const choices = choicesOf(about);
  const notes = [
    ...(choices.length > 0 ? [choices.join(' | ')] : [...(typesOf(about) ?? [])].filter((type) => type !== 'string')),
    ...(about['default'] === undefined ? [] : [`default ${JSON.stringify(about['default'])}`]),
    ...(isRequired ? [] : ['may be left out']),
  ];
  const said = typeof description === 'string' ? ` – ${oneLine(description)}` : '';
  const label = oneLine(typeof title === 'string' ? title : name, 100);
  return `  ${label}${said}${notes.length > 0 ? ` (${oneLine(notes.join('; '), 500)})` : ''}: `;
}

function choicesOf(about: Record<string, unknown>): string[] {
  const items = isObject(about['items']) ? about['items'] : {};
  const listed =
    [about['enum'], about['oneOf'], about['anyOf'], items['enum'], items['anyOf']].find(Array.isArray) ?? [];
  return listed.map((choice: unknown) => String(isObject(choice) ? choice['const'] : choice));
}

const schemas = createToolArguments();

/** Lists are written with commas. */
function readAnswer(about: Record<string, unknown>, text: string) {
  const isList = typesOf(about)?.has('array') === true;
  const isYes = typesOf(about)?.has('boolean') === true;
  const given = isList ? text.split(',').map((item) => item.trim()) : isYes ? asBoolean(text) : text;
  const tool = JSON.stringify({ inputSchema: { type: 'object', properties: { answer: about } } });
  const { value, problems } = schemas.prepare(tool, { answer: given });
  const answer = isObject(value) ? value['answer'] : undefined;
  const [problem] = problems;
  return problem ? { problem: problem.message } : { value: answer as Answers[string] };
}

function asBoolean(text: string): string {
  return /^(y|yes)$/i.test(text) ? 'true' : /^(n|no)$/i.test(text) ? 'false' : text;
}

async function yes(question: string, at: Asking): Promise<boolean> {
  return /^(y|yes)?$/i.test((await at.ask(`${question} [Y/n] `)).trim());
}
