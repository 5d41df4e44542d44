// Tools that change what the server offers.
import { toggle, updateWatched } from '../changes.mjs';
import { said } from '../samples.mjs';

export const changingTools = [
  {
    name: 'test_trigger_tool_change',
    description: 'Lets a tool come or go.',
    run() {
      toggle('tools');
      return said('The tools changed.');
    },
  },
  {
    name: 'test_trigger_prompt_change',
    description: 'Lets a prompt come or go.',
    run() {
      toggle('prompts');
      return said('The prompts changed.');
    },
  },
  {
    name: 'test_trigger_resource_update',
    description: 'Updates test://watched-resource.',
    run() {
      updateWatched();
      return said('The watched resource was updated.');
    },
  },
];
