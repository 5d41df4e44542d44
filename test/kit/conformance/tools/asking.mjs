// Tools that ask the client: its user by a form or an address, its model, its roots.
import { CLIENT_CAPABILITIES_META_KEY, inputRequired } from '@modelcontextprotocol/server';
import { answersTo, asking, form, sample, stateCodec } from '../asks.mjs';
import { said } from '../samples.mjs';

const one = (name) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
const shown = ({ action, content = {} }) => `action=${action}, content=${JSON.stringify(content)}`;
const completed = ({ answer }) => said(`Elicitation completed: ${shown(answer)}`);
const spoken = ({ content }) =>
  [content]
    .flat()
    .map((block) => block.text ?? `(${block.type})`)
    .join(' ');

export const askingTools = [
  {
    name: 'test_sampling',
    description: "Asks the client's model.",
    inputSchema: one('prompt'),
    run: asking(
      ({ prompt }) => ({ answer: sample(prompt) }),
      ({ answer }) => said(`LLM response: ${spoken(answer)}`),
    ),
  },
  {
    name: 'test_missing_capability',
    description: "Needs the client's model, and a client that has none is refused.",
    run: asking(
      () => ({ answer: sample('Anyone there?') }),
      ({ answer }) => said(spoken(answer)),
    ),
  },
  {
    name: 'test_elicitation',
    description: "Asks the client's user for a name and an address.",
    inputSchema: one('message'),
    run: asking(
      ({ message }) => ({
        answer: inputRequired.elicit({
          message,
          requestedSchema: {
            type: 'object',
            properties: {
              username: { type: 'string', description: "User's response" },
              email: { type: 'string', description: "User's email address" },
            },
            required: ['username', 'email'],
          },
        }),
      }),
      ({ answer }) => said(`User response: ${shown(answer)}`),
    ),
  },
  {
    name: 'test_elicitation_sep1034_defaults',
    description: 'Asks with a form whose fields have defaults.',
    run: asking(
      () => ({
        answer: inputRequired.elicit({
          message: 'Please check these values.',
          requestedSchema: {
            type: 'object',
            properties: {
              name: { type: 'string', default: 'John Doe' },
              age: { type: 'integer', default: 30 },
              score: { type: 'number', default: 95.5 },
              status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
              verified: { type: 'boolean', default: true },
            },
          },
        }),
      }),
      completed,
    ),
  },
  {
    name: 'test_elicitation_sep1330_enums',
    description: 'Asks with every way to write a choice.',
    run: asking(
      () => ({
        answer: inputRequired.elicit({
          message: 'Please choose.',
          requestedSchema: { type: 'object', properties: choices },
        }),
      }),
      completed,
    ),
  },
  {
    name: 'test_streaming_elicitation',
    description: 'Asks the user, after it reported progress.',
    async run(args, ctx) {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
      }
      return asking(() => ({ answer: form('Go on?', 'word') }), completed)(args, ctx);
    },
  },
  {
    name: 'test_url_elicitation',
    description: 'Sends the user to an address.',
    run: asking(
      () => ({ answer: inputRequired.elicitUrl({ message: 'Please sign in.', url: 'https://example.org/sign-in' }) }),
      completed,
    ),
  },
];

const first = (word) => [1, 2, 3].map((n) => `${word}${n}`);
const titled = (things) =>
  ['First', 'Second', 'Third'].map((title, i) => ({ const: `value${i + 1}`, title: `${title} ${things}` }));
const choices = {
  untitledSingle: { type: 'string', enum: first('option') },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: { type: 'string', enum: first('opt'), enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: first('option') } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};

/** One tool for each thing the rounds of a call can do. */
export const roundTools = [
  {
    name: 'test_input_required_result_elicitation',
    description: 'Asks for a name.',
    run: asking(
      () => ({ user_name: form('What is your name?', 'name') }),
      ({ user_name: { content } }) => said(`Hello, ${content?.name ?? 'stranger'}!`),
    ),
  },
  {
    name: 'test_input_required_result_sampling',
    description: 'Asks the model for a capital.',
    run: asking(
      () => ({ capital_question: sample('What is the capital of France?') }),
      ({ capital_question }) => said(spoken(capital_question)),
    ),
  },
  {
    name: 'test_input_required_result_list_roots',
    description: 'Asks for the roots.',
    run: asking(
      () => ({ client_roots: inputRequired.listRoots() }),
      ({ client_roots }) => said(`Roots: ${client_roots.map((root) => root.uri).join(', ')}`),
    ),
  },
  {
    name: 'test_input_required_result_request_state',
    description: 'Remembers something between its rounds.',
    run: remembering('ask', () => ({
      confirm: inputRequired.elicit({
        message: 'Please confirm',
        requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
      }),
    })),
  },
  {
    name: 'test_input_required_result_tampered_state',
    description: 'Remembers something, and refuses what it did not write.',
    run: remembering('sealed', () => ({ confirm: form('Please confirm', 'word') })),
  },
  {
    name: 'test_input_required_result_multiple_inputs',
    description: 'Asks three things at once.',
    run: remembering('three', () => ({
      user_name: form('What is your name?', 'name'),
      greeting: sample('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    })),
  },
  {
    name: 'test_input_required_result_multi_round',
    description: 'Asks twice.',
    async run(_, ctx) {
      const state = ctx.mcpReq.requestState() ?? { step: 1 };
      const questions =
        state.step === 1
          ? { step1: form('Step 1: What is your name?', 'name') }
          : { step2: form('Step 2: What is your favorite color?', 'color') };
      const answers = answersTo(questions, ctx);
      if (!answers) return inputRequired({ inputRequests: questions, requestState: await stateCodec.mint(state) });
      if (state.step === 2) return said(`${state.name} likes ${answers.step2.content?.color}.`);
      return inputRequired({
        inputRequests: { step2: form('Step 2: What is your favorite color?', 'color') },
        requestState: await stateCodec.mint({ step: 2, name: answers.step1.content?.name }),
      });
    },
  },
  {
    name: 'test_input_required_result_capabilities',
    description: 'Asks only what the client can answer.',
    run(_, ctx, server) {
      const can = ctx.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities() ?? {};
      const questions = {
        ...(can.elicitation && { form: form('What is your name?', 'name') }),
        ...(can.sampling && { model: sample('Say something') }),
        ...(can.roots && { roots: inputRequired.listRoots() }),
      };
      const answers = answersTo(questions, ctx);
      return answers
        ? said(`Asked: ${Object.keys(questions).join(', ')}`)
        : inputRequired({ inputRequests: questions });
    },
  },
];

/** Asks the questions together with a sealed note, and answers only a client that sends the note back. */
function remembering(note, questions) {
  return async (_, ctx) => {
    const asked = questions();
    const answers = answersTo(asked, ctx);
    if (answers && ctx.mcpReq.requestState()?.note === note) return said(`state-ok: ${JSON.stringify(answers)}`);
    return inputRequired({ inputRequests: asked, requestState: await stateCodec.mint({ note }) });
  };
}
