import { expect, test } from 'vitest';
import { settingsPlace } from '../../../test/kit/settings-place.ts';
import { secretValues } from './secret-values.ts';

test('what answers hide of a server no log may show either, wherever in its settings it stands', async () => {
  const key = { type: 'apiKey', apiKey: { name: 'X-Key', in: 'header', value: 'in-security' } };
  const { current } = await settingsPlace().open({
    mcpServers: {
      program: { command: 'node', env: { KEY: 'in-env', HOME: '/home/ann', PLACE: '${PLACE}' } },
      remote: {
        url: 'https://ann:in-login@x.example/s/iN0path1iN2path3iN4path/mcp?api_key=in-query&region=eu',
        headers: { Authorization: 'Bearer in-header' },
        oauth: { clientSecret: 'in-oauth', clientId: 'shown' },
      },
      api: { openapi: { url: 'https://y.example/api.json?token=in-document', security: key } },
    },
  });
  const address = ['ann:in-login', 'iN0path1iN2path3iN4path', 'in-query', 'in-document'];
  const others = ['in-env', 'in-variable', 'in-header', 'in-oauth', 'in-security'];
  expect(secretValues(current, { PLACE: 'in-variable' }).toSorted()).toEqual([...address, ...others].toSorted());
});
