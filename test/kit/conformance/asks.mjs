// Questions a server puts to its client in the middle of a call. Written for the new era, where a question is part of
// the answer and the call is made again; the SDK turns the same questions into requests of its own on old-era sessions.
import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, inputRequired, inputResponse } from '@modelcontextprotocol/server';

/**
 * Seals what a call remembers between its rounds. A value that was altered is refused with -32602 before the tool runs.
 */
export const stateCodec = createRequestStateCodec({ key: randomBytes(32) });

/** A form with text fields, all of them required. */
export const form = (message, ...fields) =>
  inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
      required: fields,
    },
  });

export const sample = (prompt, maxTokens = 100) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens });

/**
 * The answers to all the questions, by key, or undefined when one is missing or of the wrong kind: then all are asked
 * (again). `{ action, content? }` for a form, the created message for sampling, the array of roots for roots.
 */
export function answersTo(questions, ctx) {
  const answers = {};
  for (const [key, question] of Object.entries(questions)) {
    const view = inputResponse(ctx.mcpReq.inputResponses, key);
    if (view.kind !== kinds[question.method]) return undefined;
    answers[key] =
      view.kind === 'elicit' ? { action: view.action, content: view.content } : (view.result ?? view.roots);
  }
  return answers;
}

const kinds = { 'elicitation/create': 'elicit', 'sampling/createMessage': 'sampling', 'roots/list': 'roots' };

/** A tool, or prompt, that asks these questions once and answers with what `done` makes of the answers. */
export const asking = (questions, done) => async (args, ctx) => {
  const asked = questions(args);
  const answers = answersTo(asked, ctx);
  return answers ? done(answers, args) : inputRequired({ inputRequests: asked });
};
