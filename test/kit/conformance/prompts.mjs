import { asking, form } from './asks.mjs';
import { png, text } from './samples.mjs';

const user = (content) => ({ role: 'user', content });
const word = { type: 'string' };

export const prompts = [
  {
    name: 'test_simple_prompt',
    description: 'A text.',
    run: () => ({ messages: [user(text('This is a simple prompt for testing.'))] }),
  },
  {
    name: 'test_prompt_with_arguments',
    description: 'A text with two words of the caller in it.',
    argsSchema: {
      type: 'object',
      properties: {
        arg1: { ...word, description: 'First test argument' },
        arg2: { ...word, description: 'Second test argument' },
      },
      required: ['arg1', 'arg2'],
    },
    run: ({ arg1, arg2 }) => ({
      messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A resource and a text.',
    argsSchema: {
      type: 'object',
      properties: { resourceUri: { ...word, description: 'URI of the resource to embed' } },
      required: ['resourceUri'],
    },
    run: ({ resourceUri }) => ({
      messages: [
        user({
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  },
  {
    name: 'test_prompt_with_image',
    description: 'An image and a text.',
    run: () => ({
      messages: [
        user({ type: 'image', data: png, mimeType: 'image/png' }),
        user(text('Please analyze the image above.')),
      ],
    }),
  },
  {
    name: 'test_input_required_result_prompt',
    description: 'Asks the user before it is made.',
    run: asking(
      () => ({ user_context: form('What context should the prompt use?', 'context') }),
      ({ user_context: { content } }) => ({ messages: [user(text(`Context: ${content?.context ?? 'none'}`))] }),
    ),
  },
];
