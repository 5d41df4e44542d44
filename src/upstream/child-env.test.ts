import { expect, test } from 'vitest';
import { childEnv, inheritableEnv } from './child-env.ts';

test('no secret of the hub reaches a child', () => {
  const secrets = {
    ...{ JWT_SECRET: 'x', ADMIN_PASSWORD: 'x', DB_URL: 'x', OPENAI_API_KEY: 'x', AZURE_OPENAI_API_KEY: 'x' },
    ...{
      AWS_SECRET_ACCESS_KEY: 'x',
      GITHUB_TOKEN: 'x',
      NODE_OPTIONS: '--inspect',
      UV_PUBLISH_TOKEN: 'x',
      NPM_TOKEN: 'x',
    },
    ...{ 'npm_config_//registry.example/:_authToken': 'x', SMART_ROUTING_X: 'x', BASH_FUNC: '() { :; }' },
  };
  expect(inheritableEnv(secrets, 'linux')).toEqual({});
});

test('a child finds programs, home, language, proxy, certificates and package index', () => {
  const env = {
    ...{
      PATH: '/bin',
      HOME: '/h',
      LANG: 'C',
      LC_ALL: 'C',
      TZ: 'UTC',
      XDG_CACHE_HOME: '/c',
      TMPDIR: '/t',
      UV_INDEX_URL: 'i',
    },
    ...{ https_proxy: 'p', NO_PROXY: 'n', NODE_EXTRA_CA_CERTS: 'c', npm_config_registry: 'r', PIP_INDEX_URL: 'p' },
  };
  expect(inheritableEnv({ ...env, SHELLSHOCK: undefined }, 'linux')).toEqual(env);
});

test('names are compared as the system does', () => {
  expect(inheritableEnv({ Path: 'C:\\', SystemRoot: 'C:\\Windows', path: 'x' }, 'win32')).toEqual({
    Path: 'C:\\',
    SystemRoot: 'C:\\Windows',
    path: 'x',
  });
  expect(inheritableEnv({ Path: '/x', SystemRoot: '/y' }, 'linux')).toEqual({});
});

test("the server's own variables win, and the owner's mark cannot be overwritten", () => {
  expect(childEnv({ PATH: '/bin', LANG: 'C' }, { PATH: '/opt', TOKEN: 't', TOOLHUB_OWNER: 'forged' }, 'me')).toEqual({
    PATH: '/opt',
    LANG: 'C',
    TOKEN: 't',
    TOOLHUB_OWNER: 'me',
  });
});
